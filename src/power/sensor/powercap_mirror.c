/* powercap_mirror.c - removes zones of one package that show the same counter. */
#include "power/sensor/powercap_mirror.h"

#include <stdlib.h>
#include <string.h>

#include "power/sensor/mirror.h"

/*
 * Are these zones of one package, such as "package-0-die-1" and "package-0-die-2", or "package-0" and
 * "package-0-die-1"?
 */
static bool same_package(const wtl_zone *a, const wtl_zone *b)
{
  if (a->domain.scope != WATTLE_SCOPE_PACKAGE || b->domain.scope != WATTLE_SCOPE_PACKAGE) return false;
  return strtol(a->domain.name + 8, NULL, 10) == strtol(b->domain.name + 8, NULL, 10);
}

typedef struct pair {
  const wtl_zone *zone[2];
  const wtl_sys *sys;
} pair;

static bool read_of_pair(void *arg, size_t which, int64_t *value)
{
  const pair *p = arg;
  wtl_zone copy = *p->zone[which];
  copy.counter.have = false;
  wtl_zone_read(&copy, p->sys);
  if (copy.error) return false;
  *value = (int64_t)copy.counter.raw;
  return true;
}

static bool mirrored(const wtl_zone *a, const wtl_zone *b, const wtl_sys *sys)
{
  pair p = {{a, b}, sys};
  return a->counter.range_uj == b->counter.range_uj && wtl_mirror_found(sys, read_of_pair, &p, a->counter.range_uj);
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
