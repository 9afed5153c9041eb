/* Counting by call site: tables that grow, threads that are added up, times that are estimated, addresses that become
 * files. */
#include "profile/profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "power/check.h"
#include "profile/modules.h"

static int by_place(const void *a, const void *b)
{
  const wtl_site *x = a, *y = b;
  if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
  return (x->call > y->call) - (x->call < y->call);
}

static wtl_site *merged(wtl_profile *p, uint64_t *n)
{
  wtl_site *sites = wtl_profile_merge(p, 0, n);
  qsort(sites, *n, sizeof *sites, by_place);
  return sites;
}

static wtl_origin at(uintptr_t addr)
{
  return (wtl_origin){addr, NULL};
}

/* Call k is made from address 16 * (k / 3 + 1) as call k % 3, k + 1 times with k bytes. */
enum { PLACES = 3000 };

static void make_calls(wtl_profile *p, int places)
{
  for (int k = 0; k < places; k++)
    for (int i = 0; i <= k % 7; i++)
      wtl_profile_enter(p, at(16u * ((unsigned)k / 3 + 1)), (uint32_t)k % 3, (uint64_t)k);
}

static void a_table_grows_and_forgets_nothing(void)
{
  wtl_profile p = {0};
  uint64_t n, bytes = 0;
  wtl_profile_start(&p, true, 0);
  make_calls(&p, PLACES);
  wtl_site *sites = merged(&p, &n);
  CHECK(n == PLACES);
  for (uint64_t k = 0; k < n; k++) {
    CHECK(sites[k].addr == 16 * (k / 3 + 1) && sites[k].call == k % 3);
    CHECK(sites[k].calls == k % 7 + 1 && sites[k].bytes == k * (k % 7 + 1));
    bytes += sites[k].bytes;
  }
  CHECK(wtl_profile_bytes(&p) == bytes);
  free(sites);
  wtl_profile_stop(&p);
}

static void *calls_in_thread(void *arg)
{
  make_calls(arg, PLACES / 2);
  return NULL;
}

static void threads_are_added_up(void)
{
  enum { THREADS = 6 };
  wtl_profile p = {0};
  pthread_t threads[THREADS];
  uint64_t n;
  wtl_profile_start(&p, true, 0);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, calls_in_thread, &p);
  make_calls(&p, PLACES);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  wtl_site *sites = merged(&p, &n);
  CHECK(n == PLACES);
  for (uint64_t k = 0; k < n; k++) {
    uint64_t times = k < PLACES / 2 ? THREADS + 1 : 1;
    CHECK(sites[k].calls == (k % 7 + 1) * times && sites[k].bytes == k * (k % 7 + 1) * times);
  }
  free(sites);
  wtl_profile_stop(&p);
}

/* Waits of one call, in any of its stages, are one wait. Class 0 has those below 2^SHIFT ticks. */
static void calls_are_counted_by_the_time_that_they_waited(void)
{
  enum { SHIFT = 4 };
  const uint64_t lengths[] = {1, 15, 16, 31, 32, 1000, UINT64_MAX >> 1};
  const uint32_t expected[WTL_WAITED_CLASSES] = {[0] = 2, [1] = 3, [2] = 1, [6] = 1, [WTL_WAITED_CLASSES - 1] = 1};
  wtl_profile p = {0};
  wtl_site *site;
  uint64_t n;
  wtl_profile_start(&p, true, 0);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    site = wtl_profile_enter(&p, at(16), 0, 0);
    wtl_site_add_wait(site, WTL_STAGE_SPIN, lengths[i], SHIFT);
    wtl_profile_enter(&p, at(32), 0, 0); /* of another site */
  }
  wtl_profile_enter(&p, at(16), 0, 0); /* this call waits for nothing */
  site = wtl_profile_enter(&p, at(16), 0, 0);
  wtl_site_add_wait(site, WTL_STAGE_SPIN, 8, SHIFT);
  wtl_site_add_wait(site, WTL_STAGE_YIELD, 4, SHIFT);
  wtl_site_add_wait(site, WTL_STAGE_ASLEEP, 4, SHIFT);
  wtl_site *sites = wtl_profile_merge(&p, SHIFT, &n);
  CHECK(n == 2);
  for (uint64_t i = 0; i < n; i++)
    for (int k = 0; k < WTL_WAITED_CLASSES; k++)
      CHECK(sites[i].waited.count[k] == (sites[i].addr == 16 ? expected[k] : 0));
  free(sites);
  wtl_profile_stop(&p);
}

