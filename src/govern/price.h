/* price.h - measures the cost of one change of clock: the write, and the time until the core runs at the new clock. */
#ifndef WTL_GOVERN_PRICE_H
#define WTL_GOVERN_PRICE_H

#include "power/knob/knob.h"

/* The price if nothing shows it: 500 us, as below. */
#define WTL_CLOCK_PRICE_S 500e-6

typedef struct wtl_clock_price {
  double write_s, settle_s;
} wtl_clock_price;

/*
 * Measures the cost in a claimed domain. It times the write, and a loop whose turns become longer when the core slows
 * down. If no turn does within 20 ms (this thread runs on another core, or the file sets no real clock), the driver's
 * latency counts, or else 500 us: the interval at which processors since Haswell take up requests (Hackenberg et al.,
 * "An energy efficiency feature survey of the Intel Haswell processor", 2015).
 *
 * `cost_s` is the user's value for the whole cost; a negative value means none. For a knob that changes no clock only
 * the driver's values count.
 */
wtl_clock_price wtl_clocks_price_measure(wtl_knob *k, size_t domain, double cost_s);

#endif
