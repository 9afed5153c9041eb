/*
 * pe.h - one PE: the context struct on which all state of the runtime hangs.
 *
 * A slice of the arena is | statics | heap |. The PE's own heap is addressed through its slice; its statics are mapped
 * a second time where the program has them. So the address of a symmetric object on PE p is heap object     its own
 * address + (slot - own slot) * stride static object   slices + slot * stride + (its address - statics.start)
 *
 * A PE of another node has no address here: it is reached through src/fabric by its place, (region, offset in its
 * slice).
 *
 * Processes have one PE, found through one pointer; in the threads build each thread is a PE and has its own.
 */
#ifndef WTL_PGAS_PE_H
#define WTL_PGAS_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "fabric/agent.h"
#include "fabric/net.h"
#include "govern/vote.h"
#include "node/arena.h"
#include "node/boot.h"
#include "node/statics.h"
#include "pgas/heap.h"
#include "power/power.h"
#include "profile/profile.h"
#include "record/record.h"
#include "wait/door.h"

enum { WTL_BARRIER_ROUNDS = 16 }; /* enough for 65,536 PEs of a node, or nodes */

/* What other nodes may reach of a PE. */
enum { WTL_REGION_SLICE = WTL_NET_OPEN_REGION, WTL_REGION_BARRIER };

/* A cache line that carries what a PE says in a small collective (small.c). */
enum { WTL_SMALL_BYTES = 48, WTL_SMALL_LINES = 32 };
typedef struct wtl_line {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t said; /* in which small collective */
  _Alignas(16) char bytes[WTL_SMALL_BYTES];       /* any type's elements */
} wtl_line;

/* Control data of one PE, in the arena. */
typedef struct wtl_control {
  wtl_bell bell;
  wtl_bell am_bell; /* its agent for active messages sleeps by this one (am_agent.h) */
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t barrier[WTL_BARRIER_ROUNDS]; /* epoch reached by the PE 2^k before me */
  _Atomic uint32_t node_barrier[WTL_BARRIER_ROUNDS]; /* of a leader: epoch reached by the node 2^k before its own */
  _Alignas(WTL_CACHE_LINE) uint64_t said[2];         /* what this PE tells the others across a barrier */
  uint32_t governs;                                  /* at start: it wants its clock governed (clocks.h) */
  int64_t pid;
  double quota;               /* at start: what its cgroup gives it, in cores */
  _Atomic uint32_t closed_at; /* at the end: its barrier epoch when it closed */
  uint64_t cpus[16];          /* at start: the cores this PE may run on, a bit each */
  wtl_activity activity;      /* at the end: what this PE did */
  wtl_line small[WTL_SMALL_LINES];
} wtl_control;

/* Control data of the node, in the arena. */
typedef struct wtl_shared {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t arrived;
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t epoch;
  _Alignas(WTL_CACHE_LINE)
      size_t n_domains; /* at the end: the meter's domains; the ledger has an entry for each PE and domain */
  wtl_rates rate[2];    /* at the end; cpu, dram */
} wtl_shared;

typedef struct wtl_clocks wtl_clocks;

typedef struct wtl_pe {
  /* What every call reads, in one or two cache lines. */
  char *heap; /* of this PE */
  size_t heap_bytes;
  char *statics;
  size_t statics_bytes;
  char *slices;
  size_t stride;
  char *rings;        /* of active messages (am.h) */
  char *controls;     /* n_local blocks of sizeof(wtl_control) */
  const int *slot_of; /* by PE; -1: on another node */
  int me, n, slot, n_local;
  bool check;
  wtl_profile profile;
  /* The rest. */
  wtl_shared *shared;
  wattle_joules_t *ledger; /* in the arena: n_local x WTL_MAX_DOMAINS, filled by the reader at the end */
  wtl_door door;
  wtl_votes *votes;   /* in the arena: for clocks.c */
  wtl_clocks *clocks; /* NULL where nothing is governed */
  uint32_t barrier_epoch;
  uint32_t small_epoch,
      small_read; /* small collectives so far; all PEs have read what was said in those up to this one */
  bool central_barrier;
  wtl_heap mem;
  char *scratch;                /* twice WTL_SCRATCH_BYTES, for collectives */
  int init_count, thread_level; /* from WTL_THREAD_MULTIPLE on several threads may call at once */
  wtl_record record;
  long starter_pid;
  wtl_settings settings;
  wtl_boot boot;
  wtl_arena arena;
  wtl_net *net; /* NULL where all PEs are on this node */
  wtl_agent *agent;
  struct wtl_am *am; /* active messages (am.h) */
  wtl_meter *meter;  /* the node's reader has it; the others NULL */
} wtl_pe;

enum { WTL_SCRATCH_BYTES = 65536, WTL_THREAD_MULTIPLE = 3 };

#ifdef WTL_THREADS
extern _Thread_local wtl_pe *wtl_self;
#else
extern wtl_pe *wtl_self __attribute__((visibility("hidden")));
#endif

/* Of a PE of this node. */
static inline wtl_control *wtl_control_of(const wtl_pe *self, int pe)
{
  return (wtl_control *)(self->controls + (size_t)self->slot_of[pe] * sizeof(wtl_control));
}

/* Where PE `pe` keeps the symmetric object at `addr`; NULL if it is not symmetric, or the PE not on this node. */
static inline char *wtl_remote(const wtl_pe *self, const void *addr, int pe)
{
  size_t at = (size_t)((const char *)addr - self->heap);
  int slot = self->slot_of[pe];
  if (WTL_UNLIKELY(slot < 0)) return NULL;
  if (WTL_LIKELY(at < self->heap_bytes))
    return (char *)(uintptr_t)addr + (ptrdiff_t)(slot - self->slot) * (ptrdiff_t)self->stride;
  at = (size_t)((const char *)addr - self->statics);
  if (at < self->statics_bytes) return self->slices + (size_t)slot * self->stride + at;
  return NULL;
}

/* Bytes from `addr` to the end of the symmetric region that holds it; 0 if none does. */
static inline size_t wtl_symmetric_room(const wtl_pe *self, const void *addr)
{
  size_t at = (size_t)((const char *)addr - self->heap);
  if (WTL_LIKELY(at < self->heap_bytes)) return self->heap_bytes - at;
  at = (size_t)((const char *)addr - self->statics);
  return at < self->statics_bytes ? self->statics_bytes - at : 0;
}

/* Starts this PE (collective). `calls`: the front end's table, for the profile. Ends the process with a message if it
 * cannot. Every further call counts up. */
void wtl_pe_start(int thread_level, const wtl_call_info *calls);

/* Ends it at the last of as many calls as there were starts (collective): writes the profile, leaves the job. */
void wtl_pe_stop(void);

/* Ends the whole job with `status`. */
void wtl_pe_exit(int status) __attribute__((noreturn));

/* Says what is wrong and ends the whole job with `status`. */
void wtl_pe_fail(int status, const char *format, ...) __attribute__((noreturn, cold, format(printf, 2, 3)));

#endif
