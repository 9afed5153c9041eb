/*
 * sleep_notice.h - a notice of the node: PEs may be asleep that wait for stores of others.
 *
 * DESIGN. A writer must find each sleeper whose awaited word it stores (doorbell.h). That takes a full barrier after
 * the store. It is longer than the store itself, and useless while no PE sleeps. So writers first read the notice,
 * which seldom changes. While there is none, a store needs no barrier and no look at a doorbell.
 *
 *   sleeper                                    writer
 *   registers at its bell                      store the data
 *   full barrier                               if there is a notice
 *   if the notice is not posted                  full barrier
 *     post it: POSTING                           if the bell has a sleeper, ring
 *     barrier in all processes  (membarrier)
 *     POSTED
 *   if the condition still does not hold
 *     sleep
 *
 * Why no sleeper is missed. The barrier runs in each process between two of its instructions. A writer that has read
 * the notice before its barrier has also stored its data before it, and the sleeper sees that data when it tests its
 * condition. A writer that reads the notice after its barrier finds it.
 *
 * The notice is withdrawn by a writer, when no PE of the node is registered and none has slept for a while:
 *
 *   POSTED -> WITHDRAWING; then, if no bell has a sleeper, WITHDRAWING -> NONE, otherwise -> POSTED
 *
 * A sleeper that reads POSTED has registered before. So the writer that withdraws the notice sees it. A sleeper that
 * reads anything else posts anew. Each posting has a number, so that a withdrawal never removes a later one.
 *
 * Only sleeps that a plain store may end need the notice. Other stores (atomic operations, control data, messages) are
 * followed by a full barrier in any case, and their writers always look at the bell.
 *
 * Where processes cannot be interrupted for a barrier (old kernels, simulation), the notice is permanent.
 */
#ifndef WTL_WAIT_SLEEP_NOTICE_H
#define WTL_WAIT_SLEEP_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/atomic.h"

/* In memory that all PEs of the node share. All zeroes: there is no notice. */
typedef struct wtl_sleep_notice {
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t word; /* number of the posting << WTL_NOTICE_BITS | enum wtl_notice_state */
  _Atomic uint64_t last_sleep;                    /* tick, to within a quarter of WTL_NOTICE_NS */
  _Atomic uint32_t is_permanent;                  /* a process of the node does not take part */
} wtl_sleep_notice;

enum wtl_notice_state { WTL_NOTICE_NONE, WTL_NOTICE_POSTING, WTL_NOTICE_POSTED, WTL_NOTICE_WITHDRAWING };
enum { WTL_NOTICE_BITS = 2, WTL_NOTICE_MASK = (1 << WTL_NOTICE_BITS) - 1 };

/* The notice stays for this time after the last sleep. Posting it costs some microseconds, so frequent sleepers should
 * find it. A PE that stores meanwhile looks at the clock after this many stores. */
#if defined(WTL_MUTANT_SHORT_NOTICE) || defined(WTL_MUTANT_NO_BARRIER_OF_ALL) /* tests/wait: each sleep posts anew */
enum { WTL_NOTICE_NS = 1, WTL_NOTICE_STORES = 1 };
#else
enum { WTL_NOTICE_NS = 2000000, WTL_NOTICE_STORES = 64 };
#endif

/* This process takes part from now on. All processes of the node must call it before one of them sleeps or stores. At
 * first there is a notice. */
void wtl_notice_join(wtl_sleep_notice *n);

/* Posts the notice, unless it is posted. The caller is registered at its bell, and a full barrier lies between. After
 * the call it must test its condition once more before it sleeps. `linger`: WTL_NOTICE_NS in ticks. */
void wtl_notice_post(wtl_sleep_notice *n, uint64_t linger);

/* Withdraws the notice if no PE has posted it for `linger` ticks and has_sleepers(of) is false. The function looks at
 * the bells of all PEs of the node, by loads that are sequentially consistent. */
void wtl_notice_withdraw(wtl_sleep_notice *n, uint64_t linger, bool (*has_sleepers)(void *of), void *of);

/* For a writer, after its store: true if it must look at the bell, after a full barrier. */
static inline bool wtl_notice_is_up(const wtl_sleep_notice *n)
{
  atomic_signal_fence(memory_order_seq_cst); /* the store comes first in the program */
  return (atomic_load_explicit(&n->word, memory_order_relaxed) & WTL_NOTICE_MASK) != WTL_NOTICE_NONE;
}

#endif
