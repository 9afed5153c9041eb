/* am_inbox.c - a list of chunks of memory. The writer fills the last chunk, and the reader frees the first. */
#include "am/am_inbox.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 65536 };

struct wtl_am_chunk {
  wtl_am_chunk *_Atomic next;
  size_t used;           /* by the writer */
  _Atomic size_t filled; /* the bytes that the reader may read */
  _Alignas(16) char data[CHUNK_BYTES];
};

static size_t size_of(size_t n)
{
  return (sizeof(wtl_am_letter) + n + 15) & ~(size_t)15;
}

static wtl_am_chunk *new_chunk(wtl_am_inbox *b)
{
  wtl_am_chunk *c = atomic_exchange_explicit(&b->spare, NULL, memory_order_acquire);
  if (!c && !(c = malloc(sizeof *c))) return NULL;
  c->next = NULL;
  c->used = 0;
  c->filled = 0;
  return c;
}

wtl_am_letter *wtl_am_inbox_add(wtl_am_inbox *b, size_t n)
{
  wtl_am_chunk *c = b->last;
  if (!c || c->used + size_of(n) > CHUNK_BYTES) {
    if (!(c = new_chunk(b))) return NULL;
    if (b->last)
      atomic_store_explicit(&b->last->next, c, memory_order_release);
    else
      b->first = c; /* the reader reads it only after `in` has advanced */
    b->last = c;
  }
  wtl_am_letter *l = (wtl_am_letter *)(void *)(c->data + c->used);
  l->n = l->bytes = (uint32_t)n;
  l->count = 1;
  l->done = 0;
  l->far_data = NULL;
  l->owned = false;
  c->used += size_of(n);
  return l;
}

void wtl_am_inbox_show(wtl_am_inbox *b)
{
  atomic_store_explicit(&b->last->filled, b->last->used, memory_order_release);
  atomic_store_explicit(&b->in, atomic_load_explicit(&b->in, memory_order_relaxed) + 1, memory_order_seq_cst);
}

wtl_am_letter *wtl_am_inbox_peek(wtl_am_inbox *b)
{
  if (wtl_am_inbox_is_empty(b)) return NULL;
  wtl_am_chunk *c = b->first;
  if (b->read == atomic_load_explicit(&c->filled, memory_order_acquire)) {
    wtl_am_chunk *next = atomic_load_explicit(&c->next, memory_order_acquire);
    b->first = next;
    b->read = 0;
    free(atomic_exchange_explicit(&b->spare, c, memory_order_acq_rel));
    c = next;
  }
  return (wtl_am_letter *)(void *)(c->data + b->read);
}

void wtl_am_inbox_remove(wtl_am_inbox *b, wtl_am_letter *l)
{
  b->read += size_of(l->bytes);
  if (l->owned) free(l->far_data);
  atomic_store_explicit(&b->out, atomic_load_explicit(&b->out, memory_order_relaxed) + 1, memory_order_relaxed);
}

void wtl_am_inbox_free(wtl_am_inbox *b)
{
  for (wtl_am_letter *l; (l = wtl_am_inbox_peek(b)) != NULL;) wtl_am_inbox_remove(b, l);
  free(b->first);
  free(b->spare);
}
