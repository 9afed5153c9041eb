/*
 * am_ring.h - a queue of messages in the arena: many PEs of the node put in, one takes out.
 *
 * A message is a cache line (its slot) with up to WTL_AM_INLINE bytes of payload; a longer payload, up to WTL_AM_PIECE,
 * lies beside it in the ring's second part. One compare-and-swap claims a place in both, so that nothing grows with the
 * number of producers. Who takes out says so in `head`, which producers read only when their own copy of it says that
 * the ring is full.
 */
#ifndef WTL_AM_AM_RING_H
#define WTL_AM_AM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/atomic.h"

enum { WTL_AM_SLOTS = 1024, WTL_AM_UNITS = 4096, WTL_AM_INLINE = 32 };
enum { WTL_AM_PIECE = 16384 }; /* bytes: what is longer travels in pieces */

/* What a message is: payload and all; a piece of one; one whose payload lies in the target's symmetric memory; word
 * that a counted request is done. */
enum wtl_am_kind { WTL_AM_WHOLE, WTL_AM_PART, WTL_AM_LANDED, WTL_AM_COUNTED };

typedef struct wtl_am_slot {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t turn; /* which use of this slot: the last thing written */
  uint16_t from;                                  /* slot of the PE on the node */
  uint16_t kind;                                  /* enum wtl_am_kind */
  int32_t handler;                                /* COUNTED: how many replies the request had */
  uint32_t n;                                     /* bytes of payload here */
  uint32_t at;                                    /* the payload's unit, if it is not in the slot */
  uint32_t units;                                 /* claimed beside it, with those skipped at the ring's end */
  uint32_t counted;                               /* 0, or its sender's number for who counts its end */
  _Alignas(8) char bytes[WTL_AM_INLINE];
} wtl_am_slot;

/* In the slot of a PART. */
typedef struct wtl_am_piece {
  uint64_t total, offset; /* bytes, of the whole message and before this piece */
  uint64_t serial;        /* of the message among its sender's */
} wtl_am_piece;

/* In the slot of a LANDED message. */
typedef struct wtl_am_landing {
  uint64_t offset, n; /* of the payload in the target's slice */
} wtl_am_landing;

typedef struct wtl_am_ring {
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t tail; /* units << 32 | slots: claimed so far */
  _Alignas(WTL_CACHE_LINE) _Atomic uint64_t head; /* likewise: done with */
  _Atomic uint32_t waiters;                       /* who waits until `head` moves on (am_space.h) */
  wtl_am_slot slots[WTL_AM_SLOTS];
  char payload[WTL_AM_UNITS][WTL_CACHE_LINE];
} wtl_am_ring;

/* What a message that is put in looks like to its sender. */
typedef struct wtl_am_claim {
  wtl_am_slot *slot;
  char *payload; /* room for n bytes, aligned to 8 at least */
  uint32_t turn;
  uint32_t position; /* of its slot */
} wtl_am_claim;

/* Positions may have wrapped, and a head that is read may be ahead of a tail that was read before it: then the place is
 * taken, and the caller looks again. */
static inline bool wtl_am_fits(uint64_t tail, uint64_t head, uint32_t units)
{
  uint32_t slots_used = (uint32_t)tail - (uint32_t)head, units_used = (uint32_t)(tail >> 32) - (uint32_t)(head >> 32);
  return slots_used < WTL_AM_SLOTS && units_used <= WTL_AM_UNITS - units;
}

/* Units that a payload takes from `tail` on: it does not go round the end. */
static inline uint32_t wtl_am_claimed(uint64_t tail, uint32_t units)
{
  uint32_t at = (uint32_t)(tail >> 32) % WTL_AM_UNITS;
  return at + units > WTL_AM_UNITS ? WTL_AM_UNITS - at + units : units;
}

/* A stream of messages need not wait for each slot's line to come over from the other core. */
enum { WTL_AM_AHEAD = 16 };

/*
 * Claims a place for a message with `n` bytes of payload beside the slot (0 to WTL_AM_PIECE; `beside`: also if it would
 * fit inside). `known`: this PE's own copy of the head. False if the ring is full.
 */
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

/* Lets the message be seen; a full barrier follows. Its slot must be filled in. */
static inline void wtl_am_publish(const wtl_am_claim *c)
{
  atomic_store_explicit(&c->slot->turn, c->turn, memory_order_seq_cst);
}

/* The message at `position` (units << 32 | slots) if it is there. */
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

/* The position after a message. */
static inline uint64_t wtl_am_after(uint64_t position, const wtl_am_slot *s)
{
  return (((position >> 32) + s->units) << 32) | (uint32_t)(position + 1);
}

/* Has the head come past the slot at `position`, however long ago that was? What it has not passed is in the ring. */
static inline bool wtl_am_is_past(const wtl_am_ring *r, uint32_t position)
{
  return position - (uint32_t)atomic_load_explicit(&r->head, memory_order_acquire) >= WTL_AM_SLOTS;
}

/* The most that a payload takes: its own units, and as many skipped before it. */
enum { WTL_AM_MOST_UNITS = 2 * WTL_AM_PIECE / WTL_CACHE_LINE };

/* Is there room for a message as long as any? */
static inline bool wtl_am_has_space(const wtl_am_ring *r)
{
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
  return wtl_am_fits(tail, head, WTL_AM_MOST_UNITS);
}

/* Is a good part of it free? Who found it full waits for that: a place at a time, each would cost a wake-up. */
static inline bool wtl_am_has_ample_space(const wtl_am_ring *r)
{
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
  return wtl_am_fits(tail + WTL_AM_SLOTS / 2, head, WTL_AM_UNITS / 2);
}

#endif
