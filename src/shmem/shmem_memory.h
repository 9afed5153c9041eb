/*
 * shmem_memory.h - the collective calls of the symmetric heap, and thread levels.
 */
#ifndef WTL_SHMEM_SHMEM_MEMORY_H
#define WTL_SHMEM_SHMEM_MEMORY_H

#include "shmem/shmem_front.h"

/*
 * `align` 0: the default. 0 bytes: NULL, and nobody is waited for. All PEs must make the same calls with the same
 * block, else the job ends with a message; where they ask for different sizes all get the largest, and it is said once.
 */
void *wtl_shmem_alloc(wtl_frame *f, size_t bytes, size_t align, bool zero);
void *wtl_shmem_align(wtl_frame *f, size_t align, size_t bytes);
void *wtl_shmem_realloc(wtl_frame *f, void *old, size_t bytes);
void wtl_shmem_free(wtl_frame *f, void *p);

/* Where this process reaches `dest` of `pe`, or NULL. Its own: `dest` itself, which programs compare. */
void *wtl_shmem_ptr(const wtl_pe *self, const void *dest, int pe);

int wtl_shmem_init_with_threads(int requested, int *provided);

#endif
