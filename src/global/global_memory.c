/* global_memory.c - starts and stops global memory, and allocates and frees its blocks. */
#include "global/global_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "collective/collective.h"
#include "global/accumulate.h"
#include "global/block_table.h"
#include "global/packed.h"
#include "os/os.h"
#include "team/barrier.h"

/* Chosen as WTL_HEAP_OWN (job.c), and below its address range. */
#define WTL_GLOBAL_NEAR ((uintptr_t)1 << 45)

enum { ALIGN = 64 };

static void need_memory(const void *p)
{
  if (!p) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to set up global memory");
}

/* --- start and end ------------------------------------------------------------------------------------------------ */

static void share_memory(wtl_pe *self, wtl_global *g)
{
  char error[1024];
  wtl_arena_shape shape = {.name = "global", .setting = "WATTLE_GLOBAL_SIZE", .per_pe_bytes = wtl_acc_locks_bytes()};
  int rc;
  shape.slice_bytes = g->bytes;
  shape.heap_bytes = g->bytes;
#if UINTPTR_MAX > UINT32_MAX
  if (!WTL_OS_PES_ARE_THREADS) shape.near = WTL_GLOBAL_NEAR;
#endif
  if ((rc = wtl_arena_start(&g->arena, &self->boot, &shape, error, sizeof error)) != 0)
    wtl_pe_fail(rc, "global memory: %s", error);
  self->global_map = (wtl_global_map){.slices = g->arena.slices, .stride = g->arena.stride};
  g->locks = g->arena.per_pe;
}

/* Exchanges the address at which each PE's memory begins. */
static void exchange_starts(wtl_pe *self, wtl_site *site, wtl_global *g)
{
  char *mine = wtl_global_own(self), **start;
  for (int i = 0; i < 2; i++) need_memory(g->bounce[i] = wtl_heap_alloc(&self->mem, WTL_BOUNCE_BYTES, ALIGN));
  need_memory(start = self->global_map.start = calloc((size_t)self->n, sizeof *start));
  if ((size_t)self->n * sizeof mine > WTL_BOUNCE_BYTES)
    wtl_pe_fail(WTL_EXIT_UNAVAILABLE, "global memory: the job has %d PEs, and at most %zu are supported", self->n,
                WTL_BOUNCE_BYTES / sizeof mine);
  memcpy(g->bounce[0], &mine, sizeof mine);
  wtl_fcollect(&(wtl_collective){self, site, self->world, g->bounce[1], g->bounce[0], .n = 1, .size = sizeof mine});
  memcpy(start, g->bounce[1], (size_t)self->n * sizeof mine);
  wtl_barrier(self, site);
}

void wtl_global_start(wtl_pe *self, wtl_site *site)
{
  wtl_global *g = self->global;
  if (g) return;
  need_memory(g = calloc(1, sizeof *g));
  size_t bytes = wtl_page_up(wtl_heap_at_least(self->settings.global_size.bytes));
  g->bytes = wtl_page_up(wtl_heap_span(bytes));
  pthread_mutex_init(&g->lock, NULL);
  share_memory(self, g);
  wtl_heap_start(&g->heap, wtl_global_own(self), bytes);
  if (self->compares) wtl_blocks_start(self, g);
  exchange_starts(self, site, g);
  if (self->net) {
    need_memory((void *)(g->packed = calloc((size_t)self->n, sizeof *g->packed)));
    need_memory((void *)(g->completed = calloc((size_t)self->n, sizeof *g->completed)));
    need_memory((void *)(g->ordered = calloc((size_t)self->n, sizeof *g->ordered)));
  }
  self->global = g;
  if (self->net) wtl_packed_start(self);
  wtl_barrier(self, site); /* no PE sends before all can serve requests */
}

void wtl_global_stop(wtl_pe *self)
{
  wtl_global *g = self->global;
  if (!g) return;
  self->global = NULL;
  wtl_arena_stop(&g->arena);
  wtl_blocks_stop(g);
  wtl_heap_stop(&g->heap);
  pthread_mutex_destroy(&g->lock);
  free((void *)g->packed);
  free((void *)g->completed);
  free((void *)g->ordered);
  free(g->reply_buffer);
  free(self->global_map.start);
  self->global_map = (wtl_global_map){0};
  free(g);
}

/* --- allocation --------------------------------------------------------------------------------------------------- */

void *wtl_global_alloc(wtl_pe *self, size_t bytes)
{
  wtl_global *g = self->global;
  pthread_mutex_lock(&g->lock);
  void *p = wtl_heap_alloc(&g->heap, bytes, ALIGN);
  if (p && g->blocks) wtl_blocks_add(g, p, bytes);
  pthread_mutex_unlock(&g->lock);
  return p;
}

void wtl_global_mark_shared(wtl_pe *self, const void *p)
{
  wtl_global *g = self->global;
  pthread_mutex_lock(&g->lock);
  wtl_heap_mark(&g->heap, p);
  pthread_mutex_unlock(&g->lock);
}

bool wtl_global_is_shared(wtl_pe *self, const void *p)
{
  wtl_global *g = self->global;
  pthread_mutex_lock(&g->lock);
  bool is = wtl_heap_is_marked(&g->heap, p);
  pthread_mutex_unlock(&g->lock);
  return is;
}

int wtl_global_free(wtl_pe *self, void *p)
{
  wtl_global *g = self->global;
  pthread_mutex_lock(&g->lock);
  int rc = wtl_heap_free(&g->heap, p);
  if (rc == 0 && g->blocks) wtl_blocks_remove(g, p);
  pthread_mutex_unlock(&g->lock);
  return rc;
}
