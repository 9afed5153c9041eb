/*
 * node_memory.cc - gives each node a part of one file, which is mapped once. With a mapping and a descriptor for each
 * node, large jobs would exceed the limits of a process: 65,530 mappings by default, and `ulimit -n`.
 */
#include "sim/node_memory.h"

#include <cstdint>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sim {

namespace {

/* Memory that no node has taken yet. */
struct Region {
  int file = -1;
  char *start = nullptr;
  size_t taken = 0, bytes = 0;
} region;

bool allows_file_of(size_t bytes)
{
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

/* The kernel gives memory only to pages that are touched. */
bool open_region(size_t bytes, size_t align)
{
  int file = allows_file_of(bytes) ? memfd_create("wattle-arena", MFD_CLOEXEC) : -1;
  if (file < 0) return false;
  void *space = ftruncate(file, static_cast<off_t>(bytes)) == 0
                    ? mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                    : MAP_FAILED;
  char *at = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(space) + align - 1) & -align);
  if (space == MAP_FAILED ||
      mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return false;
  }
  region = {file, at, 0, bytes};
  return true;
}

} // namespace

void *node_memory(size_t bytes, size_t align, size_t nodes, int *file, size_t *place)
{
  size_t all;
  if (region.bytes - region.taken < bytes && (__builtin_mul_overflow(bytes, nodes, &all) || !open_region(all, align)))
    return nullptr;
  *file = region.file;
  *place = region.taken;
  region.taken += bytes;
  return region.start + *place;
}

} // namespace sim
