/*
 * arena.h - the memory the PEs of one node share: one sealed memfd, no name anywhere.
 *
 *   | control: shared, then n_local x per-PE | slice of local rank 0 | slice of local rank 1 | ...
 *                                            |<------ stride ------>|
 *
 * Control data lies contiguous at the front, so that it needs few pages. A slice is sparse: memory is used where it is
 * touched. Inside a process, slice r begins at slices + r * stride. The mapping's address is one of three:
 *
 *   near  the same in all processes of the node: an address names one object, whoever uses it
 *   own   such that each process has its own slice at the same address, where the place is free: an address names each
 *         process's own object. Of n processes, number r has slices r * stride lower than number 0
 *   else  any
 *
 * Created by local rank 0; the others open it through /proc/PID/fd, or, where the kernel forbids that, get it over a
 * socket.
 */
#ifndef WTL_NODE_ARENA_H
#define WTL_NODE_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "node/boot.h"

/* Slices begin at multiples of this in every process, so that an aligned allocation lands at the same offset in all of
 * them. */
enum { WTL_SLICE_ALIGN = 16 << 20 };

/* A longer arena gets any address: so much is free below and above `own`. */
#define WTL_OWN_ROOM ((size_t)1 << 44)

typedef struct wtl_arena {
  char *base; /* the whole mapping */
  size_t length;
  char *shared; /* control data of the node, zeroed at start */
  char *per_pe; /* n_local blocks of per_pe_bytes, zeroed at start */
  size_t per_pe_bytes;
  char *slices;
  size_t stride; /* bytes from one slice to the next */
  const char *setting;
  int fd;
  dev_t device; /* of fd */
  ino_t inode;
  bool owned; /* this PE made the mapping, and unmaps it */
} wtl_arena;

typedef struct wtl_arena_shape {
  size_t shared_bytes, per_pe_bytes, slice_bytes;
  size_t statics_bytes,
      heap_bytes;      /* how much of a slice is the program's variables, and its heap: for messages only */
  uint64_t program;    /* which executable's variables they are (boot.h); 0: any's */
  const char *name;    /* tells it from other arenas of the job */
  const char *setting; /* that chooses its size: for messages */
  uintptr_t near;      /* not 0: at one address in all processes of the node, this one where it is free */
  uintptr_t own;       /* not 0: where this PE's slice is to lie; another place where that is not free */
} wtl_arena_shape;

/*
 * Collective over the node. All PEs must ask for the same shape: where they differ, the error names the PE and the
 * sizes. 0, or an exit code with the reason in `error`.
 */
int wtl_arena_start(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, char *error, size_t size);
void wtl_arena_stop(wtl_arena *a);

#endif
