/*
 * pe.h - one PE: the context struct on which all state of the runtime hangs.
 *
 * A slice of the arena is | statics | heap |. The PE's own heap is addressed through its slice; its statics are mapped
 * a second time where the program has them. So a symmetric object of a PE of this node is found at
 *
 *     heap object     its own address + (slot - own slot) * stride
 *     static object   slices + slot * stride + (its address - statics.start)
 *
 * A PE of another node has no address here: it is reached through src/fabric by its place, (segment, offset in its
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
#include "node/arena.h"
#include "node/boot.h"
#include "node/statics.h"
#include "os/os.h"
#include "pgas/heap.h"
#include "profile/profile.h"
#include "wait/door.h"

enum { WTL_BARRIER_ROUNDS = 16 }; /* enough for 65,536 PEs of a node, or nodes */

/* What other nodes may reach of a PE. */
enum {
  WTL_SEGMENT_SLICE, /* the network opens it to hardware (WTL_NET_OPEN_SEGMENT) */
  WTL_SEGMENT_BARRIER,
  WTL_SEGMENT_TEAM_ENTRIES,
  WTL_SEGMENT_GLOBAL,
  WTL_SEGMENT_CALL_STATE
};
/* No segment of another PE: an address here, of a constant, which all PEs have alike. */
enum { WTL_SEGMENT_CONSTANTS = WTL_SEGMENT_CALL_STATE + 1 };

/* A cache line that carries what a PE says in a small collective (flat_tree.c), and how many places for such are used by
 * turns (broadcast_binomial.c has as many). */
enum { WTL_SMALL_BYTES = 48, WTL_SMALL_LINES = 32 };
typedef struct wtl_line {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t said; /* in which small collective */
  _Alignas(16) char bytes[WTL_SMALL_BYTES];       /* any type's elements */
} wtl_line;

/* What other PEs may ask of a PE at any time. */
enum { WTL_WHERE_WORDS = 11 };
typedef struct wtl_call_state {
  _Atomic uint64_t where[WTL_WHERE_WORDS]; /* with SHMEM_DEBUG: the collective call that it is in (check/deadlock.c) */
  _Atomic uint32_t closed_at;              /* at the end: the barrier epoch at which it closed its account */
} wtl_call_state;

/* Control data of one PE, in the arena. */
typedef struct wtl_control {
  wtl_bell bell;
  wtl_bell am_bell;                  /* its agent for active messages sleeps by this one (am_agent.h) */
  _Atomic uint64_t am_wish, am_kept; /* whose ring of messages this PE waits for, and is to be rung for (am_head.h) */
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t barrier[WTL_BARRIER_ROUNDS]; /* epoch reached by the PE 2^k before me */
  _Atomic uint32_t node_barrier[WTL_BARRIER_ROUNDS]; /* of a leader: epoch reached by the node 2^k before its own */
  _Alignas(WTL_CACHE_LINE) uint32_t governs;         /* at start: it wants its clock governed (governed.h) */
  int64_t pid;
  double quota;      /* at start: what its cgroup gives it, in cores */
  uint64_t cpus[16]; /* at start: the cores this PE may run on, a bit each */
  _Alignas(WTL_CACHE_LINE) wtl_call_state call_state;
  wtl_line small[WTL_SMALL_LINES];
} wtl_control;

/* Control data of the node, in the arena. */
typedef struct wtl_shared {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t arrived;
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t epoch;
  _Alignas(WTL_CACHE_LINE) size_t n_domains; /* at the end: the meter's domains */
} wtl_shared;

/* Where the PEs' global memory (global/global.h) lies: of a PE of this node at slices + slot * stride, and start[pe] is
 * where PE `pe` has its own, at its own address. All NULL before there is any. */
typedef struct wtl_global_map {
  char *slices;
  size_t stride;
  char **start;
} wtl_global_map;

/* Of other entries, which alone know what they are. */
typedef struct wtl_net wtl_net;
typedef struct wtl_net_flow wtl_net_flow;
typedef struct wtl_agent wtl_agent;
typedef struct wtl_clocks wtl_clocks;
typedef struct wtl_transfers wtl_transfers;
typedef struct wtl_ctx wtl_ctx; /* team/context.h */
typedef struct wtl_team wtl_team;
typedef struct wtl_pe wtl_pe;