static void the_first_class_has_waits_below_a_microsecond(void)
{
  CHECK(wtl_waited_shift(1) == 9 && wtl_waited_shift(0.25) == 11 && wtl_waited_shift(0.4) == 11);
  CHECK(wtl_waited_shift(600) == 0 && wtl_waited_shift(2000) == 0);
}

static void a_second_profile_starts_empty(void)
{
  wtl_profile p = {0};
  uint64_t n;
  wtl_profile_start(&p, true, 0);
  make_calls(&p, 10);
  wtl_profile_stop(&p);
  wtl_profile_start(&p, true, 0);
  wtl_profile_enter(&p, at(16), 0, 5);
  wtl_site *sites = wtl_profile_merge(&p, 0, &n);
  CHECK(n == 1 && sites[0].calls == 1 && wtl_profile_bytes(&p) == 5);
  free(sites);
  wtl_profile_stop(&p);
}

static void switched_off_it_counts_bytes_alone(void)
{
  wtl_profile p = {0};
  uint64_t n = 1;
  wtl_profile_start(&p, false, 0);
  make_calls(&p, 10);
  CHECK(wtl_profile_merge(&p, 0, &n) == NULL && n == 0 && wtl_profile_bytes(&p) > 0);
  wtl_profile_stop(&p);
}

/* Which calls are timed: the first 8 of a site, the long, one in 16 of the others up to the 1024th, one in 1024
 * later, and the call after an interrupted sample. */
static void the_right_calls_are_timed(void)
{
  wtl_profile p = {0};
  uint64_t timed = 0, exact = 0, interrupted = 0;
  wtl_profile_start(&p, true, 0);
  for (int i = 1; i <= 10240; i++) {
    wtl_site *site = wtl_profile_enter(&p, at(64), 1, 8);
    exact += wtl_profile_exact(site, 8);
    if (!wtl_profile_timed(site, 8)) continue;
    timed++;
    wtl_profile_leave(site, 8, wtl_ticks(), wtl_site_waited(site));
    interrupted += i >= WTL_FIRST_CALLS && site->timed_at == site->calls + 1;
  }
  CHECK(exact == WTL_FIRST_CALLS && timed == exact + 63 + 9 + interrupted);
  for (int i = 0; i < 100; i++)
    CHECK(wtl_profile_timed(wtl_profile_enter(&p, at(64), 1, WTL_LONG_BYTES), WTL_LONG_BYTES));
  wtl_profile_stop(&p);
}

/* Partners and sizes against an oracle that adds up single calls: sites that repeat, alternate, and change. */
static void partners_and_sizes_are_those_of_single_calls(void)
{
  enum { PES = 5, SIZES = 4 };
  wtl_profile p = {0};
  uint64_t calls[PES] = {0}, bytes[PES] = {0}, sizes[SIZES] = {0};
  unsigned random = 7;
  wtl_profile_start(&p, true, 0);
  wtl_profile_keep_partners(&p, PES);
  for (int i = 0; i < 20000; i++) {
    random = random * 1103515245u + 12345u;
    bool changes = i % 512 < 64;
    int pe = changes ? (int)(random >> 16) % PES : i / 512 % PES, class = changes ? (int)(random >> 24) % SIZES : 1;
    uint64_t size = (1u << class) >> 1;
    wtl_profile_enter_to(&p, at(16u * (1 + (unsigned)i % 3)), 1, size, WTL_TARGET_PE(pe), i % 2);
    calls[pe]++;
    bytes[pe] += size;
    sizes[class]++;
  }
  wtl_partners all = wtl_profile_partners(&p);
  for (int i = 0; i < PES; i++) CHECK(all.row[i].calls == calls[i] && all.row[i].bytes == bytes[i]);
  CHECK(all.n_sizes == 1);
  for (int i = 1; i < SIZES; i++) CHECK(all.sizes[0].count[i] == sizes[i]);
  wtl_partners_free(&all);
  wtl_profile_stop(&p);
}

