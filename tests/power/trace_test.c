/* trace_test.c - the watts of a meter over time: points, gaps, a full buffer, and a thread with a made-up meter. */
#include "power/trace.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"

static const double every_s = 0.01;
enum { MS = 1000000 };

static const bool wanted[] = {true, false, true};
enum { DOMAINS = sizeof wanted / sizeof wanted[0] };

static void take(wtl_power_trace *t, uint64_t ms, double joules, bool ok)
{
  wtl_mark mark = {0};
  for (size_t d = 0; d < DOMAINS; d++) mark.point[d] = (wtl_point){.uj = (uint64_t)llround(joules * 1e6), .ok = ok};
  wtl_power_trace_take(t, &mark, ms * MS);
}

static void points_have_the_mean_watts_since_the_reading_before(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, every_s);
  const wtl_watts *p;
  take(t, 100, 5, true);
  take(t, 110, 6, true);
  take(t, 130, 7, true);
  CHECK(wtl_power_trace_points(t, 0, &p) == 2);
  CHECK_NEAR(p[0].watts, 100, 1e-9);
  CHECK_NEAR(p[1].watts, 50, 1e-9);
  CHECK(p[0].begin_ns == 100 * MS && p[0].end_ns == 110 * MS && p[1].begin_ns == 110 * MS && p[1].end_ns == 130 * MS);
  CHECK(wtl_power_trace_points(t, 2, &p) == 2);
  wtl_power_trace_free(t);
}

static void domains_that_are_not_wanted_have_no_points(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, every_s);
  const wtl_watts *p;
  for (uint64_t i = 0; i < 5; i++) take(t, 100 + 10 * i, (double)i, true);
  CHECK(wtl_power_trace_points(t, 1, &p) == 0 && !p);
  CHECK(wtl_power_trace_points(t, 99, &p) == 0);
  CHECK(wtl_power_trace_points(NULL, 0, &p) == 0);
  wtl_power_trace_free(t);
  CHECK(!wtl_power_trace_make(&wanted[1], 1, every_s));
}

static void a_counter_that_stands_still_gives_no_point_until_it_advances(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, every_s);
  const wtl_watts *p;
  take(t, 100, 1, true);
  for (uint64_t i = 1; i < 10; i++) take(t, 100 + 10 * i, 1, true);
  take(t, 200, 3, true);
  CHECK(wtl_power_trace_points(t, 0, &p) == 1);
  CHECK_NEAR(p[0].watts, 20, 1e-9);
  wtl_power_trace_free(t);
}

static void a_failed_reading_is_a_gap(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, every_s);
  const wtl_watts *p;
  take(t, 100, 1, true);
  take(t, 110, 0, false);
  take(t, 120, 9, true);
  take(t, 130, 10, true);
  CHECK(wtl_power_trace_points(t, 0, &p) == 1);
  CHECK(p[0].begin_ns == 120 * MS);
  CHECK_NEAR(p[0].watts, 100, 1e-9);
  wtl_power_trace_free(t);
}

static void a_full_trace_covers_the_whole_time_with_the_same_joules(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, every_s);
  const wtl_watts *p;
  double joules = 0, kept = 0;
  enum { READINGS = 5 * WTL_POWER_TRACE_POINTS };
  srand(1);
  for (uint64_t i = 0; i <= READINGS; i++) {
    take(t, 100 + 10 * i, joules, true);
    if (i < READINGS) joules += 0.5 + rand() % 100 / 100.0;
  }
  size_t n = wtl_power_trace_points(t, 0, &p);
  CHECK(n > WTL_POWER_TRACE_POINTS / 4 && n <= WTL_POWER_TRACE_POINTS);
  for (size_t i = 0; i < n; i++) {
    kept += p[i].watts * (double)(p[i].end_ns - p[i].begin_ns) * 1e-9;
    if (i) CHECK(p[i].begin_ns == p[i - 1].end_ns);
  }
  double missing_s = (double)((100 + 10 * (uint64_t)READINGS) * MS - p[n - 1].end_ns) * 1e-9;
  CHECK(p[0].begin_ns == 100 * MS && missing_s <= 16 * every_s);
  CHECK_NEAR(kept, joules, 1.5 / every_s * missing_s + 1e-3);
  wtl_power_trace_free(t);
}

/* ---- the thread ---- */

static atomic_int readings;

static void advance(void *arg, wtl_mark *mark)
{
  (void)arg;
  int n = atomic_fetch_add(&readings, 1) + 1;
  for (size_t d = 0; d < DOMAINS; d++) mark->point[d] = (wtl_point){.uj = 1000000 * (uint64_t)n, .ok = true};
}

static void a_thread_reads_until_it_is_stopped(void)
{
  wtl_power_trace *t = wtl_power_trace_make(wanted, DOMAINS, 1e-3);
  const wtl_watts *p;
  wtl_power_trace_start(t, advance, NULL);
  while (atomic_load(&readings) < 5) wtl_sys_real.sleep(NULL, 1e-3);
  wtl_power_trace_stop(t);
  wtl_power_trace_stop(t);
  int stopped_at = atomic_load(&readings);
  size_t n = wtl_power_trace_points(t, 0, &p);
  CHECK(n >= 1 && n < (size_t)stopped_at);
  for (size_t i = 0; i < n; i++) CHECK(p[i].watts > 0);
  wtl_sys_real.sleep(NULL, 0.01);
  CHECK(atomic_load(&readings) == stopped_at);
  wtl_power_trace_free(t);
}

TESTS(TEST(points_have_the_mean_watts_since_the_reading_before), TEST(domains_that_are_not_wanted_have_no_points),
      TEST(a_counter_that_stands_still_gives_no_point_until_it_advances), TEST(a_failed_reading_is_a_gap),
      TEST(a_full_trace_covers_the_whole_time_with_the_same_joules), TEST(a_thread_reads_until_it_is_stopped))
