/* partners_test.c - tests the counts by partner and by size: runs of equal calls, several threads, and limits. */
#include "profile/partners.h"

#include "power/check.h"

enum { PUT = 3, GET = 5, SUM = 7 };

/* Adds one call, as a run. */
static void count_one(wtl_partners *p, uint32_t call, uint64_t bytes, int partner)
{
  wtl_partners_add_run(p, call, 1, &(wtl_run){.size = bytes, .partner = partner});
}

static void a_run_counts_like_single_calls(void)
{
  wtl_partners p = {.n = 4}, all = {.n = 4};
  wtl_partners_add_run(&p, PUT, 25, &(wtl_run){.size = 8, .begun_at = 15, .partner = 1});
  wtl_partners_add_run(&p, PUT, 25, &(wtl_run){.size = 8, .begun_at = 25, .partner = 1});
  for (int i = 0; i < 10; i++) count_one(&p, i % 2 ? PUT : GET, 1 << i, i % 4);
  wtl_partners_add(&all, &p);
  wtl_partners_add(&all, &p); /* a second thread with the same counts */
  uint64_t calls = 0, bytes = 0;
  for (int i = 0; i < 4; i++) {
    calls += all.row[i].calls;
    bytes += all.row[i].bytes;
  }
  CHECK(calls == 40);
  CHECK(bytes == 2 * (80 + 1023));
  CHECK(all.row[1].calls == 2 * (10 + 3) && all.row[1].bytes == 2 * (80 + 2 + 32 + 512));
  wtl_partners_free(&p);
  wtl_partners_free(&all);
}

static void sizes_have_classes_of_powers_of_two(void)
{
  wtl_partners p = {.n = 0}, all = {.n = 0};
  const uint64_t size[] = {1, 2, 3, 4, 1023, 1024, UINT64_MAX};
  for (int i = 0; i < 7; i++) count_one(&p, SUM, size[i], -1);
  wtl_partners_add(&all, &p);
  CHECK(all.n_sizes == 1 && all.sizes[0].call == SUM);
  const uint64_t *count = all.sizes[0].count;
  CHECK(count[1] == 1 && count[2] == 2 && count[3] == 1 && count[10] == 1 && count[11] == 1);
  CHECK(count[WTL_PARTNERS_SIZES - 1] == 1);
  CHECK(!all.row);
  wtl_partners_free(&p);
  wtl_partners_free(&all);
}

static void calls_without_bytes_and_partner_are_left_out(void)
{
  wtl_partners p = {.n = 4}, all = {.n = 4};
  count_one(&p, SUM, 0, -1);
  count_one(&p, PUT, 0, 2); /* a partner without bytes */
  wtl_partners_add(&all, &p);
  CHECK(all.row && all.row[2].calls == 1 && all.row[2].bytes == 0);
  CHECK(all.n_sizes == 0);
  wtl_partners_free(&p);
  wtl_partners_free(&all);
}

static void partners_without_a_row_are_left_out(void)
{
  wtl_partners p = {.n = 2}, all = {.n = 2};
  count_one(&p, PUT, 8, 2);
  wtl_partners_waited(&p, 5, 100);
  wtl_partners_waited(&p, -1, 100);
  wtl_partners_waited(&p, 1, 100);
  wtl_partners_add(&all, &p);
  CHECK(all.row[0].calls == 0 && all.row[1].calls == 0 && all.row[1].wait_ticks == 100);
  CHECK(all.n_sizes == 1);
  wtl_partners_free(&p);
  wtl_partners_free(&all);
}

TESTS(TEST(a_run_counts_like_single_calls), TEST(sizes_have_classes_of_powers_of_two),
      TEST(calls_without_bytes_and_partner_are_left_out), TEST(partners_without_a_row_are_left_out))
