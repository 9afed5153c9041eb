#include "shmem/memory.h"

#include "shmem.h"

static uint64_t offset_of(const wtl_pe *self, const void *p)
{
  return p ? (uint64_t)((const char *)p - self->heap) + 1 : 0;
}

/* A barrier at which, where checks are on, all PEs must have asked for the same bytes and named the same block. */
static void agree(wtl_frame *f, const void *p, size_t bytes)
{
  wtl_pe *self = f->self;
  uint64_t offset = offset_of(self, p);
  wtl_quiet(self, f->site);
  if (!self->check) {
    wtl_barrier(self, f->site);
    return;
  }
  wtl_barrier_saying(self, f->site, bytes, offset);
  for (int slot = 0; slot < self->n_local; slot++) { /* each node for itself */
    int pe = self->boot.local_pe[slot];
    const uint64_t *said = wtl_said(self, pe);
    if (said[0] == bytes && said[1] == offset) continue;
    wtl_pe_fail(
        WTL_EXIT_USAGE,
        "%s: PEs do not ask alike: %zu bytes (heap offset %lld) here, %llu bytes (heap offset %lld) on PE %d; the heap "
        "stays symmetric only if all PEs make the same calls in the same order",
        wtl_call_name(f->call), bytes, (long long)offset - 1, (unsigned long long)said[0], (long long)said[1] - 1, pe);
  }
}

static void warn_exhausted(const wtl_frame *f, size_t bytes)
{
  const wtl_pe *self = f->self;
  wtl_say("%s: no room for %zu bytes in the symmetric heap: %zu of %zu bytes are in use, %zu are free in pieces; the "
          "call returns NULL (raise "
          "SHMEM_SYMMETRIC_SIZE)",
          wtl_call_name(f->call), bytes, self->mem.live_bytes, self->mem.bytes, wtl_heap_room(&self->mem));
}

void *wtl_shmem_alloc(wtl_frame *f, size_t bytes, size_t align, bool zero)
{
  void *p = NULL;
  if (align) {
    wtl_check_that(f, (align & (align - 1)) == 0 && align % sizeof(void *) == 0 && align <= WTL_SLICE_ALIGN,
                   "alignment", (long long)align, "powers of two from 8 to 16777216");
  }
  if (bytes) {
    p = wtl_heap_alloc(&f->self->mem, bytes, align);
    if (!p)
      warn_exhausted(f, bytes);
    else if (zero)
      memset(p, 0, bytes);
  }
  agree(f, p, bytes);
  return p;
}

static void refuse_foreign(wtl_frame *f, const void *p)
{
  wtl_pe_fail(
      WTL_EXIT_USAGE,
      "%s: ptr=%p is not the start of a live block of the symmetric heap (freed twice, or not from shmem_malloc)",
      wtl_call_name(f->call), p);
}

/*
 * The block that `old` becomes, or NULL. It moves where it must grow, and where that frees at least half of it; where
 * there is no room to move to, a block that shrinks stays.
 */
static void *resized(wtl_heap *mem, void *old, size_t before, size_t bytes)
{
  void *p;
  if (bytes > wtl_heap_capacity(mem, old) / 2 && wtl_heap_resize(mem, old, bytes) == 0) return old;
  p = wtl_heap_alloc(mem, bytes, 0);
  if (!p) return wtl_heap_resize(mem, old, bytes) == 0 ? old : NULL;
  memcpy(p, old, before < bytes ? before : bytes);
  wtl_heap_free(mem, old);
  return p;
}

/* Two barriers whatever a PE asks for, so that PEs that do not ask alike meet; nothing is changed before the first. */
void *wtl_shmem_realloc(wtl_frame *f, void *old, size_t bytes)
{
  wtl_heap *mem = &f->self->mem;
  size_t before = wtl_heap_size(mem, old);
  void *p = NULL;
  if (old && !before) refuse_foreign(f, old);
  agree(f, old, bytes); /* and stores of others into the old block are done */
  if (!old)
    p = bytes ? wtl_heap_alloc(mem, bytes, 0) : NULL;
  else if (bytes)
    p = resized(mem, old, before, bytes);
  else
    wtl_heap_free(mem, old);
  if (bytes && !p) warn_exhausted(f, bytes);
  wtl_barrier(f->self, f->site); /* all have the new block */
  return p;
}

void wtl_shmem_free(wtl_frame *f, void *p)
{
  if (f->self->check && p && !wtl_heap_size(&f->self->mem, p)) refuse_foreign(f, p);
  agree(f, p, 0); /* and nobody still uses it */
  if (p) wtl_heap_free(&f->self->mem, p);
}

_Static_assert(WTL_THREAD_MULTIPLE == SHMEM_THREAD_MULTIPLE, "one numbering of thread levels");

int wtl_init_thread(int requested, int *provided)
{
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) return 1;
  wtl_pe_start(requested, WTL_FRONT_FIRST, wtl_shmem_calls);
  *provided = wtl_self->thread_level;
  return 0;
}
