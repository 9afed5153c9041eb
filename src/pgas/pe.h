/*
 * pe.h - one PE: the context struct that holds all state of the runtime.
 *
 * A slice of the arena is | statics | heap |. The PE's own heap is addressed through its slice. Its statics are mapped
 * a second time at the addresses that the program has for them. So a symmetric object of a PE of this node is found at
 *
 *     heap object     its own address + (slot - own slot) * stride
 *     static object   slices + slot * stride + (its address - statics.start)
 *
 * A PE of another node has no address here. It is reached through src/fabric by its place: a segment, and an offset in
 * it.
 *
 * A process has one PE and finds it through one pointer. In the threads build each thread is a PE and has its own
 * pointer.
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

/* The segments of a PE that other nodes may access. */
enum {
  WTL_SEGMENT_SLICE, /* the network opens these two to hardware (WTL_NET_OPEN_SEGMENTS) */
  WTL_SEGMENT_GLOBAL,
  WTL_SEGMENT_BARRIER,
  WTL_SEGMENT_TEAM_ENTRIES,
  WTL_SEGMENT_CALL_STATE
};
/* Not a segment of another PE: the offset is an address in this process, of a constant that is the same on all PEs. */
enum { WTL_SEGMENT_CONSTANTS = WTL_SEGMENT_CALL_STATE + 1 };

/* A cache line with the bytes that a PE publishes in a small collective (flat_tree.c), and the number of such lines,
 * which are used in rotation (also in broadcast_binomial.c). */
enum { WTL_SMALL_BYTES = 48, WTL_SMALL_LINES = 32 };
typedef struct wtl_line {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t epoch_of_bytes; /* the number of the small collective */
  _Alignas(16) char bytes[WTL_SMALL_BYTES];                 /* aligned for the elements of any type */
} wtl_line;

/* The data that other PEs may read at any time. */
enum { WTL_WHERE_WORDS = 11 };
typedef struct wtl_call_state {
  /* with SHMEM_DEBUG: the collective call that the PE is in (check/deadlock.c) */
  _Atomic uint64_t where[WTL_WHERE_WORDS];
  _Atomic uint32_t closed_at; /* at the end: the barrier epoch at which it closed its account */
} wtl_call_state;

/* Control data of one PE, in the arena. */
typedef struct wtl_control {
  wtl_bell bell;
  wtl_bell am_bell; /* its agent for active messages sleeps by this one (am_agent.h) */
  /* the position of a message ring that this PE waits for: in a wait, and for pending replies (am_space.h) */
  _Atomic uint64_t am_awaited, am_reply_awaited;
  /* epoch reached by the PE 2^k before this one */
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t barrier[WTL_BARRIER_ROUNDS];
  _Atomic uint32_t node_barrier[WTL_BARRIER_ROUNDS]; /* of a leader: epoch reached by the node 2^k before its own */
  _Alignas(WTL_CACHE_LINE) uint32_t governs;         /* at start: it wants its clock governed (job/pe_governor.h) */
  int64_t pid;
  uint64_t pid_namespace; /* at start (node/process.h) */
  double quota;           /* at start: the quota of its cgroup, in cores */
  uint64_t cpus[16];      /* at start: the cores on which this PE may run, one bit each */
  _Alignas(WTL_CACHE_LINE) wtl_call_state call_state;
  wtl_line small[WTL_SMALL_LINES];
} wtl_control;

/* Control data of the node, in the arena. */
typedef struct wtl_shared {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t arrived;
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t epoch;
  wtl_sleep_notice notice;
  _Alignas(WTL_CACHE_LINE) size_t n_domains; /* at the end: the domains of the meter */
} wtl_shared;

/* The addresses of the PEs' global memory (global/global.h): slices + slot * stride for a PE of this node, and
 * start[pe] in PE `pe` itself. All NULL before the first allocation. */
