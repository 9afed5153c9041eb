/*
 * heap_engine.cc - the symmetric heap's engine: Boost.Interprocess's rbtree_best_fit, a tree of free blocks by size
 * that merges neighbours on free. The library is maintained, works inside given memory, and is deterministic
 * (docs/decisions/0002-heap.md).
 */
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <new> // placement

#include "pgas/heap.h"

namespace ipc = boost::interprocess;
typedef ipc::rbtree_best_fit<ipc::null_mutex_family> engine_type;

extern "C" void *wtl_best_fit_start(void *start, size_t bytes)
{
  return ::new (start) engine_type(bytes, 0);
}

extern "C" void *wtl_best_fit_alloc(void *engine, size_t bytes, size_t align)
{
  engine_type *e = static_cast<engine_type *>(engine);
  return align <= 16 ? e->allocate(bytes) : e->allocate_aligned(bytes, align);
}

extern "C" size_t wtl_best_fit_grow(void *engine, void *p, size_t bytes)
{
  char *block = static_cast<char *>(p);
  engine_type::size_type got = bytes;
  return static_cast<engine_type *>(engine)->allocation_command(ipc::expand_fwd | ipc::nothrow_allocation, bytes, got,
                                                                block)
             ? got
             : 0;
}

extern "C" size_t wtl_best_fit_shrink(void *engine, void *p, size_t bytes, size_t size)
{
  char *block = static_cast<char *>(p);
  engine_type::size_type got = bytes < 16 ? 16 : bytes; // the engine subtracts its own words without a check
  return static_cast<engine_type *>(engine)->allocation_command(ipc::shrink_in_place | ipc::nothrow_allocation, size,
                                                                got, block)
             ? got
             : size;
}

extern "C" void wtl_best_fit_free(void *engine, void *p)
{
  static_cast<engine_type *>(engine)->deallocate(p);
}

extern "C" size_t wtl_best_fit_free_bytes(const void *engine)
{
  return static_cast<const engine_type *>(engine)->get_free_memory();
}
