/* am_order.c - records the orders in which threads take mutexes, finds circles in them, and reports. */
#include "am/am_order.h"

#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "base/error.h"
#include "am/am_state.h"
#include "os/floats.h"

/* The mutexes that a thread holds, in the order of taking. Deeper nesting is not followed. */
enum { DEPTH = 16 };
static _Thread_local struct {
  wtl_am_mutex *held[DEPTH];
  int n;
} stack;

/* The most mutexes that are named for each call and handler, and the most circles: a program may make new ones all
 * the time. */
enum { NAMED = 8 };

/* A handler that held mutexes for long, or a call that waits in threads that hold one. */
typedef struct note {
  struct note *next;
  const char *call;                 /* NULL: the note is for a handler */
  int handler;                      /* the handler */
  uint64_t longest;                 /* the longest time in ns */
  const wtl_am_mutex *named[NAMED]; /* NULL: another mutex is there by now */
  uint32_t n_named;
  uint64_t times;
} note;

/* A thread waited for `second`, or would have, while it held `first`. */
typedef struct edge {
  struct edge *next;
  const wtl_am_mutex *first, *second;
  int handler; /* the handler that did so; -1: none */
  bool seen;   /* visited by the search for a circle */
  struct edge *onward;
} edge;

struct wtl_am_order {
  edge *edges;
  note *notes;
  uint64_t circles;
};

/* Returns the state, or NULL without memory; then a report is missing. The caller holds am->lock. */
static wtl_am_order *order_of(wtl_am *am)
{
  if (!am->order) am->order = calloc(1, sizeof *am->order);
  return am->order;
}

static bool is_of(const note *n, const char *call, int handler)
{
  return n->handler == handler && (call ? n->call && !strcmp(n->call, call) : !n->call);
}

/* Counts an event. Returns true if it must be reported: the first one with `m`, while few mutexes were named. */
static bool is_first(wtl_am *am, const wtl_am_mutex *m, const char *call, int handler, uint64_t held)
{
  bool first_time = false;
  pthread_mutex_lock(&am->lock);
  wtl_am_order *o = order_of(am);
  note *n = o ? o->notes : NULL;
  while (n && !is_of(n, call, handler)) n = n->next;
  if (o && !n && (n = malloc(sizeof *n))) {
    *n = (note){.next = o->notes, .call = call, .handler = handler};
    o->notes = n;
  }
  if (n) {
    uint32_t i = 0;
    while (i < n->n_named && n->named[i] != m) i++;
    first_time = i == n->n_named && i < NAMED;
    if (first_time) n->named[n->n_named++] = m;
    n->times++;
    if (held > n->longest) n->longest = held;
  }
  pthread_mutex_unlock(&am->lock);
  return first_time;
}

/* Reports at the end an event that occurred more often than it was reported, and frees the note. */
static void end_note(note *n)
{
  WTL_FLOATS_APART;
  unsigned long long times = n->times;
  const char *which = n->n_named == NAMED ? "; the first 8 such mutexes are named above" : "";
  if (times > n->n_named && n->call)
    wtl_message_print("active messages: %s was called %llu times by threads that held a mutex%s", n->call, times,
                      which);
  else if (times > n->n_named)
    wtl_message_print("active messages: handler %d held a mutex too long, %llu times, %.3g ms at most%s", n->handler,
                      times, (double)n->longest * 1e-6, which);
  free(n);
}

static bool is_there(const wtl_am_order *o, const wtl_am_mutex *first, const wtl_am_mutex *second)
{
  const edge *e = o->edges;
  while (e && (e->first != first || e->second != second)) e = e->next;
  return e != NULL;
}

/* Returns the first edge of a path from `from` to `to`, linked by `onward`; NULL: there is none. */
static edge *find_path(wtl_am_order *o, const wtl_am_mutex *from, const wtl_am_mutex *to)
{
  for (edge *e = o->edges; e; e = e->next) {
    if (e->first != from || e->seen) continue;
    e->seen = true;
    e->onward = NULL;
    if (e->second == to || (e->onward = find_path(o, e->second, to)) != NULL) return e;
  }
  return NULL;
}