typedef struct wtl_global_map {
  char *slices;
  size_t stride;
  char **start;
} wtl_global_map;

/* Types of other rooms, which alone know their members. */
typedef struct wtl_net wtl_net;
typedef struct wtl_net_flow wtl_net_flow;
typedef struct wtl_agent wtl_agent;
typedef struct wtl_clocks wtl_clocks;
typedef struct wtl_transfers wtl_transfers;
typedef struct wtl_ctx wtl_ctx; /* team/context.h */
typedef struct wtl_team wtl_team;
typedef struct wtl_pe wtl_pe;

struct wtl_pe {
  /* The fields that every call reads, in one or two cache lines. */
  char *heap;        /* of this PE */
  size_t heap_bytes; /* of addresses: wtl_heap_span of the setting */
  char *statics;
  size_t statics_bytes;
  char *slices;
  size_t stride;
  wtl_sleep_notice *notice; /* PEs of the node may be asleep */
  char *controls;           /* n_local blocks of sizeof(wtl_control) */
  const int *slot_of;       /* by PE; -1: on another node */
  int me, n, slot, n_local;
  bool check, compares;  /* checks arguments; compares the arguments of the PEs of a collective */
  const char *constants; /* of the program (node/statics.h) */
  size_t constants_bytes;
  wtl_profile profile;
  /* The other fields. */
  char *rings;             /* of active messages (am_ring.h) */
  char *entries;           /* by team entry, then by slot: so the entries of one team lie on few pages */
  wtl_team *world, *teams; /* WTL_MOST_TEAMS by entry (team/team_entry.h); include the world and the node */
  _Atomic uint64_t entries_taken, splits; /* splits: the entries of teams that threads of this PE are splitting */
  _Atomic bool is_choosing;               /* one of these threads chooses entries now */
  _Atomic(wtl_ctx *) ctxs;                /* WTL_MOST_CTXS; NULL before the first */
  _Atomic uint32_t turns;                 /* rotates the start of waits for any of several variables */
  wtl_shared *shared;
  struct wtl_account *accounts; /* by slot, in the arena: job/account.h */
  wtl_door door;
  _Atomic uint32_t stores_with_notice; /* so far (near.c) */
  _Atomic uint64_t notice_checked;     /* tick at which this PE last tried to withdraw the notice */
  struct wtl_votes *votes;             /* in the arena, for the governor */
  wtl_clocks *clocks;                  /* NULL without a governor and without limits of packages */
  void (*exchange_watts)(wtl_pe *self,
                         wtl_site *site); /* in a collective of all PEs (job/pe_power.c); NULL: no budget */
  wtl_transfers *transfers; /* the policy for waits of ARMCI's transfers to other nodes; NULL: the common one */
  bool *apart;              /* by slot: true if that PE shares no core with this one */
  bool central_barrier;
  int collectives; /* enum wtl_collectives (collective.h): the setting */
  wtl_heap mem;
  _Atomic int init_count;
  int thread_level;           /* from WTL_THREAD_MULTIPLE on several threads may call at once */
  bool threads_anywhere;      /* several threads may call on some PE of the job; the same on all PEs */
  _Atomic bool reported_late; /* reported that a PE may only be late (check/deadlock.h) */
  struct wtl_record *record;
  long starter_pid;
  wtl_settings settings;
  wtl_boot boot;
  wtl_arena arena;
  wtl_net *net; /* NULL if all PEs are on this node */
  wtl_agent *agent;
  struct wtl_am *am;         /* active messages (am.h) */
  struct wtl_global *global; /* memory that each PE allocates for itself (global.h); NULL before the first use */
  wtl_global_map global_map;
  struct wtl_tagged_queue *posted;         /* tagged messages (tagged.h); NULL before the first use */
  void *front;                             /* the state of a front end that needs one */
  void (*stop_front)(struct wtl_pe *self); /* ends `front` before the PE ends. Collective */
  struct wtl_meter *meter; /* of the PE that reads the node's; else NULL. In simulation each PE has one */
};

