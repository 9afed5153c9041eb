/*
 * vote.h - sets the clock of a domain by the votes of the PEs that may run in it: of cores, or of a package's uncore.
 *
 * DESIGN. Each PE publishes in the arena the clock that it wants. A domain runs at the highest clock that any of its
 * PEs wants. So its clock goes down only if all of them agree, and no PE slows down another. A PE that may run in
 * several domains votes in each.
 *
 * A clock is a share of the normal one, in millionths, because domains of unequal cores have unequal clocks.
 *
 * The uncore serves all cores of its package and the bytes that other nodes read and write there. So each PE has a vote
 * of its own for the uncore, and a PE that serves other nodes votes for the normal clock.
 *
 * A PE that changes its vote also sets the clock of the domain. Of two at once only one writes the file. It counts the
 * votes again after the write, so the last vote always takes effect and no PE waits for another.
 */
#ifndef WTL_GOVERN_VOTE_H
#define WTL_GOVERN_VOTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "os/atomic.h"
#include "power/knob/knob.h"

/* Shares of the normal clock. Any value between is allowed. */
enum { WTL_CLOCK_LOWEST = 0, WTL_CLOCK_NORMAL = 1000000, WTL_CLOCK_HIGHEST = 100000000 };

enum { WTL_MAX_CLOCK_DOMAINS = 512, WTL_MAX_PACKAGES = 32 }; /* of a node's PEs; with more there is no governor */

/* The vote of one PE, in the arena. */
typedef struct wtl_ballot {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t want; /* share of the normal clock */
  _Atomic uint32_t serve;                         /* the same for the thread that serves other nodes */
  _Atomic uint32_t uncore;                        /* the same for the clock of the uncore */
  _Atomic uint32_t boost;                         /* the share that other PEs want for it while it computes ... */
  _Atomic uint32_t boost_in;                      /* ... in this phase only */
  _Atomic uint32_t phase;                         /* twice the number of its region, plus one after its arrival */
  _Atomic uint32_t late;                          /* it expects that others of its group will wait for it */
  _Atomic uint64_t slack;                         /* ticks that it waited at the end of its last region ... */
  _Atomic uint64_t met;                           /* ... which ended at a barrier of this group (sync_group.h) */
  _Atomic uint64_t meets;                         /* the group at whose barrier it is expected next */
  double planned_ghz; /* in WATTLE_CLOCKS; 0: not named. Written before the governors start, like `pe` */
  int pe;             /* its number in the job */
} wtl_ballot;

/* The clock of a domain, in the arena. */
typedef struct wtl_poll {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t busy; /* a PE writes its files */
  _Atomic uint32_t share;                         /* the share that was set ... */
  _Atomic uint64_t since;                         /* ... and the tick of that */
  _Atomic int error;                              /* errno of a failed write; the domain is left alone afterwards */
  bool claimed;                                   /* by the node's first PE, before the governors start */
} wtl_poll;

enum { WTL_WORST_BITS = 40 };

/* The votes of a node, in the arena, zeroes at the start. */
typedef struct wtl_votes {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t ready; /* the first PE has claimed its domains */
  _Atomic uint32_t arrivals;                       /* a counter for the barrier in wtl_clocks_node */
  _Atomic uint32_t far_waits; /* WTL_WAITS_*: the greatest of all nodes' PEs in their last region, of the world */
  _Atomic uint64_t caused;    /* ticks that clocks have cost: of each instance the greatest loss */
  _Atomic uint64_t worst;     /* the number of the last instance with a loss << WTL_WORST_BITS | its greatest loss */
  double write_s, settle_s;   /* measured: the write, and the time until the core follows */
  wtl_poll poll[WTL_MAX_CLOCK_DOMAINS];
  wtl_poll uncore[WTL_MAX_PACKAGES];
  wtl_ballot ballot[]; /* by local rank */
} wtl_votes;

/* The size of wtl_votes for `n_local` PEs. */
size_t wtl_votes_bytes(int n_local);

typedef struct wtl_vote {
  wtl_knob *knob;
  wtl_votes *votes;
  wtl_poll *poll; /* those of `votes` that belong to the knob's domains */
  int slot, n_local;
  bool normal_is_found; /* the normal clock is the one found, not the base clock */
  size_t n_domains;
  size_t own;               /* the first claimed domain in which this PE may run; n_domains for none */
  uint64_t *member;         /* a row of bits for each domain: the PEs that may run there */
  size_t words;             /* words of a row */
  _Atomic uint64_t changes; /* clocks that this PE has set */
  pthread_mutex_t *setting; /* held while a thread of this PE sets a clock */
  void (*changed)(void *arg, size_t domain, uint32_t khz); /* called after each change; may be NULL */
  void *changed_arg;
} wtl_vote;

/* Of a knob for the uncore the votes are those for it. `cpus`: by local rank, where each PE may run. Returns 0 or an
 * errno. The caller keeps the knob. */
int wtl_vote_start(wtl_vote *v, wtl_knob *knob, wtl_votes *votes, int slot, int n_local, const cpu_set_t *cpus,
                   bool normal_is_found);
void wtl_vote_stop(wtl_vote *v);

/* Votes for `share` at tick `now`. True if this changed a clock. */
bool wtl_vote_cast(wtl_vote *v, uint32_t share, uint64_t now);

/* Votes for the thread of this PE that serves other nodes, independently of its own thread. Called from that thread. */
bool wtl_vote_serve(wtl_vote *v, uint32_t share, uint64_t now);

/* Counts the votes again after this PE has voted by way of another knob. True if this changed a clock. */
bool wtl_vote_follow(wtl_vote *v, uint64_t now);

/* Votes for another PE while that one is in `phase`. */
bool wtl_vote_boost(wtl_vote *v, int slot, uint32_t phase, uint32_t share, uint64_t now);

/* Enters a phase. Votes of other PEs for the phase before become void. */
bool wtl_vote_phase(wtl_vote *v, uint32_t phase, uint64_t now);

/* True if this PE's domain runs at the normal clock. */
static inline bool wtl_vote_is_normal(const wtl_vote *v)
{
  return v->own == v->n_domains ||
         atomic_load_explicit(&v->poll[v->own].share, memory_order_relaxed) == WTL_CLOCK_NORMAL;
}

/* The clock of this PE's domain as a share of its base clock, and the tick since when. 1 at the normal clock, or if the
 * clock is unknown. The first domain counts if the PE may run in several. */
double wtl_vote_clock(const wtl_vote *v, uint64_t *since);

/* The lowest clock at which any of this PE's domains would run for `share`, as a share of the normal clock. */
uint32_t wtl_vote_rounded(const wtl_vote *v, uint32_t share);

/* True if this PE may run in the domain; the domain's normal clock; and the clock at which it runs for `share`. */
bool wtl_vote_is_mine(const wtl_vote *v, size_t domain);
uint32_t wtl_vote_normal_khz(const wtl_vote *v, size_t domain);
uint32_t wtl_vote_khz(const wtl_vote *v, size_t domain, uint32_t share);

#endif
