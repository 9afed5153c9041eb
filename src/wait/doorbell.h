/*
 * doorbell.h - a sleep under one-sided stores that misses no wake-up, and costs the writer a fence and a load.
 *
 *   sleeper                                  writer
 *   seen = rung                              store the data
 *   asleep: count + 1, what it watches       full barrier                        (W)
 *   full barrier                      (S)    if (asleep and the store touches what is watched)
 *   if the condition still does not hold       rung += 1, wake
 *     sleep while rung == seen
 *   asleep: count - 1
 *
 * Why none is missed: by (W) and (S), of the writer's store and the sleeper's word at least one is seen by the other's
 * load. If the sleeper sees the data, it does not sleep. If the writer sees the word, it moves `rung` on after `seen`
 * was read, so the kernel refuses the sleep or ends it. Stores that come without a bell (through shmem_ptr) are found
 * when the bounded sleep ends.
 *
 * What is watched keeps a PE that sleeps in a barrier from being woken by every store into its data. Several threads of
 * a PE may sleep: the count says how many, and what they watch is everything unless they agree. Both are one word, so
 * they change together. WTL_MUTANT_* take one part out for the litmus tests.
 */
#ifndef WTL_WAIT_DOORBELL_H
#define WTL_WAIT_DOORBELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/atomic.h"

typedef struct wtl_bell {
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t asleep; /* 0: nobody; else watch << 16 | count */
  _Atomic uint32_t rung;                            /* futex word */
  _Atomic uint32_t has_messages; /* messages have come for this PE at least once: who waits looks for them */
  _Atomic uint64_t rung_at;      /* tick of the last ring: the sleeper learns what waking costs */
  _Atomic int alarm; /* 0, or 1 + a descriptor that rings as well: of a process that alone rings this bell */
} wtl_bell;

/* What a sleeper watches: everything, the runtime's control data, or the cache line at an offset of its PE's slice. */
typedef uint64_t wtl_watch;
#define WTL_WATCH_ALL ((wtl_watch)0)
#define WTL_WATCH_CONTROL ((wtl_watch)1)
#define WTL_WATCH_OFFSET(offset) ((wtl_watch)(offset) / WTL_CACHE_LINE + 2)

/* Moves the bell on and wakes all its sleepers. */
void wtl_bell_ring(wtl_bell *b);

/* Rings if a sleeper watches any of the `n` bytes at `offset` of the slice. */
void wtl_bell_ring_at(wtl_bell *b, size_t offset, size_t n);

/* Rings if a sleeper watches the control data. */
void wtl_bell_ring_control(wtl_bell *b);

static inline bool wtl_bell_has_sleeper(const wtl_bell *b)
{
  /* Sequentially consistent, as the store before it is: where such a store is no full barrier (aarch64), the pair still
   * keeps its order. */
  return WTL_UNLIKELY(atomic_load_explicit(&b->asleep, memory_order_seq_cst) != 0);
}

/* How a sleep ended. */
enum wtl_sleep { WTL_SLEPT_NOT, WTL_SLEPT_WOKEN, WTL_SLEPT_OUT };

/*
 * Where a PE may sleep in place of the bell's own word if none but its own process rings: on descriptors, one of them
 * `alarm` (-1: none), an eventfd that `sleep` empties when it ends by it.
 */
typedef struct wtl_sleeper {
  enum wtl_sleep (*sleep)(void *of, double seconds);
  void *of;
  int alarm;
} wtl_sleeper;

/*
 * Sleeps until the bell rings, `ready` holds or `seconds` have passed. SLEPT_NOT: `ready` held or the bell rang before
 * the sleep began; SLEPT_OUT: the time passed and nobody rang. `ready` is called between publishing the sleep and
 * sleeping. `bed`: where; one thread at a time; NULL: on the bell.
 */
enum wtl_sleep wtl_bell_sleep(wtl_bell *b, const wtl_sleeper *bed, wtl_watch watch, bool (*ready)(void *), void *arg,
                              double seconds);

#endif
