/*
 * powercap_mirror.c - detects zones of one package that show the same counter.
 *
 * Two zones are one counter if the difference of their readings stays the same while they advance. The second zone is
 * read between two readings of the first. So an update in between widens the possible difference and does not falsify
 * it. At least one sample must be exact. The counters of separate dies drift apart by thousands of steps between
 * samples.
 */
#include "power/powercap_mirror.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 12, ADVANCES_NEEDED = 3 };
static const double PERIOD_S = 0.002; /* sensors update about once a millisecond */

/*
 * Are these zones of one package, such as "package-0-die-1" and "package-0-die-2", or "package-0" and
 * "package-0-die-1"?
 */
static bool same_package(const wtl_zone *a, const wtl_zone *b)
{
  if (a->domain.scope != WATTLE_SCOPE_PACKAGE || b->domain.scope != WATTLE_SCOPE_PACKAGE) return false;
  return strtol(a->domain.name + 8, NULL, 10) == strtol(b->domain.name + 8, NULL, 10);
}

static bool read_raw(wtl_zone *z, const wtl_sys *sys, int64_t *out)
{
  wtl_zone copy = *z;
  copy.counter.have = false;
  wtl_zone_read(&copy, sys);
  if (copy.error) return false;
  *out = (int64_t)copy.counter.raw;
  return true;
}

/* Returns the difference of two counters of one range, corrected for one wrap. */
static int64_t difference(int64_t b, int64_t a, uint64_t range)
{
  int64_t d = b - a, half = (int64_t)(range / 2);
  if (range == 0) return d;
  if (d > half) d -= (int64_t)range;
  if (d < -half) d += (int64_t)range;
  return d;
}

static bool mirrored(wtl_zone *a, wtl_zone *b, const wtl_sys *sys)
{
  uint64_t range = a->counter.range_uj;
  if (range != b->counter.range_uj) return false;
  int64_t low = INT64_MIN, high = INT64_MAX, last = -1, value = 0;
  int advances = 0;
  bool exact = false;
  for (int i = 0; i < SAMPLES && (advances < ADVANCES_NEEDED || !exact); i++) {
    int64_t before, after;
    if (!read_raw(a, sys, &before) || !read_raw(b, sys, &value) || !read_raw(a, sys, &after)) return false;
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

size_t wtl_powercap_drop_mirrors(wtl_zone *zones, size_t n, const wtl_sys *sys)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n;) {
      if (!same_package(&zones[i], &zones[j]) || !mirrored(&zones[i], &zones[j], sys)) {
        j++;
        continue;
      }
      memmove(&zones[j], &zones[j + 1], (n - j - 1) * sizeof *zones);
      n--;
    }
  return n;
}
