/*
 * counter.h - a sensor's counter that wraps, made into 64 bits that do not.
 *
 * Invariants. `uj` never decreases and is never more than was drawn, provided the draw stays below limit_w. What may
 * have been missed on top of it is at most excess_j. A reading is believed only if some draw between 0 and limit_w
 * explains it:
 *
 *   exactly one number of wraps explains the step  the step counts and its time is covered, through failed readings
 *                                                  too: the sensor went on counting
 *   several numbers of wraps explain it            the least counts (a counter that went back may have been reset),
 *                                                  the rest goes to excess_j, its time is not covered
 *   none does                                      the counter was reset, or is garbage: what it has counted since a
 *                                                  reset counts if possible, the rest goes to excess_j, not covered
 */
#ifndef WTL_POWER_COUNTER_H
#define WTL_POWER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wtl_counter {
  uint64_t range_uj;        /* the counter wraps to 0 after this value; 0: it never wraps */
  double limit_w;           /* W, more than the domain can ever draw */
  bool have;                /* there was a good reading */
  uint64_t raw;             /* the last good reading */
  double first_at, good_at; /* s, when the first and the last good reading were taken */
  uint64_t uj;              /* counted since the first good reading */
  double covered_s, excess_j;
} wtl_counter;

/* Takes a good reading of moment `at`. */
void wtl_counter_take(wtl_counter *c, uint64_t raw, double at);

/*
 * Longest time between two readings, in s, that leaves no doubt about wraps, with a factor of 4 to spare; INFINITY if
 * it never wraps.
 */
double wtl_counter_period(const wtl_counter *c);

#endif
