/*
 * counter.h - extends the counter of a sensor to 64 bits that do not wrap, and leaves out impossible steps.
 *
 * DESIGN. `uj` never decreases, and never exceeds the real joules if the power stays below limit_w. The joules that may
 * be missing from it are at most excess_j. A reading is accepted only if some power between 0 and limit_w explains it:
 *
 *   one number of wraps explains the step     The step counts and its time is covered, also after failed readings,
 *                                             because the sensor went on counting.
 *   several numbers of wraps explain it       The lowest counts, because a counter that went back may have been
 *                                             reset. The rest goes to excess_j, and the time is not covered.
 *   no number explains it                     The reading is refused and counted in `refused`. The next reading shows
 *                                             which of two things happened:
 *     the last good reading explains it       One wrong value. Nothing is lost.
 *     only the refused reading explains it    The counter was reset or jumped. It goes on from there. The time before
 *                                             is not covered, and its joules at the limit go to excess_j.
 */
#ifndef WTL_POWER_COUNTER_H
#define WTL_POWER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wtl_counter {
  uint64_t range_uj;        /* the counter wraps to 0 after this value; 0: it never wraps */
  double limit_w;           /* W, more than the domain can ever draw */
  double update_s;          /* s, longest time between two updates of the sensor */
  bool have;                /* there was a good reading */
  uint64_t raw;             /* the last good reading */
  double first_at, good_at; /* s, moments of the first and the last good reading */
  uint64_t uj;              /* microjoules counted since the first good reading */
  double covered_s, excess_j;
  unsigned refused; /* readings that no power explains */
  struct {
    bool have;
    uint64_t raw;
    double at;
  } odd; /* the last refused reading, if it came after the last good one */
} wtl_counter;

/* Takes a reading of the moment `at`. Returns false if it is refused. */
bool wtl_counter_take(wtl_counter *c, uint64_t raw, double at);

/*
 * Returns the longest time between two readings, in s, at which the number of wraps is certain, with a margin of factor
 * 4. INFINITY: it never wraps.
 */
double wtl_counter_period(const wtl_counter *c);

#endif
