/* usual_test.c - rare values do not move the usual one, and a shift of all does. */
#include "govern/usual.h"

#include <stdbool.h>

#include "power/check.h"

/* `n` values around `middle` that differ by up to a tenth; each tenth is five times as long. */
static wtl_usual around(double middle, int n, bool has_rare)
{
  wtl_usual u = {.n = 0};
  for (int i = 0; i < n; i++) {
    double value = middle * (0.95 + 0.1 * (i * 7 % 11) / 10);
    wtl_usual_add(&u, has_rare && i % 10 == 7 ? 5 * value : value);
  }
  return u;
}

static void of_no_value_nothing_is_known(void)
{
  wtl_usual none = {.n = 0}, some = around(10, 4, false);
  CHECK(wtl_usual_mean(&none) == 0);
  CHECK(wtl_usual_excess(&some, &none) == 0 && wtl_usual_excess(&none, &some) == 0);
}

static void few_values_have_their_middle_as_mean(void)
{
  wtl_usual u = {.n = 0};
  wtl_usual_add(&u, 3);
  CHECK(wtl_usual_mean(&u) == 3);
  wtl_usual_add(&u, 5);
  CHECK(wtl_usual_mean(&u) == 4);
  wtl_usual_add(&u, 400);
  CHECK(wtl_usual_mean(&u) == 5);
  wtl_usual_add(&u, 7);
  CHECK(wtl_usual_mean(&u) == 6);
}

static void rare_values_are_no_excess(void)
{
  for (int n = 3; n < 60; n++) {
    wtl_usual with = around(10, n, true), without = around(10, 4, false);
    CHECK(wtl_usual_excess(&with, &without) == 0);
    CHECK_NEAR(wtl_usual_mean(&with), 10, 0.6);
  }
}

/* Two values, of which one is rare, show nothing. */
static void one_of_two_is_no_excess(void)
{
  wtl_usual u = {.n = 0}, without = around(10, 4, false);
  wtl_usual_add(&u, 10);
  wtl_usual_add(&u, 50);
  CHECK(wtl_usual_excess(&u, &without) == 0);
}

static void a_shift_of_all_is_found_also_among_rare_values(void)
{
  for (int n = 3; n < 60; n++) {
    wtl_usual longer = around(10, n, true), without = around(10, 4, false);
    for (int i = 0; i < WTL_USUAL_OF; i++) longer.recent[i] += 5;
    double excess = wtl_usual_excess(&longer, &without);
    CHECK(excess > 2.5 && excess < 5.6);
    CHECK(wtl_usual_excess(&without, &longer) == 0);
  }
}

static void the_last_fifteen_count(void)
{
  wtl_usual u = around(10, 40, true);
  for (int i = 0; i < WTL_USUAL_OF; i++) wtl_usual_add(&u, 20);
  CHECK(wtl_usual_mean(&u) == 20);
}

TESTS(TEST(of_no_value_nothing_is_known), TEST(few_values_have_their_middle_as_mean), TEST(rare_values_are_no_excess),
      TEST(one_of_two_is_no_excess), TEST(a_shift_of_all_is_found_also_among_rare_values), TEST(the_last_fifteen_count))
