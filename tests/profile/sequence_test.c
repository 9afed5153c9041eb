/* sequence_test.c - tests the steps between calls: same PE, memory next to the last, strides, bursts, equal bytes. */
#include "profile/sequence.h"

#include "power/check.h"

static char heap[4096], other[4096];
static const wtl_symmetric areas[WTL_SYMMETRIC_AREAS] = {{heap, sizeof heap}};
static uint64_t tick;

enum { A = 100, B = 200, QUIET = 300 };

static void put(wtl_sequence *q, uint64_t site, int pe, const void *there, const void *here, uint64_t bytes)
{
  tick += 10;
  wtl_sequence_note(q, &(wtl_noted){{site, 1, 7}, {pe, there, here, true, 0}, bytes, tick});
}

static void quiet(wtl_sequence *q)
{
  tick += 10;
  wtl_sequence_note(q, &(wtl_noted){{QUIET, 2, 7}, WTL_NO_TARGET, 0, tick});
}

static const wtl_step *step(const wtl_sequence *q, uint64_t from, uint64_t to)
{
  static const wtl_step none;
  for (uint32_t i = 0; i < q->used; i++) {
    const wtl_step *s = wtl_sequence_step(q, i);
    if (s->from.addr == from && s->to.addr == to) return s;
  }
  return &none;
}

static void a_put_after_a_quiet_is_compared_with_the_put_before_it(void)
{
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (int i = 0; i < 8; i++) {
    put(&q, A, 1, heap + 8 * i, heap + 1024 + 8 * i, 8);
    quiet(&q);
  }
  const wtl_step *s = step(&q, QUIET, A), *back = step(&q, A, QUIET);
  CHECK(s->times == 7 && s->transfers == 7 && s->same_pe == 7 && s->next_there == 7 && s->next_here == 7);
  CHECK(s->stride_there == 6 && s->same_there == 0 && s->private_here == 0 && s->ticks == 70 && s->bytes == 56);
  CHECK(s->area == 0 && s->low == 8 && s->high == 64);
  CHECK(back->times == 8 && back->transfers == 0);
  CHECK(back->bursts == 7 && back->burst_calls == 7); /* the first burst may have begun before the window */
  CHECK(q.used == 2 && q.noted == 16 && q.lost == 0);
  wtl_sequence_free(&q);
}

static void strides_and_private_memory_and_other_pes_are_told_apart(void)
{
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (int i = 0; i < 6; i++) put(&q, A, 1, heap + 64 * i, other + 8 * i, 8);
  const wtl_step *s = step(&q, A, A);
  CHECK(s->transfers == 5 && s->stride_there == 4 && s->next_there == 0 && s->next_here == 5 && s->private_here == 5);
  wtl_sequence_open(&q); /* nothing before a window counts */
  for (int i = 0; i < 6; i++) put(&q, B, i, heap, heap + 512, 8);
  s = step(&q, B, B);
  CHECK(s->transfers == 5 && s->same_pe == 0 && s->same_there == 5 && s->same_here == 5);
  CHECK(step(&q, A, B)->times == 0);
  wtl_sequence_free(&q);
}

static void equal_bytes_to_the_same_place_are_found(void)
{
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (int i = 0; i < 9; i++) {
    if (i == 6) heap[3]++;
    put(&q, A, 1, heap + 256, heap, 16);
  }
  const wtl_step *s = step(&q, A, A);
  CHECK(s->compared == 7 && s->unchanged == 6);
  wtl_sequence_free(&q);
}

static void steps_beyond_the_limit_are_counted_as_lost(void)
{
  wtl_sequence q = {.areas = areas}, all = {0};
  wtl_sequence_open(&q);
  for (uint64_t i = 0; i <= WTL_SEQUENCE_STEPS + 10; i++) put(&q, 1000 + i, 1, heap, heap, 8);
  CHECK(q.used == WTL_SEQUENCE_STEPS && q.lost == 10);
  wtl_sequence_add(&all, &q);
  wtl_sequence_add(&all, &q);
  CHECK(all.used == WTL_SEQUENCE_STEPS && all.lost == 20 && all.noted == 2 * q.noted);
  CHECK(step(&all, 1000, 1001)->times == 2 && step(&all, 1000, 1001)->area == 0);
  wtl_sequence_free(&q);
  wtl_sequence_free(&all);
}

static void reduce(wtl_sequence *q, uint64_t site, const void *input, uint64_t kind)
{
  tick += 10;
  wtl_sequence_note(q, &(wtl_noted){{site, 3, 7}, {-1, NULL, input, true, kind}, 8, tick});
  wtl_sequence_left(q, tick + 4);
}

/* Two reductions in a row. The second input is `first` after the first one, where it needs its result. */
static wtl_step pair(bool needs, bool changes, uint64_t second_kind)
{
  static uint64_t first, second;
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (uint64_t i = 0; i < 10; i++) {
    first = i;
    if (changes && !needs) second = 100 + i;
    reduce(&q, A, &first, 8);
    if (needs) second = first + 1;
    reduce(&q, B, &second, second_kind);
  }
  wtl_step found = *step(&q, A, B);
  wtl_sequence_free(&q);
  return found;
}

static void a_reduction_whose_input_is_there_before_the_one_before_it_begins_is_told_from_one_that_needs_it(void)
{
  wtl_step s = pair(false, true, 8);
  CHECK(s.times == 10 && s.reductions == 10 && s.alike == 10 && s.inputs == 8 && s.ready == 8);
  CHECK(s.gaps == 10 && s.gap_ticks == 60 && s.ticks == 100 && s.transfers == 0);
  s = pair(true, true, 8);
  CHECK(s.reductions == 10 && s.inputs == 8 && s.ready == 0);
  s = pair(false, false, 8);
  CHECK(s.reductions == 10 && s.inputs == 0 && s.ready == 0); /* an input that never changes shows nothing */
  s = pair(false, true, 6);
  CHECK(s.reductions == 10 && s.alike == 0);
}

static void an_input_that_cannot_be_read_shows_nothing(void)
{
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (int i = 0; i < 10; i++) {
    reduce(&q, A, (const void *)64, 8);
    reduce(&q, B, (const void *)128, 8);
  }
  CHECK(step(&q, A, B)->reductions == 10 && step(&q, A, B)->inputs == 0);
  wtl_sequence_free(&q);
}

static void receives_from_any_source_are_counted(void)
{
  wtl_sequence q = {.areas = areas};
  wtl_sequence_open(&q);
  for (int i = 0; i < 4; i++)
    wtl_sequence_note(&q, &(wtl_noted){{A, 4, 7}, {-1, NULL, NULL, false, i < 3 ? WTL_ANY_SOURCE : 0}, 0, tick += 10});
  CHECK(step(&q, A, A)->any_source == 2 && step(&q, A, A)->gaps == 0);
  wtl_sequence_free(&q);
}

TESTS(TEST(a_put_after_a_quiet_is_compared_with_the_put_before_it),
      TEST(strides_and_private_memory_and_other_pes_are_told_apart), TEST(equal_bytes_to_the_same_place_are_found),
      TEST(steps_beyond_the_limit_are_counted_as_lost),
      TEST(a_reduction_whose_input_is_there_before_the_one_before_it_begins_is_told_from_one_that_needs_it),
      TEST(an_input_that_cannot_be_read_shows_nothing), TEST(receives_from_any_source_are_counted))
