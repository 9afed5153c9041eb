/* sync_group.c - packs the state of a node. */
#include "govern/sync_group.h"

#include <math.h>

#include "os/floats.h"

/* Losses are rounded to half powers of two: class 1 is this many nanoseconds, and class 63 is 275 s. */
static const double least_loss_ns = 128;

unsigned wtl_state_make(unsigned waits, double loss_ns)
{
  WTL_FLOATS_APART;
  double class = loss_ns > 0 ? round(2 * log2(loss_ns / least_loss_ns)) + 1 : 0;
  return (unsigned)fmin(fmax(class, 0), WTL_LOSSES - 1) * WTL_WAITS_CLASSES + waits;
}

double wtl_state_loss_ns(unsigned state)
{
  WTL_FLOATS_APART;
  unsigned class = state / WTL_WAITS_CLASSES % WTL_LOSSES;
  return class ? least_loss_ns * exp2((class - 1) / 2.0) : 0;
}
