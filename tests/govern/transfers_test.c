/*
 * transfers_test.c - when a transfer lowers the clock and raises it again, on a made-up /sys: a PE's core has 2.4 GHz
 * and 1.2.
 */
#include "govern/transfers.h"
#include "power/check.h"
#include "timeline.h"

enum { PRICE = 500000 /* ticks, of ns here: two changes are a millisecond */, LOW = 1200000, NORMAL = 2400000 };

typedef struct bench {
  timeline *l;
  wtl_transfers t;
} bench;

static double clock_now, cpu_now;
static double test_clock(void)
{
  return clock_now;
}
static double test_cpu(void)
{
  return cpu_now;
}

static bench begin(enum wtl_transfers_mode mode, const char *thresholds)
{
  bench b = {.l = timeline_new((shape){.n = 1, .mode = WTL_GOVERN_ENERGY, .price = PRICE})};
  b.l->settings.govern.number = WTL_GOVERN_OFF;
  b.l->settings.transfers.number = mode;
  b.l->settings.thresholds.text = thresholds;
  b.l->settings.slowdown.number = 1;
  b.l->governor[0].mode = WTL_GOVERN_OFF; /* nothing but transfers changes a clock */
  wtl_transfers_start(&b.t, &b.l->settings, &b.l->governor[0], 50e-6);
  b.t.thresholds.clock = test_clock;
  b.t.thresholds.started = clock_now;
  b.t.cpu_clock = test_cpu;
  return b;
}

static void end(bench *b)
{
  CHECK(timeline_clock(b->l, 0) == NORMAL);
  timeline_free(b->l);
}

static bool is_low(const bench *b)
{
  return timeline_clock(b->l, 0) == LOW;
}

static void a_small_block_lowers_the_clock_once_it_is_posted(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 64, false, false);
  CHECK(x.way == WTL_WAY_USUAL);
  CHECK(!is_low(&b));
  wtl_transfer_posted(&b.t, &x);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(!is_low(&b));
  end(&b);
}

static void a_large_block_lowers_it_at_the_request(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 1 << 20, true, false);
  CHECK(is_low(&b));
  wtl_transfer_posted(&b.t, &x);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(!is_low(&b));
  end(&b);
}

static void waits_between_request_and_end_leave_it_low(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  wtl_governor *g = &b.l->governor[0];
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_GETS, 1 << 20, true, false);
  CHECK(wtl_governor_wait(g, &b.l->site[0], b.l->now) == UINT64_MAX);
  wtl_governor_continue(g, &b.l->site[0], b.l->now, b.l->now + 10 * MS);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(!is_low(&b));
  end(&b);
}

static void a_nonblocking_transfer_lowers_the_clock_in_the_call_that_waits(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  wtl_transfer x;
  wtl_transfer_left(&b.t, WTL_PUTS, 1 << 20);
  CHECK(!is_low(&b));
  wtl_transfer_await(&b.t, &x, WTL_PUTS, 1 << 20);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(!is_low(&b));
  end(&b);
}

static void below_the_threshold_a_transfer_polls_at_an_unchanged_clock(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "put=16K");
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, (16 << 10) - 1, false, false);
  wtl_transfer_posted(&b.t, &x);
  CHECK(x.way == WTL_WAY_POLL);
  CHECK(!is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(b.t.polled == 1 && b.t.slept == 0 && b.t.scaled == 0);
  end(&b);
}

static void from_the_threshold_on_it_sleeps_at_the_lowest_clock(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "put=16K");
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 16 << 10, true, false);
  CHECK(x.way == WTL_WAY_SLEEP);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(b.t.slept == 1 && b.t.scaled == 1);
  end(&b);
}

/* One transfer of a size that takes so long. */
static void take(bench *b, uint64_t bytes, double ns, bool fenced)
{
  wtl_transfer x;
  wtl_transfer_request(&b->t, &x, WTL_PUTS, bytes, false, fenced);
  wtl_transfer_posted(&b->t, &x);
  clock_now += fenced ? ns / 2 : ns;
  cpu_now += ns / 10;
  wtl_transfer_done(&b->t, &x);
  if (!fenced) return;
  clock_now += 100 * ns; /* the program computes: no part of the transfer */
  cpu_now += 100 * ns;
  CHECK(wtl_transfer_fence(&b->t, &x));
  clock_now += ns / 2;
  wtl_transfer_fenced(&b->t, &x);
}

