/*
 * extent.h - the shortest and the longest length of a region in a while, which fade slowly towards later ones.
 *
 * A region whose lengths lie within a factor of WTL_EXTENT_REGULAR is regular. One value outside makes it irregular,
 * and it becomes regular again once the old extreme has faded. So a region that changes its length tenfold counts as
 * irregular for about 14 instances, and at a hundredfold for about 160.
 */
#ifndef WTL_GOVERN_EXTENT_H
#define WTL_GOVERN_EXTENT_H

#include <math.h>
#include <stdbool.h>

enum { WTL_EXTENT_FADES = 64, WTL_EXTENT_REGULAR = 8 };

/* Zeroes: no value yet. */
typedef struct wtl_extent {
  double least, most;
} wtl_extent;

/* Adds a length; any unit, above 0. */
static inline void wtl_extent_add(wtl_extent *e, double length)
{
  const double keeps = 1 - 1.0 / WTL_EXTENT_FADES;
  e->least = e->least > 0 ? fmin(e->least / keeps, length) : length;
  e->most = fmax(e->most * keeps, length);
}

static inline bool wtl_extent_is_regular(const wtl_extent *e)
{
  return e->most <= WTL_EXTENT_REGULAR * e->least;
}

#endif