/* Estimated time against an oracle that times every call: made-up ticks, so the sum is known. */
static void the_estimate_is_exact_calls_plus_the_mean_of_the_others(void)
{
  wtl_site s = {.calls = 10008, .exact_calls = 8, .exact_ticks = 8000, .sampled_calls = 10, .sampled_ticks = 500};
  CHECK_NEAR(wtl_site_ticks(&s), 8000 + 50.0 * 10000, 1e-6);
  s = (wtl_site){.calls = 5, .exact_calls = 5, .exact_ticks = 77};
  CHECK_NEAR(wtl_site_ticks(&s), 77, 1e-9);
  s = (wtl_site){.calls = 20, .exact_calls = 8, .exact_ticks = 80}; /* none sampled yet: the others cost as much */
  CHECK_NEAR(wtl_site_ticks(&s), 200, 1e-9);
  s = (wtl_site){.calls = 3};
  CHECK(isnan(wtl_site_ticks(&s)));
  s = (wtl_site){0};
  CHECK(wtl_site_ticks(&s) == 0);
}

static void waiting_is_taken_out_of_a_call(void)
{
  wtl_profile p = {0};
  wtl_profile_start(&p, true, 0);
  wtl_site *site = wtl_profile_enter(&p, at(64), 1, 8);
  uint64_t start = wtl_ticks(), waited = wtl_site_waited(site), end = start;
  while (end < start + 100000) end = wtl_ticks();
  site->wait_ticks[WTL_STAGE_ASLEEP] += end - start; /* all of it was waiting */
  wtl_profile_leave(site, 8, start, waited);
  uint64_t all = wtl_ticks() - start;
  CHECK(site->exact_calls == 1 && site->exact_ticks <= all - (end - start));
  wtl_profile_stop(&p);
}

static int here;

static void addresses_become_files(void)
{
  wtl_module *known = NULL;
  size_t n = 0;
  int self = wtl_module_of((uintptr_t)&here, &known, &n),
      again = wtl_module_of((uintptr_t)addresses_become_files, &known, &n);
  int libc = wtl_module_of((uintptr_t)strlen, &known, &n);
  CHECK(self == 0 && again == 0 && n == 2 && libc == 1);
  CHECK_CONTAINS(known[0].path, "/profile_test");
  CHECK(known[0].path[0] == '/' && known[1].path[0] == '/');
  CHECK(known[0].low <= (uintptr_t)&here && known[0].high > (uintptr_t)&here && known[0].base <= known[0].low);
  CHECK(wtl_module_of(1, &known, &n) == -1 && n == 2);
  free(known);
}

TESTS(TEST(a_table_grows_and_forgets_nothing), TEST(threads_are_added_up),
      TEST(calls_are_counted_by_the_time_that_they_waited), TEST(the_first_class_has_waits_below_a_microsecond),
      TEST(a_second_profile_starts_empty), TEST(switched_off_it_counts_bytes_alone), TEST(the_right_calls_are_timed),
      TEST(partners_and_sizes_are_those_of_single_calls), TEST(the_estimate_is_exact_calls_plus_the_mean_of_the_others),
      TEST(waiting_is_taken_out_of_a_call), TEST(addresses_become_files))
