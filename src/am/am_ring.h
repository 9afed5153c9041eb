/*
 * am_ring.h - the message ring: a queue in the arena to which many PEs of the node write and from which one PE reads.
 *
 * A message takes a slot: a cache line with up to WTL_AM_INLINE bytes of payload. A longer payload, up to WTL_AM_PIECE,
 * lies in the second part of the ring. One compare-and-swap claims space in both parts, so memory does not grow with
 * the number of senders. The reader publishes its position in `head`. A sender reads it only if the ring is full by its
 * own copy of the head.
 */
#ifndef WTL_AM_AM_RING_H
#define WTL_AM_AM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/atomic.h"

enum { WTL_AM_SLOTS = 1024, WTL_AM_UNITS = 4096, WTL_AM_INLINE = 32 };
enum { WTL_AM_PIECE = 16384 }; /* bytes; a longer message is sent in pieces */

/* A whole message; a piece of one; a message with its payload in the symmetric memory of the target; the notice that
 * a counted request is complete. */
enum wtl_am_kind { WTL_AM_WHOLE, WTL_AM_PART, WTL_AM_LANDED, WTL_AM_COUNTED };

typedef struct wtl_am_slot {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t turn; /* number of the use of this slot, stored last */
  uint16_t from;                                  /* local rank of the sender */
  uint16_t kind;                                  /* enum wtl_am_kind */
  int32_t handler;                                /* COUNTED: the number of replies of the request */
  uint32_t n;                                     /* bytes of payload here */
  uint32_t at;                                    /* first unit of the payload, if it is not in the slot */
  uint32_t units;                                 /* units claimed, with those skipped at the end of the ring */
  uint32_t counted;                               /* 0, or the number of its counter at the requester */
  uint16_t mark;                                  /* of the call site that asked (profile/served.h) */
  _Alignas(8) char bytes[WTL_AM_INLINE];
} wtl_am_slot;

/* The contents of the slot of a PART. */
typedef struct wtl_am_piece {
  uint64_t total, offset; /* bytes: of the whole message, and before this piece */
  uint64_t serial;        /* number of the message at its sender */
} wtl_am_piece;

/* The contents of the slot of a LANDED message. */
typedef struct wtl_am_landing {
  uint64_t offset, n; /* of the payload, in the slice of the target */
} wtl_am_landing;

typedef struct wtl_am_ring {
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t tail; /* units << 32 | slots, claimed so far */
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t head; /* units << 32 | slots, handled so far */
  _Atomic uint32_t waiters;                       /* number of threads that wait until `head` advances (am_space.h) */
  wtl_am_slot slots[WTL_AM_SLOTS];
  char payload[WTL_AM_UNITS][WTL_CACHE_LINE];
} wtl_am_ring;

/* A claimed place, which the sender fills in. */
typedef struct wtl_am_claim {
  wtl_am_slot *slot;
  char *payload; /* space for n bytes, aligned to 8 at least */
  uint32_t turn;
  uint32_t position; /* position of its slot */
} wtl_am_claim;

/* Returns whether a message fits. Positions may wrap. A head that was read after the tail may be ahead of it: then
 * the place is taken, and the caller tries again. */
static inline bool wtl_am_fits(uint64_t tail, uint64_t head, uint32_t units)
{
  uint32_t slots_used = (uint32_t)tail - (uint32_t)head, units_used = (uint32_t)(tail >> 32) - (uint32_t)(head >> 32);
  return slots_used < WTL_AM_SLOTS && units_used <= WTL_AM_UNITS - units;
}

/* Returns the units that a payload takes from `tail` on. It does not wrap around the end of the ring. */
static inline uint32_t wtl_am_claimed(uint64_t tail, uint32_t units)
{
  uint32_t at = (uint32_t)(tail >> 32) % WTL_AM_UNITS;
  return at + units > WTL_AM_UNITS ? WTL_AM_UNITS - at + units : units;
}

/* Prefetches the slot this far ahead, so that a stream of messages need not wait for the cache line of each slot. */
enum { WTL_AM_AHEAD = 16 };

