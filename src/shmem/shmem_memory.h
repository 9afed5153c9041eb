/* shmem_memory.h - the collective calls of the symmetric heap, and thread levels. */
#ifndef WTL_SHMEM_SHMEM_MEMORY_H
#define WTL_SHMEM_SHMEM_MEMORY_H

#include "shmem/shmem_front.h"

/*
 * `align` 0: the default. 0 bytes: returns NULL without waiting. All PEs must make the same calls with the same block;
 * otherwise the job ends with a message. If the PEs request different sizes, all get the largest, and this is reported
 * once.
 */
void *wtl_shmem_alloc(wtl_frame *f, size_t bytes, size_t align, bool zero);
void *wtl_shmem_align(wtl_frame *f, size_t align, size_t bytes);
void *wtl_shmem_realloc(wtl_frame *f, void *old, size_t bytes);
void wtl_shmem_free(wtl_frame *f, void *p);

/* The address at which this process accesses `dest` of `pe`, or NULL. For its own PE it is `dest` itself, because
 * programs compare them. */
void *wtl_shmem_ptr(const wtl_pe *self, const void *dest, int pe);

int wtl_shmem_init_with_threads(int requested, int *provided);

#endif