/* Appends the description of `e` to a text at `at`; returns the new end. */
static size_t describe(char *text, size_t size, size_t at, const edge *e)
{
  int n;
  if (e->handler < 0)
    n = snprintf(text + at, size - at, "%s%p and then %p by the program", at ? ", " : "", (const void *)e->first,
                 (const void *)e->second);
  else
    n = snprintf(text + at, size - at, "%s%p and then %p by handler %d", at ? ", " : "", (const void *)e->first,
                 (const void *)e->second, e->handler);
  return at + (size_t)n < size ? at + (size_t)n : size - 1;
}

static void add(wtl_am_order *o, const wtl_am_mutex *first, const wtl_am_mutex *second, int handler)
{
  char text[1024];
  edge *e, *back;
  if (is_there(o, first, second)) return;  /* it was reported if it closed a circle */
  if (!(e = calloc(1, sizeof *e))) return; /* a report is missing then */
  *e = (edge){.next = o->edges, .first = first, .second = second, .handler = handler};
  o->edges = e;
  for (edge *other = e; other; other = other->next) other->seen = false;
  if (!(back = find_path(o, second, first)) || ++o->circles > NAMED) return;
  size_t at = describe(text, sizeof text, 0, e);
  for (; back; back = back->onward) at = describe(text, sizeof text, at, back);
  wtl_message_print("active messages: mutexes are locked in a circular order, %s; this may deadlock", text);
}

void wtl_am_order_locked(wtl_pe *self, wtl_am_mutex *m, bool waits)
{
  wtl_am *am = self->am;
  int handler = wtl_am_here.runs ? wtl_am_here.id : -1;
  pthread_mutex_lock(&am->lock);
  for (int i = 0; waits && order_of(am) && i < stack.n; i++) add(am->order, stack.held[i], m, handler);
  pthread_mutex_unlock(&am->lock);
  if (stack.n < DEPTH) stack.held[stack.n++] = m;
}

void wtl_am_order_waits(wtl_pe *self, const char *call)
{
  const wtl_am_mutex *m = stack.n ? stack.held[stack.n - 1] : NULL;
  if (m && is_first(self->am, m, call, 0, 0))
    wtl_message_print(
        "active messages: %s may wait for handlers, and the thread that calls it holds the mutex at %p: if a handler "
        "needs that mutex, this is a deadlock",
        call, (const void *)m);
}

void wtl_am_order_forget(wtl_pe *self, const wtl_am_mutex *m)
{
  wtl_am *am = self->am;
  pthread_mutex_lock(&am->lock);
  for (edge **at = am->order ? &am->order->edges : NULL, *e; at && (e = *at) != NULL;) {
    if (e->first != m && e->second != m) {
      at = &e->next;
      continue;
    }
    *at = e->next;
    free(e);
  }
  for (note *n = am->order ? am->order->notes : NULL; n; n = n->next)
    for (uint32_t i = 0; i < n->n_named; i++)
      if (n->named[i] == m) n->named[i] = NULL;
  pthread_mutex_unlock(&am->lock);
}

void wtl_am_order_unlocks(wtl_pe *self, wtl_am_mutex *m, uint64_t held_ns)
{
  WTL_FLOATS_APART;
  for (int i = stack.n; i-- > 0;) {
    if (stack.held[i] != m) continue;
    memmove(&stack.held[i], &stack.held[i + 1], (size_t)(stack.n - i - 1) * sizeof stack.held[0]);
    stack.n--;
    break;
  }
  if (wtl_am_here.runs && held_ns > WTL_AM_LONG_HOLD_NS && is_first(self->am, m, NULL, wtl_am_here.id, held_ns))
    wtl_message_print(
        "active messages: handler %d held the mutex at %p for %.3g ms; no other handler of this PE could run",
        wtl_am_here.id, (void *)m, (double)held_ns * 1e-6);
}

void wtl_am_order_free(wtl_am_order *o)
{
  for (edge *e = o ? o->edges : NULL, *next; e; e = next) next = e->next, free(e);
  for (note *n = o ? o->notes : NULL, *next; n; n = next) next = n->next, end_note(n);
  if (o && o->circles > NAMED)
    wtl_message_print("active messages: mutexes were locked in %llu circular orders; the first %d are named above",
                      (unsigned long long)o->circles, NAMED);
  free(o);
}
