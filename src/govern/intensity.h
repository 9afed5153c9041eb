/*
 * intensity.h - predicts how much longer the computing of a region takes at a lower clock, from the processor's
 * counters.
 *
 * DESIGN. An instruction takes c cycles of its core, which follow the clock, and m seconds of memory, which do not. At
 * a clock of f cycles a second it takes c/f + m seconds, or c + m f cycles. Cycles per instruction at two clocks give
 * both (Venkatachalam, Franz and Probst, "A new way of estimating compute-boundedness and its application to dynamic
 * voltage scaling", 2007). One number remains: the share of the computing time at the normal clock that follows it,
 *
 *   follows = c / (c + m f),   and   time at clock s f = (1 + follows (1/s - 1)) x time at clock f.
 *
 * A compute-bound region has follows = 1. The real clocks are known, too: cycles divided by the time of computing. So a
 * core that does not follow a request is noticed.
 *
 * One clock does not give c and m. A number of misses with their latency does not either, because misses overlap and
 * prefetching hides them (Miftakhutdinov et al., "Predicting performance impact of DVFS for realistic memory systems",
 * 2012). Misses only bound m from above: where memory cannot matter, no lower clock is tried.
 *
 * Each instance at a lower clock verifies the prediction. One whose cycles per instruction do not fit belongs to
 * another phase of the program.
 */
#ifndef WTL_GOVERN_INTENSITY_H
#define WTL_GOVERN_INTENSITY_H

#include <stdbool.h>
#include <stdint.h>

#include "govern/mean.h"
#include "power/sensor/counts.h"

/* A region's data. Zeroes: nothing is known. */
typedef struct wtl_intensity {
  wtl_mean cpi, ghz; /* at the normal clock: cycles per instruction, and the real clock */
  wtl_mean memory;   /* m in ns, by each instance at a lower clock */
  double low_ghz;    /* the real clock of the last one */
  double missing;    /* upper bound of the share of time in last-level misses; NaN: they are not counted */
  uint32_t refused;  /* trials at a lower clock that the core did not follow */
} wtl_intensity;

/* Learns from an instance at the normal clock: the counts of its computing, which took `ns`. One that differs much from
 * the earlier ones replaces them. */
void wtl_intensity_add_normal(wtl_intensity *x, const wtl_counts *done, double ns);

/* Learns from an instance at a lower clock. False if it does not fit to the earlier ones: the program has entered
 * another phase. */
bool wtl_intensity_add_lowered(wtl_intensity *x, const wtl_counts *done, double ns);

/* The share of the computing time at the normal clock that follows the clock, at most: 1 where it is not known. Two
 * standard errors are added. */
double wtl_intensity_follows(const wtl_intensity *x);

/* True if one instance at a lower clock would tell more: its instances are alike, memory may matter, and no lower clock
 * is known. */
bool wtl_intensity_wants_trial(const wtl_intensity *x);

/* The lowest clock that the known ones predict reliably, as a share of the normal clock: twice as far below the normal
 * clock as the last lower one. 1 where none has run. */
double wtl_intensity_trusted(const wtl_intensity *x);

/* Time at a share `clock` of the normal clock, relative to the time there; and the lowest share at which that is at
 * most `longest`. */
static inline double wtl_intensity_time(double follows, double clock)
{
  return 1 + follows * (1 / clock - 1);
}

static inline double wtl_intensity_clock(double follows, double longest)
{
  return longest > 1 ? follows / (follows + longest - 1) : 1;
}

#endif
