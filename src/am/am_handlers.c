/* am_handlers.c - a hash table from numbers to handlers that is read without a lock. */
#include "am/am_handlers.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * A hash table that is at most half full. Places are only filled, so none moves during a search. A table that has
 * become too small stays until the end, as a thread may still search it. All of them together take less than twice the
 * memory of the last.
 *
 * Sequentially consistent, as wtl_am.taken is. A thread that has set a handler, and then sees that no thread takes
 * messages, knows that none finds the former handler any more (wtl_am_wait_for_turn).
 */
enum { FIRST_BITS = 6 };

typedef struct place {
  _Atomic(wtl_am_handler) handler; /* NULL: free */
  int id;                          /* written before `handler` */
} place;

struct wtl_am_handlers {
  wtl_am_handlers *former;
  uint32_t bits, used; /* 1 << bits places */
  place places[];
};

/* Finds the place where `id` is or would be. Fibonacci hashing spreads consecutive numbers. */
static const place *find(const wtl_am_handlers *h, int id, wtl_am_handler *handler)
{
  uint32_t i = (uint32_t)id * UINT32_C(2654435769) >> (32 - h->bits), last = (UINT32_C(1) << h->bits) - 1;
  while ((*handler = h->places[i].handler) != NULL && h->places[i].id != id) i = (i + 1) & last;
  return &h->places[i];
}

static void put(wtl_am_handlers *h, int id, wtl_am_handler handler)
{
  wtl_am_handler former;
  place *p = (place *)(uintptr_t)find(h, id, &former);
  if (!former) {
    p->id = id;
    h->used++;
  }
  p->handler = handler;
}

static wtl_am_handlers *larger(wtl_am_handlers *former)
{
  uint32_t bits = former ? former->bits + 1 : FIRST_BITS;
  wtl_am_handlers *h = calloc(1, sizeof *h + (sizeof(place) << bits));
  if (!h) return NULL;
  h->former = former;
  h->bits = bits;
  for (uint32_t i = 0; former && i < UINT32_C(1) << former->bits; i++)
    if (former->places[i].handler) put(h, former->places[i].id, former->places[i].handler);
  return h;
}

bool wtl_am_handlers_set(wtl_am_handlers *_Atomic *table, int id, wtl_am_handler handler)
{
  wtl_am_handlers *h = *table;
  if (!h || (2 * h->used >= UINT32_C(1) << h->bits && !wtl_am_handlers_find(h, id))) {
    if (!(h = larger(h))) return false;
    put(h, id, handler);
    *table = h;
  } else {
    put(h, id, handler);
  }
  return true;
}

wtl_am_handler wtl_am_handlers_find(const wtl_am_handlers *h, int id)
{
  wtl_am_handler handler = NULL;
  if (h) find(h, id, &handler);
  return handler;
}

void wtl_am_handlers_free(wtl_am_handlers *h)
{
  for (wtl_am_handlers *former; h; h = former) former = h->former, free(h);
}