struct wtl_pe {
  /* What every call reads, in one or two cache lines. */
  char *heap;        /* of this PE */
  size_t heap_bytes; /* its addresses: wtl_heap_span of what the setting says */
  char *statics;
  size_t statics_bytes;
  char *slices;
  size_t stride;
  char *rings;        /* of active messages (am.h) */
  char *controls;     /* n_local blocks of sizeof(wtl_control) */
  const int *slot_of; /* by PE; -1: on another node */
  int me, n, slot, n_local;
  bool check, compares;  /* arguments; what the PEs of a collective pass */
  const char *constants; /* of the program (statics.h) */
  size_t constants_bytes;
  wtl_profile profile;
  /* The rest. */
  char *
      entries; /* by entry, and in each by slot: a page table of a PE that looks into all PEs' entries of one team is short */
  wtl_team *world, *teams; /* WTL_MOST_TEAMS by entry (team/team_entry.h), the world and the node's among them */
  _Atomic uint64_t entries_taken, splits; /* splits: the entries of teams that threads of this PE are splitting */
  _Atomic bool is_choosing;               /* one of these chooses entries now */
  _Atomic(wtl_ctx *) ctxs;                /* WTL_MOST_CTXS; NULL before the first */
  _Atomic uint32_t turns;                 /* so that waits on any of many variables favour none */
  wtl_shared *shared;
  struct wtl_account *accounts; /* by slot, in the arena: job/account.h */
  wtl_door door;
  struct wtl_votes *votes;  /* in the arena: for the governor */
  wtl_clocks *clocks;       /* NULL where nothing is governed */
  wtl_transfers *transfers; /* how ARMCI's to other nodes are waited for; NULL: as all else */
  bool *apart;              /* by slot: whether that PE shares none of this one's cores */
  bool central_barrier;
  int collectives; /* enum wtl_collectives (collective.h): what the setting allows */
  wtl_heap mem;
  _Atomic int init_count;
  int thread_level;       /* from WTL_THREAD_MULTIPLE on several threads may call at once */
  bool threads_anywhere;  /* they may on a PE of the job; all PEs know the same */
  _Atomic bool said_late; /* that a PE may only be late (check/deadlock.h) */
  struct wtl_record *record;
  long starter_pid;
  wtl_settings settings;
  wtl_boot boot;
  wtl_arena arena;
  wtl_net *net; /* NULL where all PEs are on this node */
  wtl_agent *agent;
  struct wtl_am *am;         /* active messages (am.h) */
  struct wtl_global *global; /* memory that each PE allocates for itself (global.h); NULL before it is wanted */
  wtl_global_map global_map;
  struct wtl_tagged_queue *posted;         /* messages with a tag (tagged.h), likewise */
  void *front;                             /* of a front end that needs a state of its own, */
  void (*stop_front)(struct wtl_pe *self); /* ... which this ends, before the PE ends. Collective */
  struct wtl_meter *meter;                 /* the node's reader has it; the others NULL */
};

enum { WTL_SCRATCH_BYTES = 65536, WTL_THREAD_MULTIPLE = 3 };

/* The calling PE; NULL: there is none. A front end in a library of its own sees it by another name (os/os.h). */
#ifdef WTL_FRONT_OUTSIDE
#define wtl_self wtl_self_seen
extern WTL_OS_OF_PE wtl_pe *wtl_self;
#else
extern WTL_OS_OF_PE wtl_pe *wtl_self __attribute__((visibility("hidden")));
#endif

/* The calling thread, one of the runtime's, acts for this PE. */
static inline void wtl_pe_enter(wtl_pe *self)
{
  if (WTL_OS_PES_ARE_THREADS) wtl_self = self;
}

/* Why wtl_self is NULL. */
enum wtl_absence {
  WTL_PE_NOT_STARTED,
  WTL_PE_ENDED,
  WTL_PE_FORKED /* in a child of the process that is a PE */
};

/* From now on there is no PE here. `call`: the call that ended it, where that is not the front end's own; else NULL. */
void wtl_pe_vanish(enum wtl_absence why, const char *call);
bool wtl_pe_is_over(void);
bool wtl_pe_was_ended_by_another_call(void);

/* Says in `text` why wtl_self is NULL: "before BEGIN", "after END" or "in a forked child"; names of a front end's calls. */
void wtl_pe_why_none(char *text, size_t size, const char *begin, const char *end);

/* Writes out the text that the program has in its streams, unless another thread uses them. */
void wtl_pe_flush_output(void);

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

static inline bool wtl_pe_is_constant(const wtl_pe *self, const void *addr)
{
  return (size_t)((const char *)addr - self->constants) < self->constants_bytes;
}

/* wtl_remote of what is only read: a constant of the program is read here, also for a PE of this node. */
static inline const char *wtl_remote_source(const wtl_pe *self, const void *addr, int pe)
{
  const char *there = wtl_remote(self, addr, pe);
  return WTL_UNLIKELY(!there) && self->slot_of[pe] >= 0 && wtl_pe_is_constant(self, addr) ? addr : there;
}

/* The name that this PE's program has for a place of its own slice. */
static inline char *wtl_own_name(const wtl_pe *self, size_t offset)
{
  return offset < self->statics_bytes ? self->statics + offset : self->heap + (offset - self->statics_bytes);
}

/* Bytes from `addr` to the end of the symmetric segment that holds it; 0 if none does. The heap ends where its highest
 * block ever did. */
static inline size_t wtl_symmetric_bytes(const wtl_pe *self, const void *addr)
{
  size_t at = (size_t)((const char *)addr - self->heap), reach = __atomic_load_n(&self->mem.reach, __ATOMIC_RELAXED);
  if (WTL_LIKELY(at < reach)) return reach - at;
  at = (size_t)((const char *)addr - self->statics);
  return at < self->statics_bytes ? self->statics_bytes - at : 0;
}

/* Likewise of what is only read, of which the program's constants are a part. */
static inline size_t wtl_readable_bytes(const wtl_pe *self, const void *addr)
{
  size_t entry = wtl_symmetric_bytes(self, addr);
  if (WTL_UNLIKELY(!entry) && wtl_pe_is_constant(self, addr))
    entry = self->constants_bytes - (size_t)((const char *)addr - self->constants);
  return entry;
}

/* Says what is wrong and ends the whole job with `status`. */
void wtl_pe_fail(int status, const char *format, ...) __attribute__((noreturn, cold, format(printf, 2, 3)));

#endif
