/*
 * heap.h - the allocator of the symmetric heap: Boost.Interprocess's best-fit tree over the heap of this PE's slice.
 *
 * PEs that make the same requests in the same order get the same offsets, for nothing else influences the allocator.
 * The table of live blocks is kept outside the heap. So a free of a wrong address is detected and changes nothing.
 *
 * Blocks of many sizes leave gaps. An aligned block leaves up to its alignment unused before it, and the smallest block
 * takes 48 bytes. So a heap has more than twice as many addresses as bytes to allocate. Unused addresses take no
 * memory, and a request within the heap's size does not fail because of gaps.
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
  size_t bytes;        /* the most that may be live at a time */
  size_t live_bytes;   /* allocated and not freed */
  size_t reach;        /* from its start to the end of the highest block so far */
  bool sizes_differed; /* PEs asked for different sizes, and a message was printed */
} wtl_heap;

/* The size of a heap for which `asked` bytes were set. No heap is smaller than 64 KiB. */
static inline size_t wtl_heap_at_least(size_t asked)
{
  return asked > WTL_HEAP_LEAST ? asked : WTL_HEAP_LEAST;
}

/* The addresses of a heap of `bytes`. A block that is aligned to its own size needs twice that size. The constant is
 * enough for ten thousand blocks of a few bytes in the smallest heap. */
static inline size_t wtl_heap_span(size_t bytes)
{
  return 2 * bytes + ((size_t)1 << 20);
}

/* A heap of `bytes`, at least WTL_HEAP_LEAST, in the wtl_heap_span(bytes) at `start`, which is aligned to a page. */
void wtl_heap_start(wtl_heap *h, void *start, size_t bytes);
void wtl_heap_stop(wtl_heap *h);

/* `align` is a power of two. NULL: there is no space. */
void *wtl_heap_alloc(wtl_heap *h, size_t bytes, size_t align);

/* Returns 0, or -1 if `p` is not the start of a live block; then nothing changes. */
int wtl_heap_free(wtl_heap *h, void *p);

/*
 * Changes the size of block `p` to `bytes` (not 0) without moving it. Bytes that it no longer needs become free.
 * Returns 0. Returns -1 and changes nothing if `p` is not the start of a live block, or if the free space behind it is
 * too small.
 */
int wtl_heap_resize(wtl_heap *h, void *p, size_t bytes);

/* Allocates a block that replaces the live block `old`: the bytes of `old` do not count as live. The caller frees `old`
 * next. */
void *wtl_heap_alloc_instead(wtl_heap *h, const void *old, size_t bytes);

/* Marks the live block that begins at `p`, for the caller's use. _is_marked is false if there is no such block. */
void wtl_heap_mark(wtl_heap *h, const void *p);
bool wtl_heap_is_marked(const wtl_heap *h, const void *p);

/* The size asked for; 0 if `p` is not the start of a live block. */
size_t wtl_heap_size(const wtl_heap *h, const void *p);

/* The bytes that `p` can use without growing; 0 if `p` is not the start of a live block. */
size_t wtl_heap_capacity(const wtl_heap *h, const void *p);

/* The bytes that can still be allocated, in one or several blocks. */
size_t wtl_heap_free_bytes(const wtl_heap *h);

/* The engine: heap_engine.cc. */
void *wtl_best_fit_start(void *start, size_t bytes);
void *wtl_best_fit_alloc(void *engine, size_t bytes, size_t align);
size_t wtl_best_fit_grow(void *engine, void *p, size_t bytes);                    /* in place: its new size, or 0 */
size_t wtl_best_fit_shrink(void *engine, void *p, size_t bytes, size_t capacity); /* in place: its new size */
void wtl_best_fit_free(void *engine, void *p);
size_t wtl_best_fit_free_bytes(const void *engine);

#ifdef __cplusplus
}
#endif

#endif
