/* timeline.c - adds spans to a buffer of fixed size and removes the shortest ones when it is full. */
#include "profile/timeline.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FEWEST = 64, FIRST_LEAST = 64 /* ticks */ };

wtl_timeline *wtl_timeline_make(size_t bytes)
{
  size_t head = sizeof(wtl_timeline), capacity = bytes > head ? (bytes - head) / sizeof(wtl_event) : 0;
  if (capacity < FEWEST) capacity = FEWEST;
  wtl_timeline *t = calloc(1, head + capacity * sizeof(wtl_event));
  if (!t) return NULL;
  t->capacity = capacity;
  t->every = t->collectives_every = 1;
  return t;
}

static void leave_out(wtl_timeline *t, const wtl_event *e)
{
  t->left_out[e->span]++;
  if (e->span < WTL_SPAN_CLOCK) t->left_out_ticks += e->end - e->begin;
}

static bool is_below(const wtl_event *e, uint64_t length)
{
  return e->span != WTL_SPAN_CLOCK && e->span != WTL_SPAN_COLLECTIVE && e->end - e->begin < length;
}

/* The next value of `least`. */
static uint64_t next_least(const wtl_timeline *t)
{
  return t->least ? 2 * t->least : FIRST_LEAST;
}

/* Removes spans below the next value of `least`: all, or every second one. */
static void remove_short(wtl_timeline *t, bool all)
{
  uint64_t next = next_least(t), turn = 0;
  size_t kept = 0;
  for (size_t i = 0; i < t->n; i++)
    if (is_below(&t->event[i], next) && (all || turn++ % 2))
      leave_out(t, &t->event[i]);
    else
      t->event[kept++] = t->event[i];
  t->n = kept;
}

/* Removes spans until half of the buffer is free. */
static void thin(wtl_timeline *t)
{
  while (t->n > t->capacity / 2) {
    size_t longer = 0;
    for (size_t i = 0; i < t->n; i++) longer += !is_below(&t->event[i], next_least(t));
    bool all = longer >= t->capacity / 8;
    remove_short(t, all);
    if (all) t->least = next_least(t);
    t->every = all ? 1 : 2 * t->every;
  }
}

/* True if one of the shortest spans is to be left out, because there are too many of them. */
static bool is_left_out_as_short(wtl_timeline *t, const wtl_event *e)
{
  return t->every > 1 && is_below(e, next_least(t)) && t->turn++ % t->every;
}

static void halve_collectives(wtl_timeline *t)
{
  size_t kept = 0, turn = 0;
  for (size_t i = 0; i < t->n; i++)
    if (t->event[i].span == WTL_SPAN_COLLECTIVE && turn++ % 2)
      leave_out(t, &t->event[i]);
    else
      t->event[kept++] = t->event[i];
  t->n_collectives -= t->n - kept;
  t->n = kept;
  t->collectives_every *= 2;
}

/* True if a collective call is to be left out. The number alone decides, and so equally on all PEs. */
static bool is_left_out_by_number(wtl_timeline *t)
{
  if (t->collectives++ % t->collectives_every) return true;
  if (t->n_collectives < t->capacity / 8) return false;
  halve_collectives(t);
  return (t->collectives - 1) % t->collectives_every;
}

static void enter(wtl_timeline *t, const wtl_event *e)
{
  bool is_clock = e->span == WTL_SPAN_CLOCK, is_collective = e->span == WTL_SPAN_COLLECTIVE;
  if (t->n == t->capacity) thin(t);
  if (is_below(e, t->least) || is_left_out_as_short(t, e) || (is_clock && t->n_clocks >= t->capacity / 4) ||
      (is_collective && is_left_out_by_number(t))) {
    leave_out(t, e);
    return;
  }
  t->n_clocks += is_clock;
  t->n_collectives += is_collective;
  t->event[t->n++] = *e;
}

static bool is_same_site(const wtl_event *a, const wtl_event *b)
{
  return a->span == b->span && a->addr == b->addr && a->call == b->call && a->path == b->path;
}

void wtl_timeline_add(wtl_timeline *t, enum wtl_span span, uint64_t begin, uint64_t end, uint64_t addr, uint32_t call,
                      uint32_t path)
{
  wtl_event *o = &t->open, e = {begin, end, addr, call, span, path + 1};
  if (o->begin && o->end == begin && span < WTL_SPAN_CALL && is_same_site(o, &e)) {
    o->end = end;
    return;
  }
  t->seen++;
  if (o->begin) enter(t, o);
  *o = e;
}

void wtl_timeline_close(wtl_timeline *t)
{
  if (t->open.begin) enter(t, &t->open);
  t->open = (wtl_event){0};
}
