/*
 * measure.h - the measurements, one for each price. Each fills `out` with samples, or says in out->why why it cannot.
 */
#ifndef WTL_CALIBRATE_MEASURE_H
#define WTL_CALIBRATE_MEASURE_H

#include "base/prices.h"
#include "calibrate/bench.h"

typedef struct measurement {
  enum wtl_price price;
  const char *what; /* for a table */
  bool two_cores;   /* it is about another core */
  bool no_idle;     /* it is about a peer that runs */
  bool no_peer;     /* the other core is the one that waits: with a peer on it, this would be another price */
  bool own_peer;    /* it starts its own peer; for the others, one that computes is started on the other core */
  void (*run)(const bench *b, enum wtl_price_beside beside, samples *out);
} measurement;

extern const measurement measurements[WTL_PRICES];

/* measure_sleep.c: from the waker's call until the sleeper runs */
void measure_spin_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_lowpower_wake(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_futex_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_futex_same(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_epoll_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_epoll_same(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_yield.c */
void measure_yield_alone(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_yield_to_yielding(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_yield_to_computing(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_order.c: what puts stores and loads in order */
void measure_fence(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_membarrier(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_membarrier_peer(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_time.c */
void measure_lowpower_late(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_ticks(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_clock(const bench *b, enum wtl_price_beside beside, samples *out);

#endif
