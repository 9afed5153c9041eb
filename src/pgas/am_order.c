#include "pgas/am_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "pgas/am_state.h"

/* What a thread holds, in the order of taking; deeper nesting is not followed. */
enum { DEPTH = 16 };
static _Thread_local struct {
  wtl_am_mutex *held[DEPTH];
  int n;
} stack;

/* `second` was taken while `first` was held. */
typedef struct edge {
  struct edge *next;
  const wtl_am_mutex *first, *second;
  int handler; /* which did so; -1: none */
  bool reported;
} edge;

struct wtl_am_order {
  edge *edges;
};

static const char *who(int handler, char *text, size_t size)
{
  if (handler < 0) return "the program";
  snprintf(text, size, "handler %d", handler);
  return text;
}

static edge *find(const wtl_am_order *o, const wtl_am_mutex *first, const wtl_am_mutex *second)
{
  edge *e = o->edges;
  while (e && (e->first != first || e->second != second)) e = e->next;
  return e;
}

/* Is there a way from `from` to `to`: was `to` taken while `from` was held, or something between? */
static edge *find_way(const wtl_am_order *o, const wtl_am_mutex *from, const wtl_am_mutex *to, int depth)
{
  for (edge *e = o->edges; e; e = e->next)
    if (e->first == from && (e->second == to || (depth > 0 && find_way(o, e->second, to, depth - 1)))) return e;
  return NULL;
}

static void add(wtl_am_order *o, const wtl_am_mutex *first, const wtl_am_mutex *second, int handler)
{
  char here[32], there[32];
  edge *e = find(o, first, second), *back;
  if (e) return;
  if (!(e = calloc(1, sizeof *e))) return; /* a report less */
  *e = (edge){o->edges, first, second, handler, false};
  o->edges = e;
  if (!(back = find_way(o, second, first, DEPTH)) || back->reported) return;
  back->reported = e->reported = true;
  wtl_say("active messages: the mutexes at %p and %p are taken in both orders: %s takes the second while it holds the "
          "first, %s "
          "the other way round; some day each waits for the other",
          (const void *)first, (const void *)second, who(handler, here, sizeof here),
          who(back->handler, there, sizeof there));
}

void wtl_am_order_locked(wtl_pe *self, wtl_am_mutex *m)
{
  wtl_am *am = self->am;
  int handler = wtl_am_here.runs ? wtl_am_here.id : -1;
  pthread_mutex_lock(&am->lock);
  if (!am->order) am->order = calloc(1, sizeof *am->order);
  for (int i = 0; am->order && i < stack.n; i++) add(am->order, stack.held[i], m, handler);
  pthread_mutex_unlock(&am->lock);
  if (stack.n < DEPTH) stack.held[stack.n++] = m;
  m->since = wtl_clock_ns();
}

void wtl_am_order_unlocks(wtl_pe *self, wtl_am_mutex *m)
{
  uint64_t held = wtl_clock_ns() - m->since;
  (void)self;
  for (int i = stack.n; i-- > 0;) {
    if (stack.held[i] != m) continue;
    memmove(&stack.held[i], &stack.held[i + 1], (size_t)(stack.n - i - 1) * sizeof stack.held[0]);
    stack.n--;
    break;
  }
  if (wtl_am_here.runs && held > WTL_AM_LONG_HOLD_NS)
    wtl_say("active messages: handler %d held the mutex at %p for %.3g ms; no other handler of this PE could run",
            wtl_am_here.id, (void *)m, (double)held * 1e-6);
}

void wtl_am_order_free(wtl_am_order *o)
{
  for (edge *e = o ? o->edges : NULL, *next; e; e = next) next = e->next, free(e);
  free(o);
}
