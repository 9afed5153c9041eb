/*
 * clocks.h - the governor of a PE: who claims the node's clocks, when it begins and when it ends.
 *
 * The PEs of a node agree on it, or there is none; nodes do not ask each other. The first PE of a node claims the clock
 * domains, once all have read what they hold, and puts them back when all have come to the end; its guard does if they do
 * not.
 */
#ifndef WTL_PGAS_CLOCKS_H
#define WTL_PGAS_CLOCKS_H

#include "govern/governor.h"
#include "pgas/pe.h"

struct wtl_clocks {
  wtl_knob *knob;
  bool governs;  /* this PE's door has the governor */
  char why[512]; /* why nothing is governed, or not all; "" where all is */
  wtl_governor governor;
};

/* Says whether this PE wants a governor. Before the first barrier. */
void wtl_clocks_wish(wtl_pe *self);

/* Collective over the node, once all have said so. */
void wtl_clocks_start(wtl_pe *self);

/* The program is over: this PE changes no clock any more. */
void wtl_clocks_close(wtl_pe *self);

/* All PEs of the node have closed. */
void wtl_clocks_stop(wtl_pe *self);

#endif
