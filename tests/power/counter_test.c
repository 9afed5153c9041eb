/*
 * counter_test.c - a counter that wraps becomes one that does not, and says so when it cannot know.
 */
#include "check.h"
#include "power/sensor/counter.h"

static const uint64_t RANGE = 262143328850ull; /* uJ: 32 bits of 61 uJ */

static wtl_counter fresh(uint64_t raw)
{
  wtl_counter c = {.range_uj = RANGE, .limit_w = 1000};
  wtl_counter_take(&c, raw, 0);
  return c;
}

static void first_reading_counts_nothing(void)
{
  wtl_counter c = fresh(123456789);
  CHECK(c.have && c.uj == 0);
  CHECK_NEAR(c.covered_s, 0, 0);
}

static void wrap_is_accumulated(void)
{
  wtl_counter c = fresh(RANGE - 1000000);
  wtl_counter_take(&c, 4000000, 1);
  CHECK(c.uj == 5000000);
  CHECK_NEAR(c.covered_s, 1, 1e-12);
  CHECK_NEAR(c.excess_j, 0, 0);
}

/* A day at 300 W, read each 60 s: 99 wraps, 25.9 MJ, more than 32 bits of anything the sensor counts in. */
static void wraps_add_up_beyond_32_bits(void)
{
  wtl_counter c = fresh(7);
  uint64_t truth = 7;
  for (int i = 1; i <= 1440; i++) {
    truth += 300ull * 60 * 1000000;
    wtl_counter_take(&c, truth % RANGE, 60.0 * i);
  }
  CHECK(c.uj == truth - 7);
  CHECK(c.uj > UINT32_MAX);
  CHECK_NEAR(c.covered_s, 86400, 1e-6);
  CHECK_NEAR(c.excess_j, 0, 0);
}

/*
 * 1000 s without a reading at up to 1000 W: up to 1 MJ, which is 3 wraps. The step alone is the least; the rest is
 * doubt.
 */
static void several_possible_wraps_are_a_gap(void)
{
  wtl_counter c = fresh(0);
  wtl_counter_take(&c, 100000000000, 1000); /* 100 kJ, or 362, 624, 886 kJ */
  CHECK(c.uj == 100000000000);
  CHECK_NEAR(c.covered_s, 0, 0);
  CHECK_NEAR(c.excess_j, 3 * 262143.32885, 1);
  wtl_counter_take(&c, 101000000000, 1001); /* and goes on as if nothing had been */
  CHECK(c.uj == 101000000000);
  CHECK_NEAR(c.covered_s, 1, 1e-9);
}

/* For any real energy below the limit, it lies between uj and uj + excess. */
static void bounds_hold_the_truth_for_any_gap(void)
{
  uint64_t seed = 88172645463325252ull;
  for (int i = 0; i < 200000; i++) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    double watts = (double)(seed % 1000001) * 1e-3, gap = (double)(seed / 1000003 % 4000000) * 1e-3;
    uint64_t start = seed % RANGE, truth = (uint64_t)(watts * gap * 1e6);
    wtl_counter c = fresh(start);
    wtl_counter_take(&c, (start + truth) % RANGE, gap);
    /* A millijoule of slack: at the very limit and rounded down. */
    if (!((double)c.uj <= (double)truth + 1 && (double)truth <= (double)c.uj + 1e6 * c.excess_j + 1000)) {
      CHECK(!"the bounds hold the truth");
      fprintf(stderr, "  %g W for %g s: %g J, counted %g J + %g J\n", watts, gap, 1e-6 * (double)truth,
              1e-6 * (double)c.uj, c.excess_j);
      return;
    }
    if (c.excess_j == 0 && c.uj != truth) CHECK(!"without doubt the count is exact");
  }
}

/* After a suspend the counter starts at 0: as a wrap it would be 262 kJ in 10 s. */
static void reset_is_not_a_wrap(void)
{
  wtl_counter c = fresh(200000000);
  wtl_counter_take(&c, 300000000, 10);
  CHECK(!wtl_counter_take(&c, 5000000, 20)); /* or one wrong value: the next reading shows it */
  CHECK(c.uj == 100000000 && c.refused == 1);
  CHECK(wtl_counter_take(&c, 8000000, 21));
  CHECK(c.uj == 103000000);
  CHECK_NEAR(c.covered_s, 11, 1e-9);
  CHECK(c.excess_j > 0 && c.excess_j < 1000 * 10.2);
}

static void impossible_jump_is_not_counted(void)
{
  wtl_counter c = fresh(0);
  CHECK(!wtl_counter_take(&c, 200000000000, 1)); /* 200 kJ in a second */
  CHECK(c.uj == 0 && c.refused == 1);
  CHECK_NEAR(c.covered_s, 0, 0);
  CHECK(wtl_counter_take(&c, 200050000000, 2)); /* it goes on from there */
  CHECK(c.uj == 50000000);
  CHECK_NEAR(c.covered_s, 1, 1e-12);
  CHECK_NEAR(c.excess_j, 1000 * 1.1, 1e-6);
}

/* A value that no power explains, between two that one explains, costs nothing. */
static void one_wrong_value_costs_nothing(void)
{
  static const uint64_t wrong[] = {0, 1, 200000000000, 262143328850, UINT64_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    wtl_counter c = fresh(150000000000);
    wtl_counter_take(&c, 150100000000, 1);
    CHECK(!wtl_counter_take(&c, wrong[i], 2));
    CHECK(wtl_counter_take(&c, 150300000000, 3));
    CHECK(c.uj == 300000000 && c.refused == 1);
    CHECK_NEAR(c.covered_s, 3, 1e-12);
    CHECK_NEAR(c.excess_j, 0, 0);
  }
}

/* Wrong values one after the other are all refused, and the counter still goes on afterwards. */
static void wrong_values_in_a_row_are_all_refused(void)
{
  wtl_counter c = fresh(1000000);
  for (uint64_t i = 1; i <= 4; i++) CHECK(!wtl_counter_take(&c, i * 50000000000, (double)i));
  CHECK(c.uj == 0 && c.refused == 4);
  CHECK(wtl_counter_take(&c, 501000000, 5));
  CHECK(c.uj == 500000000);
  CHECK_NEAR(c.excess_j, 0, 0);
}

static void counter_without_range_never_wraps(void)
{
  wtl_counter c = {.range_uj = 0, .limit_w = 1000};
  wtl_counter_take(&c, 5000000, 0);
  wtl_counter_take(&c, 1000000, 1);
  wtl_counter_take(&c, 1500000, 2);
  CHECK(c.uj == 500000); /* a reset: its joules before the first reading are not known */
  CHECK(isinf(wtl_counter_period(&c)));
}

static void it_is_read_four_times_a_wrap(void)
{
  wtl_counter c = fresh(0);
  CHECK_NEAR(wtl_counter_period(&c), 262143.32885 / 1000 / 4, 1e-3);
}

TESTS(TEST(first_reading_counts_nothing), TEST(wrap_is_accumulated), TEST(wraps_add_up_beyond_32_bits),
      TEST(several_possible_wraps_are_a_gap), TEST(bounds_hold_the_truth_for_any_gap), TEST(reset_is_not_a_wrap),
      TEST(impossible_jump_is_not_counted), TEST(counter_without_range_never_wraps),
      TEST(one_wrong_value_costs_nothing), TEST(wrong_values_in_a_row_are_all_refused),
      TEST(it_is_read_four_times_a_wrap))
