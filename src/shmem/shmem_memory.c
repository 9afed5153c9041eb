/* shmem_memory.c - allocates and frees symmetric memory, and checks that all PEs make the same calls. */
#include "shmem/shmem_memory.h"

#include <stdatomic.h>

#include "shmem.h"
#include "shmem/collective_check.h"
#include "team/barrier.h"
#include "team/wait_until.h"
#include "collective/collective.h"
#include "job/job.h"

void *wtl_shmem_ptr(const wtl_pe *self, const void *dest, int pe)
{
  if (pe < 0 || pe >= self->n || !wtl_symmetric_bytes(self, dest)) return NULL;
  void *there = wtl_remote(self, dest, pe);
  if (there && pe != self->me) wtl_os_near_address(pe);
  /* the variable's own address, not that of its copy in the arena */
  return there && pe == self->me ? (void *)(uintptr_t)dest : there;
}

static uint64_t offset_of(const wtl_pe *self, const void *p)
{
  return p ? (uint64_t)((const char *)p - self->heap) + 1 : 0;
}

/* The numbers that each PE contributes: its bytes and its block, and their complements, whose largest value belongs
 * to the smallest number. */
enum { MOST_BYTES, LEAST_BYTES, MOST_OFFSET, LEAST_OFFSET, WORDS };

/* Finds a PE that contributed `most`, and one that contributed `least`. Collective. */
static void find_pes(wtl_frame *f, uint64_t mine, uint64_t most, uint64_t least, int pes[2])
{
  const uint64_t me = (uint64_t)f->self->me;
  uint64_t words[] = {mine == most ? me : 0, mine == least ? me : 0};
  wtl_collective_max(f->self, f->site, words, 2);
  pes[0] = (int)words[0];
  pes[1] = (int)words[1];
}

static void refuse_other_block(wtl_frame *f, size_t bytes, uint64_t offset, uint64_t most, uint64_t least)
{
  int pes[2];
  find_pes(f, offset, most, least, pes);
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: PEs make different calls: heap offset %lld (%zu bytes) here, heap offset %lld on PE %d; all PEs "
              "must make the "
              "same calls in the same order",
              wtl_shmem_call_here(f->call), (long long)offset - 1, bytes,
              (long long)(offset == most ? least : most) - 1, pes[offset == most]);
}

static void warn_of_sizes(wtl_frame *f, size_t bytes, uint64_t most, uint64_t least)
{
  wtl_heap *mem = &f->self->mem;
  int pes[2];
  if (mem->sizes_differed) return;
  mem->sizes_differed = true;
  find_pes(f, bytes, most, least, pes);
  if (f->self->check && f->self->me == pes[0])
    wtl_message_print(
        "%s: PEs request different sizes, %llu bytes on PE %d and %llu on PE %d; all get the larger one; this is "
        "reported once",
        wtl_shmem_call_name(f->call), (unsigned long long)most, pes[0], (unsigned long long)least, pes[1]);
}

/*
 * A barrier at which all PEs must name the same block (NULL: none). Returns the largest number of bytes that a PE asks
 * for. So the heaps stay equal even if a program asks for different sizes.
 */
static size_t agree(wtl_frame *f, const void *p, size_t bytes)
{
  uint64_t offset = offset_of(f->self, p), words[WORDS] = {bytes, ~(uint64_t)bytes, offset, ~offset};
  wtl_quiet(f->self, f->site);
  if (WTL_UNLIKELY(f->self->compares))
    wtl_shmem_compare_collective(f->self, f->site, f->call, f->self->world, &(wtl_shmem_collective_arguments){0});
  wtl_collective_max(f->self, f->site, words, WORDS);
  uint64_t most = words[MOST_BYTES], least = ~words[LEAST_BYTES];
  if (f->self->check && words[MOST_OFFSET] != ~words[LEAST_OFFSET])
    refuse_other_block(f, bytes, offset, words[MOST_OFFSET], ~words[LEAST_OFFSET]);
  if (most != least) warn_of_sizes(f, bytes, most, least);
  return most;
}

static void warn_exhausted(const wtl_frame *f, size_t bytes)
{
  const wtl_pe *self = f->self;
  wtl_message_print("%s: no space for %zu bytes in the symmetric heap: %zu of %zu bytes are in use, and the %zu that "
                    "are free are not "
                    "in one block; the call returns NULL (raise SHMEM_SYMMETRIC_SIZE)",
                    wtl_shmem_call_name(f->call), bytes, self->mem.live_bytes, self->mem.bytes,
                    wtl_heap_free_bytes(&self->mem));
}

