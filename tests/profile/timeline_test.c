/* timeline_test.c - tests the timeline of a thread: the events that it keeps and drops, and that it never grows. */
#include "profile/timeline.h"

#include <stdlib.h>

#include "power/check.h"
#include "profile/call_path.h"

enum { ROOM = 64 };

static wtl_timeline *make(void)
{
  return wtl_timeline_make(sizeof(wtl_timeline) + ROOM * sizeof(wtl_event));
}

static void spans_that_follow_each_other_at_a_site_are_one(void)
{
  wtl_timeline *t = make();
  for (uint64_t i = 0; i < 1000; i++) wtl_timeline_add(t, WTL_SPAN_SPIN, 10 + i, 11 + i, 7, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_ASLEEP, 1010, 1200, 7, 3, WTL_NO_PATH);
  wtl_timeline_close(t);
  CHECK(t->n == 2 && t->seen == 2);
  CHECK(t->event[0].begin == 10 && t->event[0].end == 1010 && t->event[0].span == WTL_SPAN_SPIN);
  CHECK(t->event[1].begin == 1010 && t->event[1].end == 1200 && t->event[1].addr == 7 && t->event[1].call == 3);
  free(t);
}

static void a_gap_another_site_path_or_stage_begins_a_new_span(void)
{
  wtl_timeline *t = make();
  wtl_timeline_add(t, WTL_SPAN_SPIN, 10, 20, 7, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_SPIN, 21, 30, 7, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_SPIN, 30, 40, 8, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_YIELD, 40, 50, 8, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_CALL, 50, 60, 8, 3, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_CALL, 60, 70, 8, 3, WTL_NO_PATH); /* calls are calls */
  wtl_timeline_add(t, WTL_SPAN_SPIN, 70, 80, 8, 3, 0);
  wtl_timeline_add(t, WTL_SPAN_SPIN, 80, 90, 8, 3, 131071);
  wtl_timeline_close(t);
  CHECK(t->n == 8);
  CHECK(t->event[5].path == 0 && t->event[6].path == 1 && t->event[7].path == 131072);
  free(t);
}

static void the_shortest_spans_are_left_out_and_counted(void)
{
  wtl_timeline *t = make();
  uint64_t now = 1, whole = 0, kept = 0;
  for (uint64_t i = 0; i < 10000; i++) {
    uint64_t length = i % 10 ? 100 : 1000000;
    wtl_timeline_add(t, WTL_SPAN_CALL, now, now + length, 7, 3, WTL_NO_PATH);
    now += length + 1;
    whole += length;
  }
  wtl_timeline_close(t);
  CHECK(t->n <= ROOM && t->n > 0);
  for (size_t i = 0; i < t->n; i++) {
    CHECK(t->event[i].end - t->event[i].begin >= t->least);
    CHECK(i == 0 || t->event[i].begin > t->event[i - 1].end);
    kept += t->event[i].end - t->event[i].begin;
  }
  CHECK(t->n + t->left_out[WTL_SPAN_CALL] == t->seen && t->seen == 10000);
  CHECK(kept + t->left_out_ticks == whole);
  free(t);
}

/* A region is left out like a call, but its length is that of spans within it. */
static void short_regions_are_left_out_and_long_ones_stay(void)
{
  wtl_timeline *t = make();
  for (uint64_t i = 0; i < 10000; i++)
    wtl_timeline_add(t, WTL_SPAN_REGION, 200 * i + 1, 200 * i + 100, i % 3, 0, WTL_NO_PATH);
  wtl_timeline_add(t, WTL_SPAN_REGION, 1, 2000000, 3, 0, WTL_NO_PATH);
  wtl_timeline_close(t);
  CHECK(t->n <= ROOM && t->event[t->n - 1].addr == 3 && t->event[t->n - 1].end == 2000000);
  CHECK(t->n + t->left_out[WTL_SPAN_REGION] == t->seen && t->left_out_ticks == 0);
  free(t);
}

