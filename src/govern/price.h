/*
 * price.h - what one change of clock costs: the write, and the time until the core runs at the new clock.
 */
#ifndef WTL_GOVERN_PRICE_H
#define WTL_GOVERN_PRICE_H

#include "power/knob.h"

typedef struct wtl_clock_price {
  double write_s, settle_s;
} wtl_clock_price;

/*
 * Measures it in a domain that is claimed: writes by the clock, the rest by a loop whose turns become longer when the
 * core slows down. Where no turn does within 20 ms (this thread runs on another core, or the file is not a real clock),
 * it is what the driver states, and failing that 500 us: the interval at which processors since Haswell take up
 * requests (Hackenberg et al., "An energy efficiency feature survey of the Intel Haswell processor", 2015). `cost_s`:
 * the user's word for all of it, negative for none. A knob that does not act is only asked what the driver states.
 */
wtl_clock_price wtl_clock_price_measure(wtl_knob *k, size_t domain, double cost_s);

#endif
