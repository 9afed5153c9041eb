/*
 * heap.h - the symmetric heap's allocator: Boost.Interprocess's best-fit tree over this PE's slice.
 *
 * PEs that make the same requests in the same order get the same offsets: the allocator's choices depend on nothing
 * else. Which blocks are live is kept beside the heap, so a wrong free is noticed rather than obeyed.
 *
 * Blocks of many sizes leave gaps between them, an aligned one leaves up to its alignment before it, and the smallest
 * takes 48 bytes. So a heap has more than twice as many addresses as bytes to give out: they cost no memory where nothing
 * lies, and what there is room for is not turned away.
 */
#ifndef WTL_PGAS_HEAP_H
#define WTL_PGAS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WTL_HEAP_LEAST ((size_t)65536)

struct wtl_block; /* a live block, in a hash table by address */

typedef struct wtl_heap {
  void *engine;
  struct wtl_block *live;
  size_t bytes;        /* that may be live at a time */
  size_t live_bytes;   /* asked for and not freed */
  size_t reach;        /* from its start to the end of the highest block ever: what lies beyond is nobody's */
  bool sizes_differed; /* PEs have asked for different sizes, and it was said */
} wtl_heap;

/* The size of a heap that is to have `asked` bytes: none is smaller than 64 KiB. */
static inline size_t wtl_heap_at_least(size_t asked)
{
  return asked > WTL_HEAP_LEAST ? asked : WTL_HEAP_LEAST;
}

/*
 * The addresses that a heap of `bytes` takes: twice as many, as a block aligned to its own size takes twice that, and room
 * for ten thousand blocks of a few bytes in the smallest heap.
 */
static inline size_t wtl_heap_span(size_t bytes)
{
  return 2 * bytes + ((size_t)1 << 20);
}

/* A heap of `bytes` (at least WTL_HEAP_LEAST) in the wtl_heap_span(bytes) at `start`, aligned to a page. */
void wtl_heap_start(wtl_heap *h, void *start, size_t bytes);
void wtl_heap_stop(wtl_heap *h);

/* `align`: a power of two. NULL if there is no room. */
void *wtl_heap_alloc(wtl_heap *h, size_t bytes, size_t align);

/* 0, or -1 if `p` is not the start of a live block (nothing happens then). */
int wtl_heap_free(wtl_heap *h, void *p);

/*
 * Makes `p` a block of `bytes` (not 0) where it lies; what it no longer needs can be given out. 0; or -1 if `p` is not
 * the start of a live block or neither it nor what is free behind it has so much room (nothing happens then).
 */
int wtl_heap_resize(wtl_heap *h, void *p, size_t bytes);

/* wtl_heap_alloc of a block that is to replace the live block `old`: that one's bytes do not count as live. The caller
 * frees it next. */
void *wtl_heap_alloc_instead(wtl_heap *h, const void *old, size_t bytes);

/* A mark on the live block that begins at `p`, for the caller; wtl_heap_is_marked: false if there is none. */
void wtl_heap_mark(wtl_heap *h, const void *p);
bool wtl_heap_is_marked(const wtl_heap *h, const void *p);

/* The size asked for; 0 if `p` is not the start of a live block. */
size_t wtl_heap_size(const wtl_heap *h, const void *p);

/* The room that `p` has already; 0 if `p` is not the start of a live block. */
size_t wtl_heap_capacity(const wtl_heap *h, const void *p);

/* Bytes the allocator could still give out in all. */
size_t wtl_heap_free_bytes(const wtl_heap *h);

/* The engine: heap_engine.cc. */
void *wtl_best_fit_start(void *start, size_t bytes);
void *wtl_best_fit_alloc(void *engine, size_t bytes, size_t align);
size_t wtl_best_fit_grow(void *engine, void *p, size_t bytes); /* in place: the room that it has now, or 0 */
size_t wtl_best_fit_shrink(void *engine, void *p, size_t bytes, size_t room); /* in place: the room that is left */
void wtl_best_fit_free(void *engine, void *p);
size_t wtl_best_fit_free_bytes(const void *engine);

#ifdef __cplusplus
}
#endif

#endif
