/*
 * arena.h - the memory that the PEs of one node share: one sealed memfd without a name.
 *
 *   | control: shared, then n_local x per-PE | slice of local rank 0 | slice of local rank 1 | ...
 *                                            |<------ stride ------>|
 *
 * DESIGN. Control data is contiguous at the front, so it needs few pages. A slice is sparse: only pages that are
 * touched use memory. A core file holds none of it but what the heap has allocated. Inside a process, slice r begins
 * at slices + r * stride. The shape selects the address of the mapping:
 *
 *   near  One address in all processes of the node. An address names one object in every process.
 *   own   Each process has its own slice at the same address, if that range is free. An address names an object of each
 *         process's own. The slices of process r lie r * stride lower than those of process 0.
 *   else  Any address.
 *
 * Local rank 0 creates the arena. The other PEs open it through /proc/PID/fd. Where the kernel forbids that, or that
 * process is in another PID namespace, they receive the descriptor over a socket. The seals keep the size fixed, so no
 * process can cut the memory of another one.
 */
#ifndef WTL_NODE_ARENA_H
#define WTL_NODE_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "node/boot.h"

/* Slices begin at multiples of this in every process. So an aligned allocation has the same offset in all of them. */
enum { WTL_SLICE_ALIGN = 16 << 20 };

/* The largest arena that is placed by `own`. Enough address space is free below and above it; a longer arena gets
 * any address. */
#define WTL_LONGEST_PLACED ((size_t)1 << 44)

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
  size_t place; /* of the arena in the file */
  dev_t device; /* of the arena's file: its identity, also where the PEs' process numbers mean nothing to each other */
  ino_t inode;
  bool owned; /* this PE made the mapping and must unmap it */
  bool lent;  /* file and mapping belong to the job (boot.h); `owned`: this PE clears the memory */
} wtl_arena;

typedef struct wtl_arena_shape {
  size_t shared_bytes, per_pe_bytes, slice_bytes;
  size_t statics_bytes, heap_bytes; /* parts of a slice, for messages only */
  uint64_t program;                 /* number of the executable (boot.h); 0: any executable */
  const char *name;                 /* distinguishes the arena from others of the job */
  const char *setting;              /* the setting that chooses the size, for messages */
  uintptr_t near;                   /* not 0: one address in all processes of the node, this one if it is free */
  uintptr_t own;                    /* not 0: the address wanted for this PE's slice, if it is free */
} wtl_arena_shape;

/* Creates or opens the arena; collective over the node. All PEs must pass the same shape. If shapes differ, the
 * error names the PEs and the sizes. Returns 0, or an exit code with the reason in `error`. */
int wtl_arena_start(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, char *error, size_t size);
void wtl_arena_stop(wtl_arena *a);

#endif
