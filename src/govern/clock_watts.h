/* clock_watts.h - the watts of a computing core at each clock that the governor can set, by the machine profile. */
#ifndef WTL_GOVERN_CLOCK_WATTS_H
#define WTL_GOVERN_CLOCK_WATTS_H

#include "govern/vote.h"
#include "power/power.h"

enum { WTL_CLOCK_WATTS = 64 };

/* Clocks up to the normal one, rising, as shares of it in millionths. `n` is 0 where the watts are not known. */
typedef struct wtl_clock_watts {
  size_t n;
  struct {
    uint32_t share;
    double watts; /* W of a core that computes, with its share of the idle node */
  } at[WTL_CLOCK_WATTS];
} wtl_clock_watts;

/* The clocks of this PE's first domain. `m`: the machine profile; NULL, or one with a single clock or without a number
 * of cores, knows no watts. */
void wtl_clocks_watts_read(wtl_clock_watts *w, const wtl_vote *vote, const wtl_machine *m);

/* The clock of least energy among those of at least `least`, for computing of which the share `follows` follows the
 * clock (intensity.h). Without watts it is `least`. Both are shares of the normal clock in millionths. */
uint32_t wtl_clocks_watts_best(const wtl_clock_watts *w, double follows, uint32_t least);

#endif