/* Programs may probe which alignments are allowed, so only the first refusal is reported. */
static void warn_of_alignment(const wtl_frame *f, size_t align)
{
  static atomic_flag reported = ATOMIC_FLAG_INIT;
  if (!f->self->check || atomic_flag_test_and_set(&reported)) return;
  wtl_message_print("%s: alignment=%zu is not valid here; allowed: powers of two up to %zu; the call returns NULL; "
                    "this is reported once",
                    wtl_shmem_call_here(f->call), align, (size_t)WTL_SLICE_ALIGN);
}

void *wtl_shmem_align(wtl_frame *f, size_t align, size_t bytes)
{
  bool good = align && (align & (align - 1)) == 0 && align <= WTL_SLICE_ALIGN;
  if (!good) warn_of_alignment(f, align);
  return good ? wtl_shmem_alloc(f, bytes, align, false) : NULL;
}

void *wtl_shmem_alloc(wtl_frame *f, size_t bytes, size_t align, bool zero)
{
  void *p = NULL;
  if (!bytes) return NULL; /* nothing is done, so no PE waits */
  bytes = agree(f, NULL, bytes);
  p = wtl_heap_alloc(&f->self->mem, bytes, align);
  if (!p) warn_exhausted(f, bytes);
  if (p && zero) memset(p, 0, bytes);
  /* After this barrier all PEs have the block. Until then other PEs must not write to it, because the heap keeps its
   * own data in free blocks. */
  wtl_barrier(f->self, f->site);
  return p;
}

static void refuse_foreign(wtl_frame *f, const void *p)
{
  wtl_pe_fail(
      WTL_EXIT_USAGE,
      "%s: ptr=%p is not the start of a live block of the symmetric heap (freed twice, or not from shmem_malloc)",
      wtl_shmem_call_here(f->call), p);
}

/*
 * Resizes the block `old` and returns it, or NULL. The block moves if it cannot grow in place, and if moving frees at
 * least half of it. If there is no space to move to, a block that shrinks stays.
 */
static void *resized(wtl_heap *mem, void *old, size_t before, size_t bytes)
{
  void *p;
  if (bytes > wtl_heap_capacity(mem, old) / 2 && wtl_heap_resize(mem, old, bytes) == 0) return old;
  p = wtl_heap_alloc_instead(mem, old, bytes);
  if (!p) return wtl_heap_resize(mem, old, bytes) == 0 ? old : NULL;
  memcpy(p, old, before < bytes ? before : bytes);
  wtl_heap_free(mem, old);
  return p;
}

/* No PE changes its heap before all have published what they ask for. */
void *wtl_shmem_realloc(wtl_frame *f, void *old, size_t bytes)
{
  wtl_heap *mem = &f->self->mem;
  size_t before = wtl_heap_size(mem, old);
  void *p = NULL;
  if (old && !before) refuse_foreign(f, old);
  if (!old && !bytes) return NULL;
  bytes = agree(f, old, bytes); /* after this, stores of other PEs into the old block are complete */
  if (!old)
    p = bytes ? wtl_heap_alloc(mem, bytes, 0) : NULL;
  else if (bytes)
    p = resized(mem, old, before, bytes);
  else
    wtl_heap_free(mem, old);
  if (bytes && !p) warn_exhausted(f, bytes);
  wtl_barrier(f->self, f->site); /* all PEs have the new block */
  return p;
}

void wtl_shmem_free(wtl_frame *f, void *p)
{
  if (!p) return;
  if (f->self->check && !wtl_heap_size(&f->self->mem, p)) refuse_foreign(f, p);
  agree(f, p, 0); /* after this, no PE uses the block */
  wtl_heap_free(&f->self->mem, p);
}

_Static_assert(WTL_THREAD_MULTIPLE == SHMEM_THREAD_MULTIPLE, "one numbering of thread levels");

int wtl_shmem_init_with_threads(int requested, int *provided)
{
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) return 1;
  wtl_job_start(requested, WTL_FRONT_FIRST, wtl_shmem_calls);
  if (wtl_self->check && wtl_self->thread_level < SHMEM_THREAD_SERIALIZED)
    wtl_self->profile.other_thread = wtl_shmem_report_other_thread;
  *provided = wtl_self->thread_level;
  return 0;
}
