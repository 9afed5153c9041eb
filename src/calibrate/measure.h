/* measure.h - the measurements, one for each price. Each fills `out` with samples, or sets out->why to the reason. */
#ifndef WTL_CALIBRATE_MEASURE_H
#define WTL_CALIBRATE_MEASURE_H

#include "base/prices.h"
#include "calibrate/bench.h"

typedef struct measurement {
  enum wtl_price price;
  const char *what; /* name for a table */
  bool two_cores;   /* needs a second core */
  bool no_idle;     /* needs a peer that runs */
  bool no_peer;     /* the other core is the waiting one: a peer on it would change the meaning of the price */
  bool own_peer;    /* starts a peer itself; for all others a computing peer is started on the other core */
  void (*run)(const bench *b, enum wtl_price_beside beside, samples *out);
} measurement;

extern const measurement measurements[WTL_PRICES];

/* measure_sleep.c: the time from the waker's call until the sleeper runs. */
void measure_spin_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_lowpower_wake(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_futex_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_futex_same(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_epoll_other(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_epoll_same(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_yield.c: the cost of sched_yield. */
void measure_yield_alone(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_yield_to_yielding(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_yield_to_computing(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_order.c: the cost of ordering stores and loads. */
void measure_fence(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_membarrier(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_membarrier_peer(const bench *b, enum wtl_price_beside beside, samples *out);

/* measure_time.c: the cost of reading a clock, and the delay of a low-power wait. */
void measure_lowpower_late(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_ticks(const bench *b, enum wtl_price_beside beside, samples *out);
void measure_clock(const bench *b, enum wtl_price_beside beside, samples *out);

#endif
