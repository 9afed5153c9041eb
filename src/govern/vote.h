/*
 * vote.h - the clock of a domain by the votes of the PEs that may run on it.
 *
 * Each PE says in the arena which clock it wants. A domain runs at the highest that any of its PEs wants: it goes down
 * only by a full vote, so nobody is slowed by a sibling. A PE that may run in several domains votes in each.
 *
 * A clock is a share of the normal one, in millionths: domains of unlike cores have unlike clocks.
 *
 * Who changes a vote sees to it that the domain follows. Two at once: one writes the file, and looks again when it has,
 * so that the last vote is always the one that holds and nobody waits for the other.
 */
#ifndef WTL_GOVERN_VOTE_H
#define WTL_GOVERN_VOTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/atomic.h"
#include "power/knob.h"

/* Shares of the normal clock. Any other value lies between. */
enum { WTL_CLOCK_LOWEST = 0, WTL_CLOCK_NORMAL = 1000000, WTL_CLOCK_HIGHEST = 100000000 };

enum { WTL_MAX_CLOCK_DOMAINS = 512 }; /* of a node's PEs; with more there is no governor */

/* What one PE says, in the arena. */
typedef struct wtl_ballot {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t want; /* share of the normal clock */
  _Atomic uint32_t serve;                         /* the same, of the thread that serves other nodes */
  _Atomic uint32_t boost;                         /* what others want for it while it computes ... */
  _Atomic uint32_t boost_in;                      /* ... in this phase and no other */
  _Atomic uint32_t phase;                         /* twice the number of its region, and one more once it has arrived */
  _Atomic uint32_t late;                          /* it expects to keep others waiting */
  _Atomic uint64_t slack;                         /* ticks it waited at the end of its last region */
  double planned_ghz; /* in WATTLE_CLOCKS; 0: not named. Written before the governors start, as is `pe` */
  int pe;             /* its number in the job */
} wtl_ballot;

/* What a domain runs at, in the arena. */
typedef struct wtl_poll {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t busy; /* somebody writes its files */
  _Atomic uint32_t share;                         /* what it was set to ... */
  _Atomic uint64_t since;                         /* ... and the tick of that */
  _Atomic int error;                              /* errno of the set that failed: it is left alone since */
} wtl_poll;

/* All of a node, in the arena, zeroes at start. */
typedef struct wtl_votes {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t ready; /* the first PE has claimed what it could */
  _Atomic uint32_t met;                            /* free for those who share it to meet by (clocks.h) */
  _Atomic uint32_t far_waits;                      /* WTL_WAITS_*: the most of all nodes' PEs, in their last region */
  double write_s, settle_s;                        /* measured: a write, and until the clock follows */
  uint8_t claimed[WTL_MAX_CLOCK_DOMAINS];
  wtl_poll poll[WTL_MAX_CLOCK_DOMAINS];
  wtl_ballot ballot[]; /* by local rank */
} wtl_votes;

/* Bytes of it for so many PEs. */
size_t wtl_votes_bytes(int n_local);

typedef struct wtl_vote {
  wtl_knob *knob;
  wtl_votes *votes;
  int slot, n_local;
  bool normal_is_found; /* the normal clock is what was found, not the base clock */
  size_t n_domains;
  size_t own;               /* the first claimed domain that this PE may run in; n_domains for none */
  uint64_t *member;         /* a row of bits for each domain: which PEs may run there */
  size_t words;             /* of a row */
  _Atomic uint64_t changes; /* clocks this PE has set */
  pthread_mutex_t *setting; /* held while one of its threads sets one */
  void (*changed)(void *arg, size_t domain, uint32_t khz); /* told of each; NULL: nobody is */
  void *changed_arg;
} wtl_vote;

/* `cpus` by local rank: where each PE may run. 0 or an errno. The knob stays the caller's. */
int wtl_vote_start(wtl_vote *v, wtl_knob *knob, wtl_votes *votes, int slot, int n_local, const cpu_set_t *cpus,
                   bool normal_is_found);
void wtl_vote_stop(wtl_vote *v);

/* This PE wants that, at tick `now`. True where a clock was changed by it. */
bool wtl_vote_cast(wtl_vote *v, uint32_t share, uint64_t now);

/* The thread of this PE that serves other nodes wants that, whatever its own thread does. From that thread. */
bool wtl_vote_serve(wtl_vote *v, uint32_t share, uint64_t now);

/* Wants that for another PE, for as long as it is in `phase`. */
bool wtl_vote_boost(wtl_vote *v, int slot, uint32_t phase, uint32_t share, uint64_t now);

/* This PE has entered a phase: what others wanted for the one before is void. */
bool wtl_vote_phase(wtl_vote *v, uint32_t phase, uint64_t now);

/* Does this PE's domain run at the normal clock? */
static inline bool wtl_vote_is_normal(const wtl_vote *v)
{
  return v->own == v->n_domains ||
         atomic_load_explicit(&v->votes->poll[v->own].share, memory_order_relaxed) == WTL_CLOCK_NORMAL;
}

/* What this PE's domain runs at, as a share of its base clock, and since which tick; 1 where it runs at the normal
 * clock, or where nobody knows. Of several domains that it may run in, the first. */
double wtl_vote_clock(const wtl_vote *v, uint64_t *since);

/* The lowest clock that any of this PE's domains would really run at for a share, as a share of normal. */
uint32_t wtl_vote_rounded(const wtl_vote *v, uint32_t share);

/* Is it one of this PE's? What it runs at where nobody asks for anything else, and where this share has the votes. */
bool wtl_vote_is_mine(const wtl_vote *v, size_t domain);
uint32_t wtl_vote_normal_khz(const wtl_vote *v, size_t domain);
uint32_t wtl_vote_khz(const wtl_vote *v, size_t domain, uint32_t share);

#endif
