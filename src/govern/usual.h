/* usual.h - the usual one of the last lengths of a region, which a few much longer or shorter ones do not move. */
#ifndef WTL_GOVERN_USUAL_H
#define WTL_GOVERN_USUAL_H

#include <stdint.h>

/* The last values; a quarter of them at most is unusual. */
enum { WTL_USUAL_OF = 15 };

/* Zeroes: no value yet. */
typedef struct wtl_usual {
  float recent[WTL_USUAL_OF];
  uint32_t n; /* so far */
} wtl_usual;

void wtl_usual_add(wtl_usual *u, double value);

/* Makes the last value longer. */
static inline void wtl_usual_extend(wtl_usual *u, double more)
{
  u->recent[(u->n - 1) % WTL_USUAL_OF] += (float)more;
}

/* The mean without the least and the greatest quarter; 0 without values. */
double wtl_usual_mean(const wtl_usual *u);

/* By how much the usual value of `a` is greater than that of `b`, beyond what chance explains: less two standard errors
 * of the difference. Both are taken to vary as the one that varies more. 0 if it is not greater. */
double wtl_usual_excess(const wtl_usual *a, const wtl_usual *b);

/* By how much even the least value of `a` is greater than the median of `b`. 0 if it is not, or if `a` has too few
 * values to show that all of them are. This holds also where many values differ much. */
double wtl_usual_shift(const wtl_usual *a, const wtl_usual *b);

#endif