static void waits_known_to_be_shorter_than_two_changes_are_not_scaled(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "learn");
  b.t.thresholds.allowed = 0;
  double two_changes = 2.0 * PRICE * wtl_clock_ns_per_tick();
  wtl_transfer x;
  for (int i = 0; i < 32; i++) {
    take(&b, 64 << 10, 0.5 * two_changes, false);
    take(&b, 1 << 20, 3 * two_changes, false);
  }
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 64 << 10, true, false);
  CHECK(x.way == WTL_WAY_SLEEP);
  CHECK(!is_low(&b));
  wtl_transfer_done(&b.t, &x);
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 1 << 20, true, false);
  CHECK(is_low(&b));
  wtl_transfer_done(&b.t, &x);
  end(&b);
}

static void a_put_and_its_fence_are_learned_as_one_transfer_without_the_time_between(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "learn");
  for (int i = 0; i < 32; i++) take(&b, 4096, 1e5, true);
  CHECK_NEAR(wtl_thresholds_usual(&b.t.thresholds, WTL_PUTS, 4096), 1e5, 1);
  CHECK(b.t.unfenced.transfers == 0);
  wtl_transfer x;
  CHECK(!wtl_transfer_fence(&b.t, &x)); /* nothing is left */
  end(&b);
}

static void a_fence_after_many_small_puts_waits_as_for_a_large_one(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "put=16K");
  wtl_transfer x;
  for (int i = 0; i < 4; i++) {
    wtl_transfer_request(&b.t, &x, WTL_PUTS, 4096, false, true);
    CHECK(x.way == WTL_WAY_POLL);
    wtl_transfer_done(&b.t, &x);
  }
  CHECK(wtl_transfer_fence(&b.t, &x));
  CHECK(x.way == WTL_WAY_SLEEP && is_low(&b));
  wtl_transfer_fenced(&b.t, &x);
  end(&b);
}

static void the_server_has_the_normal_clock_while_it_serves_for_a_pe_that_waits(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  wtl_transfer x;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 1 << 20, true, false);
  CHECK(is_low(&b));
  wtl_transfers_serve(&b.t, true); /* a message has come */
  CHECK(!is_low(&b));
  wtl_transfers_serve(&b.t, false); /* it blocks */
  CHECK(is_low(&b));
  wtl_transfers_serve(&b.t, true);
  wtl_transfer_done(&b.t, &x);
  CHECK(!is_low(&b));
  wtl_transfers_serve(&b.t, false); /* the PE computes again: its clock stays */
  CHECK(!is_low(&b));
  end(&b);
}

static void a_server_that_comes_and_goes_changes_nothing_while_the_pe_computes(void)
{
  bench b = begin(WTL_TRANSFERS_SCALE, "published");
  uint64_t before = b.l->governor[0].vote.changes;
  for (int i = 0; i < 100; i++) wtl_transfers_serve(&b.t, i % 2 == 0);
  CHECK(b.l->governor[0].vote.changes == before);
  end(&b);
}

static void without_a_knob_sizes_still_decide_how_it_waits(void)
{
  bench b = begin(WTL_TRANSFERS_AWARE, "put=16K");
  wtl_transfer x;
  b.t.governor = NULL;
  wtl_transfer_request(&b.t, &x, WTL_PUTS, 16 << 10, true, false);
  wtl_transfer_posted(&b.t, &x);
  CHECK(x.way == WTL_WAY_SLEEP && !is_low(&b));
  wtl_transfer_done(&b.t, &x);
  CHECK(b.t.slept == 1 && b.t.scaled == 0);
  end(&b);
}

TESTS(TEST(a_small_block_lowers_the_clock_once_it_is_posted), TEST(a_large_block_lowers_it_at_the_request),
      TEST(waits_between_request_and_end_leave_it_low),
      TEST(a_nonblocking_transfer_lowers_the_clock_in_the_call_that_waits),
      TEST(below_the_threshold_a_transfer_polls_at_an_unchanged_clock),
      TEST(from_the_threshold_on_it_sleeps_at_the_lowest_clock),
      TEST(waits_known_to_be_shorter_than_two_changes_are_not_scaled),
      TEST(a_put_and_its_fence_are_learned_as_one_transfer_without_the_time_between),
      TEST(a_fence_after_many_small_puts_waits_as_for_a_large_one),
      TEST(the_server_has_the_normal_clock_while_it_serves_for_a_pe_that_waits),
      TEST(a_server_that_comes_and_goes_changes_nothing_while_the_pe_computes),
      TEST(without_a_knob_sizes_still_decide_how_it_waits))