static void of_equal_spans_some_are_kept_from_the_whole_time(void)
{
  wtl_timeline *t = make();
  for (uint64_t i = 0; i < 100000; i++)
    wtl_timeline_add(t, WTL_SPAN_SPIN, 100 * i + 1, 100 * i + 51, 7, 3, WTL_NO_PATH);
  wtl_timeline_close(t);
  CHECK(t->n >= ROOM / 4 && t->n <= ROOM);
  for (size_t i = 1; i < t->n; i++) CHECK(t->event[i].begin - t->event[i - 1].begin <= 100 * 100000 / 8);
  CHECK(t->n + t->left_out[WTL_SPAN_SPIN] == t->seen);
  free(t);
}

static void changes_of_clock_are_kept_whatever_their_length_but_not_without_bound(void)
{
  wtl_timeline *t = make();
  for (uint64_t i = 0; i < 100; i++) {
    wtl_timeline_add(t, WTL_SPAN_CLOCK, 10 * i + 1, 10 * i + 1, 1200000, 0, WTL_NO_PATH);
    wtl_timeline_add(t, WTL_SPAN_CALL, 10 * i + 2, 10 * i + 5, 7, 3, WTL_NO_PATH);
  }
  wtl_timeline_close(t);
  CHECK(t->n_clocks == ROOM / 4 && t->left_out[WTL_SPAN_CLOCK] == 100 - ROOM / 4);
  CHECK(t->n <= ROOM);
  free(t);
}

static void collective_spans_are_kept_by_their_number_alone(void)
{
  enum { MET = 1000, BUSY = 7 };
  wtl_timeline *idle = make(), *busy = make();
  for (uint64_t i = 0; i < MET; i++) {
    uint64_t at = 1000 * i + 1;
    wtl_timeline_add(idle, WTL_SPAN_COLLECTIVE, at, at + 10, 7, 3, WTL_NO_PATH);
    for (uint64_t k = 0; k < BUSY; k++)
      wtl_timeline_add(busy, WTL_SPAN_SPIN, at + 20 * k, at + 20 * k + 15, 7, 3, WTL_NO_PATH);
    wtl_timeline_add(busy, WTL_SPAN_COLLECTIVE, at + 500, at + 900, 7, 3, WTL_NO_PATH);
  }
  wtl_timeline_close(idle);
  wtl_timeline_close(busy);
  uint64_t number = 0;
  CHECK(idle->collectives == MET && busy->collectives == MET && idle->n_collectives == busy->n_collectives &&
        idle->n == idle->n_collectives);
  CHECK(busy->n <= ROOM && busy->n_collectives <= ROOM / 8 && busy->n_collectives > ROOM / 16);
  for (size_t i = 0; i < busy->n; i++) {
    if (busy->event[i].span != WTL_SPAN_COLLECTIVE) continue;
    CHECK(busy->event[i].begin == 1000 * number * busy->collectives_every + 501);
    number++;
  }
  CHECK(number == busy->n_collectives);
  CHECK(busy->n_collectives + busy->left_out[WTL_SPAN_COLLECTIVE] == MET);
  free(idle);
  free(busy);
}

static void the_smallest_buffer_is_made_for_any_smaller_request(void)
{
  wtl_timeline *t = wtl_timeline_make(1);
  CHECK(t && t->capacity == 64);
  free(t);
}

TESTS(TEST(spans_that_follow_each_other_at_a_site_are_one), TEST(a_gap_another_site_path_or_stage_begins_a_new_span),
      TEST(the_shortest_spans_are_left_out_and_counted), TEST(short_regions_are_left_out_and_long_ones_stay),
      TEST(of_equal_spans_some_are_kept_from_the_whole_time),
      TEST(changes_of_clock_are_kept_whatever_their_length_but_not_without_bound),
      TEST(collective_spans_are_kept_by_their_number_alone), TEST(the_smallest_buffer_is_made_for_any_smaller_request))