/* Claims a place for a message with `n` bytes of payload, 0 to WTL_AM_PIECE. `beside`: the payload is put beside the
 * slot even if it fits inside. `known`: the copy of the head that this PE keeps. Returns false if the ring is full. */
static inline bool wtl_am_claim_place(wtl_am_ring *r, _Atomic uint64_t *known, size_t n, bool beside,
                                      wtl_am_claim *claim)
{
  bool is_inside = n <= WTL_AM_INLINE && !beside;
  uint32_t units = is_inside ? 0 : (uint32_t)((n + WTL_CACHE_LINE - 1) / WTL_CACHE_LINE), take;
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), next;
  do {
    take = wtl_am_claimed(tail, units);
    if (WTL_UNLIKELY(!wtl_am_fits(tail, atomic_load_explicit(known, memory_order_acquire), take))) {
      uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
      atomic_store_explicit(known, head, memory_order_release);
      tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
      take = wtl_am_claimed(tail, units);
      if (!wtl_am_fits(tail, head, take)) return false;
    }
    next = ((uint64_t)((uint32_t)(tail >> 32) + take) << 32) | (uint32_t)(tail + 1);
  } while (WTL_UNLIKELY(
      !atomic_compare_exchange_weak_explicit(&r->tail, &tail, next, memory_order_acq_rel, memory_order_relaxed)));
  uint32_t position = (uint32_t)tail, at = ((uint32_t)(tail >> 32) + take - units) % WTL_AM_UNITS;
  wtl_am_slot *s = &r->slots[position % WTL_AM_SLOTS];
  __builtin_prefetch(&r->slots[(position + WTL_AM_AHEAD) % WTL_AM_SLOTS], 1);
  s->at = at;
  s->units = take;
  *claim = (wtl_am_claim){s, units ? r->payload[at] : s->bytes, position / WTL_AM_SLOTS + 1, position};
  return true;
}

/* Publishes the message, whose slot must be filled in. A full barrier follows. */
static inline void wtl_am_publish(const wtl_am_claim *c)
{
  atomic_store_explicit(&c->slot->turn, c->turn, memory_order_seq_cst);
}

/* Returns the message at `position` (units << 32 | slots), or NULL if there is none yet. */
static inline wtl_am_slot *wtl_am_peek(wtl_am_ring *r, uint64_t position)
{
  uint32_t p = (uint32_t)position;
  wtl_am_slot *s = &r->slots[p % WTL_AM_SLOTS];
  return atomic_load_explicit(&s->turn, memory_order_acquire) == p / WTL_AM_SLOTS + 1 ? s : NULL;
}

static inline char *wtl_am_payload(wtl_am_ring *r, wtl_am_slot *s)
{
  return s->units ? r->payload[s->at] : s->bytes;
}

/* Returns the position after a message. */
static inline uint64_t wtl_am_after(uint64_t position, const wtl_am_slot *s)
{
  return (((position >> 32) + s->units) << 32) | (uint32_t)(position + 1);
}

/* Returns whether the head has passed the slot at `position`, however long ago. A message that it has not passed is
 * in the ring. */
static inline bool wtl_am_is_past(const wtl_am_ring *r, uint32_t position)
{
  return position - (uint32_t)atomic_load_explicit(&r->head, memory_order_acquire) >= WTL_AM_SLOTS;
}

/* The most units that a payload takes: its own, and as many skipped before it. */
enum { WTL_AM_MOST_UNITS = 2 * WTL_AM_PIECE / WTL_CACHE_LINE };

/* Returns whether there is space for a message of any length. */
static inline bool wtl_am_has_space(const wtl_am_ring *r)
{
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
  return wtl_am_fits(tail, head, WTL_AM_MOST_UNITS);
}

/* Returns whether a good part of the ring is free. A sender that found it full waits for that, since a wake-up for
 * each free slot would cost too much. */
static inline bool wtl_am_has_ample_space(const wtl_am_ring *r)
{
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
  return wtl_am_fits(tail + WTL_AM_SLOTS / 2, head, WTL_AM_UNITS / 2);
}

#endif
