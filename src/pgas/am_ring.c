#include "pgas/am_ring.h"

/* Positions may have wrapped, and a head that is read may be ahead of a tail that was read before it: then the place is taken,
 * and the caller looks again. */
static bool fits(uint64_t tail, uint64_t head, uint32_t units)
{
  uint32_t slots_used = (uint32_t)tail - (uint32_t)head, units_used = (uint32_t)(tail >> 32) - (uint32_t)(head >> 32);
  return slots_used < WTL_AM_SLOTS && units_used <= WTL_AM_UNITS - units;
}

/* Units that a payload takes from `tail` on: it does not go round the end. */
static uint32_t claimed(uint64_t tail, uint32_t units)
{
  uint32_t at = (uint32_t)(tail >> 32) % WTL_AM_UNITS;
  return at + units > WTL_AM_UNITS ? WTL_AM_UNITS - at + units : units;
}

bool wtl_am_claim_place(wtl_am_ring *r, _Atomic uint64_t *known, size_t n, bool beside, wtl_am_claim *claim)
{
  uint32_t units = beside && n ? (uint32_t)((n + WTL_CACHE_LINE - 1) / WTL_CACHE_LINE) : wtl_am_units(n), take;
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), next;
  do {
    take = claimed(tail, units);
    if (WTL_UNLIKELY(!fits(tail, atomic_load_explicit(known, memory_order_acquire), take))) {
      uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
      atomic_store_explicit(known, head, memory_order_release);
      tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
      take = claimed(tail, units);
      if (!fits(tail, head, take)) return false;
    }
    next = ((uint64_t)((uint32_t)(tail >> 32) + take) << 32) | (uint32_t)(tail + 1);
  } while (WTL_UNLIKELY(
      !atomic_compare_exchange_weak_explicit(&r->tail, &tail, next, memory_order_acq_rel, memory_order_relaxed)));
  uint32_t position = (uint32_t)tail, at = ((uint32_t)(tail >> 32) + take - units) % WTL_AM_UNITS;
  wtl_am_slot *s = &r->slots[position % WTL_AM_SLOTS];
  s->at = at;
  s->units = take;
  *claim = (wtl_am_claim){s, units ? r->payload[at] : s->bytes, position / WTL_AM_SLOTS + 1, position};
  return true;
}

bool wtl_am_has_room(const wtl_am_ring *r)
{
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
  /* The most that a payload takes: its own units, and as many skipped before it. */
  return fits(tail, head, 2 * WTL_AM_PIECE / WTL_CACHE_LINE);
}
