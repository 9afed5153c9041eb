/* heap.c - allocates symmetric memory and keeps a table of the live blocks. */
#include "pgas/heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <uthash.h>

#include "base/align.h"
#include "os/os.h"

struct wtl_block {
  void *start;
  size_t bytes, capacity; /* the last size that was asked for; the size that the engine gave */
  bool is_marked;
  UT_hash_handle hh;
};

void wtl_heap_start(wtl_heap *h, void *start, size_t bytes)
{
  memset(h, 0, sizeof *h);
  h->engine = wtl_best_fit_start(start, wtl_heap_span(bytes));
  h->bytes = bytes;
}

void wtl_heap_stop(wtl_heap *h)
{
  struct wtl_block *b, *next;
  HASH_ITER(hh, h->live, b, next)
  {
    HASH_DEL(h->live, b);
    free(b);
  }
  memset(h, 0, sizeof *h);
}

static struct wtl_block *find(const wtl_heap *h, const void *p)
{
  struct wtl_block *b;
  HASH_FIND_PTR(h->live, &p, b);
  return b;
}

/* Other threads read `reach` without a lock. A core file holds the heap up to there (node/arena.h); not in simulation,
 * where this would divide the mapping of all nodes. */
static void reach(wtl_heap *h, const struct wtl_block *b)
{
  size_t end = (size_t)((const char *)b->start - (const char *)h->engine) + b->bytes;
  size_t shown = wtl_page_up(h->reach), more = wtl_page_up(end) - shown;
  if (end <= h->reach) return;
  if (more && !WTL_OS_IS_SIMULATED) madvise((char *)h->engine + shown, more, MADV_DODUMP);
  __atomic_store_n(&h->reach, end, __ATOMIC_RELAXED);
}

void *wtl_heap_alloc(wtl_heap *h, size_t bytes, size_t align)
{
  struct wtl_block *b = malloc(sizeof *b);
  if (!b) return NULL;
  b->bytes = b->capacity = bytes;
  b->is_marked = false;
  bool fits = bytes <= h->bytes - h->live_bytes && align <= h->bytes;
  b->start = fits ? wtl_best_fit_alloc(h->engine, bytes, align) : NULL;
  if (!b->start) {
    free(b);
    return NULL;
  }
  HASH_ADD_PTR(h->live, start, b);
  h->live_bytes += bytes;
  reach(h, b);
  return b->start;
}

int wtl_heap_free(wtl_heap *h, void *p)
{
  struct wtl_block *b = find(h, p);
  if (!b) return -1;
  HASH_DEL(h->live, b);
  h->live_bytes -= b->bytes;
  wtl_best_fit_free(h->engine, p);
  free(b);
  return 0;
}

void *wtl_heap_alloc_instead(wtl_heap *h, const void *old, size_t bytes)
{
  size_t no_longer = wtl_heap_size(h, old);
  h->live_bytes -= no_longer;
  void *p = wtl_heap_alloc(h, bytes, 0);
  h->live_bytes += no_longer;
  return p;
}

int wtl_heap_resize(wtl_heap *h, void *p, size_t bytes)
{
  struct wtl_block *b = find(h, p);
  if (!b || (bytes > b->bytes && bytes - b->bytes > h->bytes - h->live_bytes)) return -1;
  size_t capacity = bytes > b->capacity ? wtl_best_fit_grow(h->engine, p, bytes)
                                        : wtl_best_fit_shrink(h->engine, p, bytes, b->capacity);
  if (!capacity) return -1;
  b->capacity = capacity;
  h->live_bytes += bytes - b->bytes;
  b->bytes = bytes;
  reach(h, b);
  return 0;
}

void wtl_heap_mark(wtl_heap *h, const void *p)
{
  struct wtl_block *b = find(h, p);
  if (b) b->is_marked = true;
}

bool wtl_heap_is_marked(const wtl_heap *h, const void *p)
{
  struct wtl_block *b = find(h, p);
  return b && b->is_marked;
}

size_t wtl_heap_size(const wtl_heap *h, const void *p)
{
  struct wtl_block *b = find(h, p);
  return b ? b->bytes : 0;
}

size_t wtl_heap_capacity(const wtl_heap *h, const void *p)
{
  struct wtl_block *b = find(h, p);
  return b ? b->capacity : 0;
}

size_t wtl_heap_free_bytes(const wtl_heap *h)
{
  size_t capacity = wtl_best_fit_free_bytes(h->engine), left = h->bytes - h->live_bytes;
  return capacity < left ? capacity : left;
}
