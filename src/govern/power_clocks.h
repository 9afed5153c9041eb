/* power_clocks.h - the watts and the speed of a PE's core at each clock, for a budget of watts. */
#ifndef WTL_GOVERN_POWER_CLOCKS_H
#define WTL_GOVERN_POWER_CLOCKS_H

#include "govern/vote.h"
#include "power/power.h"

enum { WTL_POWER_CLOCKS = 64 };

typedef struct wtl_power_clock {
  uint32_t share;                         /* the vote for it */
  double speed;                           /* of the core, relative to the normal clock */
  double computes, spins, yields, sleeps; /* W of the core beyond `always` */
} wtl_power_clock;

/* Rising clocks. `n` is 0 where the watts are not known. */
typedef struct wtl_power_clocks {
  size_t n;
  wtl_power_clock at[WTL_POWER_CLOCKS];
  double always_w; /* W: this PE's part of what its packages draw in any case */
} wtl_power_clocks;

/* Reads the clocks of this PE's first domain. `m`: the machine profile, or NULL. `n_local`: PEs of the node. */
void wtl_clocks_power_read(wtl_power_clocks *c, const wtl_vote *vote, const wtl_machine *m, int n_local);

/* The speed of clock `k` was seen: so many GHz of cycles at a normal clock of `normal_ghz`. Only turbo clocks differ
 * from what their names say. */
void wtl_clocks_power_see(wtl_power_clocks *c, size_t k, double ghz, double normal_ghz);

/* A line through nanoseconds per instruction at several clocks: c/f + m (intensity.h). Old intervals fade. */
typedef struct wtl_power_fit {
  double n, x, y, xx, xy; /* x: ns of a cycle; y: ns of an instruction */
} wtl_power_fit;

void wtl_clocks_fit_add(wtl_power_fit *f, double cycle_ns, double instruction_ns);

/* The share of the computing time at a clock of `cycle_ns` that follows the clock; 1 where it is not known. */
double wtl_clocks_fit_follows(const wtl_power_fit *f, double cycle_ns);

#endif