enum { WTL_SCRATCH_BYTES = 65536, WTL_THREAD_MULTIPLE = 3 };

/* The calling PE, or NULL. A front end in a library of its own sees it under another name (os/os.h). */
#ifdef WTL_FRONT_OUTSIDE
#define wtl_self wtl_self_seen
extern WTL_OS_OF_PE wtl_pe *wtl_self;
#else
extern WTL_OS_OF_PE wtl_pe *wtl_self __attribute__((visibility("hidden")));
#endif

/* Makes the calling thread, which belongs to the runtime, act for this PE. */
static inline void wtl_pe_enter(wtl_pe *self)
{
  if (WTL_OS_PES_ARE_THREADS) wtl_self = self;
}

/* The reason why wtl_self is NULL. */
enum wtl_absence {
  WTL_PE_NOT_STARTED,
  WTL_PE_ENDED,
  WTL_PE_FORKED /* in a child of the process that is a PE */
};

/* Ends the PE of this process. `call` is the call that ended it, or NULL if that is the front end's own. */
void wtl_pe_vanish(enum wtl_absence why, const char *call);
bool wtl_pe_is_over(void);
bool wtl_pe_was_ended_by_another_call(void);

/* Writes to `text` why wtl_self is NULL: "before BEGIN", "after END" or "in a forked child". `begin` and `end` are
 * names of the front end's calls. */
void wtl_pe_why_none(char *text, size_t size, const char *begin, const char *end);

/* Flushes the program's standard output and error, unless another thread uses them. */
void wtl_pe_flush_output(void);

/* The control data of a PE of this node. */
static inline wtl_control *wtl_control_of(const wtl_pe *self, int pe)
{
  return (wtl_control *)(self->controls + (size_t)self->slot_of[pe] * sizeof(wtl_control));
}

/* The address in this process of PE `pe`'s symmetric object at `addr`. NULL if it is not symmetric or the PE is far. */
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

/*
 * Like wtl_remote, for an object that is only read. A constant of the program is read in this process for all near PEs.
 */
static inline const char *wtl_remote_source(const wtl_pe *self, const void *addr, int pe)
{
  const char *there = wtl_remote(self, addr, pe);
  return WTL_UNLIKELY(!there) && self->slot_of[pe] >= 0 && wtl_pe_is_constant(self, addr) ? addr : there;
}

/* The address by which this PE's program knows an offset of its own slice. */
static inline char *wtl_own_name(const wtl_pe *self, size_t offset)
{
  return offset < self->statics_bytes ? self->statics + offset : self->heap + (offset - self->statics_bytes);
}

/* The bytes from `addr` to the end of the symmetric segment that holds it; 0 if none does. The heap ends at the end of
 * its highest block so far. */
static inline __attribute__((always_inline)) size_t wtl_symmetric_bytes(const wtl_pe *self, const void *addr)
{
  size_t at = (size_t)((const char *)addr - self->heap), reach = __atomic_load_n(&self->mem.reach, __ATOMIC_RELAXED);
  if (WTL_LIKELY(at < reach)) return reach - at;
  at = (size_t)((const char *)addr - self->statics);
  return at < self->statics_bytes ? self->statics_bytes - at : 0;
}

/* Does the same for memory that is only read. This includes the program's constants. */
static inline size_t wtl_readable_bytes(const wtl_pe *self, const void *addr)
{
  size_t entry = wtl_symmetric_bytes(self, addr);
  if (WTL_UNLIKELY(!entry) && wtl_pe_is_constant(self, addr))
    entry = self->constants_bytes - (size_t)((const char *)addr - self->constants);
  return entry;
}

/* Prints a message and ends the whole job with `status`. */
void wtl_pe_fail(int status, const char *format, ...) __attribute__((noreturn, cold, format(printf, 2, 3)));

#endif
