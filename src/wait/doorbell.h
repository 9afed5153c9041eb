/*
 * doorbell.h - a sleep that misses no one-sided store. It costs the writer a fence and a load.
 *
 *   sleeper                                  writer
 *   seen = rung                              store the data
 *   asleep: count + 1, what it watches       full barrier                        (W)
 *   full barrier                      (S)    if (asleep and the store touches what is watched)
 *   if the condition still does not hold       rung += 1, wake
 *     sleep while rung == seen
 *   asleep: count - 1
 *
 * Why none is missed: by (W) and (S), at least one side sees the store of the other. A sleeper that sees the data does
 * not sleep. A writer that sees `asleep` increments `rung` after the sleeper has read `seen`, so the kernel refuses the
 * sleep or ends it. Stores through shmem_ptr ring no doorbell; they are found when the sleep reaches its time limit.
 *
 * Writers by plain stores take both steps after the store only while there is a notice of sleepers (sleep_notice.h).
 *
 * The watch keeps a PE that sleeps in a barrier from being woken by every store to its data. Several threads of a PE
 * may sleep. The count is their number, and they watch everything unless they all watch the same. Count and watch share
 * one word, so that they change together. WTL_MUTANT_* remove one part each for the litmus tests.
 */
#ifndef WTL_WAIT_DOORBELL_H
#define WTL_WAIT_DOORBELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/atomic.h"

typedef struct wtl_bell {
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t asleep; /* 0: no sleeper; else watch << 16 | count */
  _Atomic uint32_t rung;                            /* futex word */
  _Atomic uint32_t has_messages; /* set by the first message for this PE: its waits check for messages from then on */
  _Atomic uint64_t rung_at;      /* tick of the last ring, from which the sleeper learns the cost of a wake-up */
  _Atomic int alarm; /* 0, or 1 + a descriptor to signal as well; used if only this process rings the doorbell */
} wtl_bell;

/* The stores that a sleeper watches: all, those to the control data of the runtime, or those to the cache line at an
 * offset of its slice. */
typedef uint64_t wtl_watch;
#define WTL_WATCH_ALL ((wtl_watch)0)
#define WTL_WATCH_CONTROL ((wtl_watch)1)
#define WTL_WATCH_OFFSET(offset) ((wtl_watch)(offset) / WTL_CACHE_LINE + 2)

/* `asleep` has the watch above the count. */
enum { WTL_BELL_COUNT_BITS = 16 };

/* Rings: increments `rung` and wakes all sleepers. */
void wtl_bell_ring(wtl_bell *b);

/* Rings if a sleeper watches any of the `n` bytes at `offset` of the slice. */
void wtl_bell_ring_at(wtl_bell *b, size_t offset, size_t n);

/* Rings if a sleeper watches the control data. */
void wtl_bell_ring_control(wtl_bell *b);

static inline bool wtl_bell_has_sleeper(const wtl_bell *b)
{
  /* Sequentially consistent, as the store before it is. Such a store is no full barrier on aarch64, but the two
   * still keep their order. */
  return WTL_UNLIKELY(atomic_load_explicit(&b->asleep, memory_order_seq_cst) != 0);
}

/* Whether a thread sleeps, or is about to, that a store to data of the program may wake. */
static inline bool wtl_bell_awaits_stores(const wtl_bell *b)
{
  uint64_t asleep = atomic_load_explicit(&b->asleep, memory_order_seq_cst);
  return asleep && asleep >> WTL_BELL_COUNT_BITS != WTL_WATCH_CONTROL;
}

/* How a sleep ended: it did not begin, it was woken, or it reached its time limit. */
enum wtl_sleep { WTL_SLEPT_NOT, WTL_SLEPT_WOKEN, WTL_SLEPT_OUT };

/* A place to sleep other than the word of the doorbell, on descriptors, where only this process rings. `alarm` is
 * one of them: an eventfd that `sleep` resets when it ends the sleep; -1: none. */
typedef struct wtl_sleeper {
  enum wtl_sleep (*sleep)(void *of, double seconds);
  void *of;
  int alarm;
} wtl_sleeper;

/*
 * Sleeps until the doorbell rings, `ready` is true or `seconds` have passed. `ready` is called after the sleeper is
 * counted in `asleep` and before it sleeps. `sleeper` is where to sleep, for one thread at a time; NULL: on the
 * doorbell. Returns SLEPT_NOT if `ready` was true or the doorbell rang before the sleep began, and SLEPT_OUT if the
 * time passed without a ring.
 */
enum wtl_sleep wtl_bell_sleep(wtl_bell *b, const wtl_sleeper *sleeper, wtl_watch watch, bool (*ready)(void *),
                              void *arg, double seconds);

#endif
