/* sparse_memory.h - reserves memory of which only the touched pages take space. */
#ifndef WTL_OS_SPARSE_MEMORY_H
#define WTL_OS_SPARSE_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/*
 * Returns zeroed private memory of `bytes`; NULL: there is none. The caller gives it back by munmap.
 *
 * calloc would write all of it if it lay among memory that was freed. Without MAP_NORESERVE the kernel might refuse a
 * table whose greatest part is never used.
 */
static inline void *wtl_os_reserve(size_t bytes)
{
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

#endif
