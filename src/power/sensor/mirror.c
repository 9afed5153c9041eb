/*
 * mirror.c - detects a counter that is shown twice.
 *
 * Two readings are of one counter if their difference stays the same while they advance. The second counter is read
 * between two readings of the first. So an update in between widens the possible difference and does not falsify it. At
 * least one sample must be exact. Separate counters drift apart by thousands of steps between samples.
 */
#include "power/sensor/mirror.h"

enum { SAMPLES = 12, ADVANCES_NEEDED = 3 };
static const double PERIOD_S = 0.002; /* sensors update about once a millisecond */

/* Returns the difference of two counters of one range, corrected for one wrap. */
static int64_t difference(int64_t b, int64_t a, uint64_t range)
{
  int64_t d = b - a, half = (int64_t)(range / 2);
  if (range == 0) return d;
  if (d > half) d -= (int64_t)range;
  if (d < -half) d += (int64_t)range;
  return d;
}

bool wtl_mirror_found(const wtl_sys *sys, wtl_mirror_read read, void *arg, uint64_t range)
{
  int64_t low = INT64_MIN, high = INT64_MAX, last = -1, value = 0;
  int advances = 0;
  bool exact = false;
  for (int i = 0; i < SAMPLES && (advances < ADVANCES_NEEDED || !exact); i++) {
    int64_t before, after;
    if (!read(arg, 0, &before) || !read(arg, 1, &value) || !read(arg, 0, &after)) return false;
    int64_t from = difference(value, after, range), to = difference(value, before, range);
    if (from > low) low = from;
    if (to < high) high = to;
    if (low > high) return false;
    exact = exact || before == after;
    advances += last >= 0 && before != last;
    last = before;
    sys->sleep(sys->arg, PERIOD_S);
  }
  /* Counters that do not advance prove nothing, except if both show the same number. */
  return exact && (advances >= ADVANCES_NEEDED || (advances == 0 && low == 0 && high == 0 && value != 0));
}
