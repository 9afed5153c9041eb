#include "pgas/am_handlers.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Sequentially consistent, as wtl_am.taken is: who has taken a handler away and then sees that no thread takes messages
 * knows that none finds it any more (wtl_am_wait_for_turn).
 *
 * Small numbers have a place of their own; others, which programs use few of, are a list. Neither shrinks. */
enum { SMALL = 512 };

typedef struct other {
  struct other *_Atomic next;
  int id;
  _Atomic(wtl_am_handler) handler;
} other;

struct wtl_am_handlers {
  _Atomic(wtl_am_handler) small[SMALL];
  other *_Atomic others;
};

static bool is_small(int id)
{
  return id >= 0 && id < SMALL;
}

static other *find_other(const wtl_am_handlers *h, int id)
{
  other *o = atomic_load_explicit(&h->others, memory_order_acquire);
  while (o && o->id != id) o = atomic_load_explicit(&o->next, memory_order_acquire);
  return o;
}

bool wtl_am_handlers_set(wtl_am_handlers *_Atomic *table, int id, wtl_am_handler handler)
{
  wtl_am_handlers *h = *table;
  other *o;
  if (!h) {
    if (!(h = calloc(1, sizeof *h))) return false;
    *table = h;
  }
  if (is_small(id)) {
    h->small[id] = handler;
    return true;
  }
  if (!(o = find_other(h, id))) {
    if (!(o = calloc(1, sizeof *o))) return false;
    o->id = id;
    o->next = h->others;
    o->handler = handler;
    atomic_store_explicit(&h->others, o, memory_order_release);
  }
  o->handler = handler;
  return true;
}

wtl_am_handler wtl_am_handlers_find(const wtl_am_handlers *h, int id)
{
  const other *o;
  if (!h) return NULL;
  if (is_small(id)) return h->small[id];
  o = find_other(h, id);
  return o ? o->handler : NULL;
}

void wtl_am_handlers_free(wtl_am_handlers *h)
{
  if (!h) return;
  for (other *o = h->others, *next; o; o = next) next = o->next, free(o);
  free(h);
}
