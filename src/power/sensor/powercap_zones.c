/* powercap_zones.c - finds the zones of the powercap tree, classifies them by name, and reads them. */
#include "power/sensor/powercap_zones.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/sensor/mirror.h"
#include "power/sensor/watt_limit.h"

enum { RAW_MAX = 512 }; /* entries examined; a node of 20 packages has about 160 */

/* An entry of the tree before its classification. */
typedef struct raw_zone {
  char id[48], dir[448], name[48];
} raw_zone;

/* The entries of the tree. */
typedef struct raw_zones {
  raw_zone *list;
  size_t n, hidden;
} raw_zones;

static uint64_t read_number(const wtl_sys *sys, const char *dir, const char *name)
{
  char file[512], text[64];
  snprintf(file, sizeof file, "%s/%s", dir, name);
  if (sys->read_file(sys->arg, file, text, sizeof text) <= 0) return 0;
  return strtoull(text, NULL, 10);
}

/*
 * Returns the watts that the hardware states for a zone: the largest maximum of its constraints. The limits that are
 * set do not count, because a program may raise them later.
 */
static double stated_watts(const wtl_sys *sys, const char *dir)
{
  double most = 0;
  for (int i = 0; i < 3; i++) {
    char name[40];
    snprintf(name, sizeof name, "constraint_%d_max_power_uw", i);
    most = fmax(most, 1e-6 * (double)read_number(sys, dir, name));
  }
  return most;
}

/* The platform's counter: "psys", or "psys-1" of the second socket's. */
static bool is_platform(const char *name)
{
  return strncmp(name, "psys", 4) == 0 && (name[4] == '\0' || name[4] == '-');
}

/*
 * The maximum of constraint 0 is often the TDP. Short-term limits are up to 4 times as high (laptops of 15 W), and
 * desktops may have none. No package is limited below 300 W.
 */
static double limit_watts(const wtl_meter_env *env, const raw_zone *raw)
{
  static const double margin = 4, least_w = 300;
  if (is_platform(raw->name)) return wtl_watt_limit_default(WATTLE_SCOPE_NODE);
  if (strcmp(raw->name, "dram") == 0) return wtl_watt_limit_default(WATTLE_SCOPE_DRAM);
  double stated = strncmp(raw->name, "package-", 8) == 0 ? stated_watts(env->sys, raw->dir) : 0;
  return fmax(least_w, wtl_watt_limit_rated(stated, margin, wtl_watt_limit_package(env)));
}

/* Is this a name such as "intel-rapl:0:1": a control type, then indices? */
static bool is_zone_id(const char *s)
{
  const char *colon = strchr(s, ':');
  if (!colon || colon == s || strlen(s) >= sizeof((raw_zone *)0)->id) return false;
  for (const char *p = colon; *p; p++)
    if (*p != ':' && !isxdigit((unsigned char)*p)) return false;
  return true;
}

static int only_zones(const struct dirent *e)
{
  return is_zone_id(e->d_name);
}

static bool known(const raw_zone *list, size_t n, const char *id)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i].id, id) == 0) return true;
  return false;
}

/*
 * Adds the zones of a directory and those inside them. /sys lists subzones at the top, too; copied trees only inside.
 */
static void scan(const wtl_sys *sys, const char *dir, raw_zones *raw, int depth)
{
  struct dirent **entry = NULL;
  int found = scandir(dir, &entry, only_zones, versionsort);
  for (int i = 0; i < found; i++) {
    if (raw->n < RAW_MAX && !known(raw->list, raw->n, entry[i]->d_name)) {
      raw_zone *z = &raw->list[raw->n];
      char file[512], inside[sizeof z->dir];
      snprintf(z->id, sizeof z->id, "%.47s", entry[i]->d_name);
      int length = snprintf(z->dir, sizeof z->dir, "%s/%s", dir, entry[i]->d_name);
      snprintf(file, sizeof file, "%s/name", z->dir);
      bool fits = length > 0 && (size_t)length < sizeof z->dir;
      int got = fits ? sys->read_file(sys->arg, file, z->name, sizeof z->name) : 0;
      if (got == -ENOENT && entry[i]->d_type == DT_LNK) raw->hidden++;
      if (got > 0) {
        z->name[strcspn(z->name, "\n")] = '\0';
        memcpy(inside, z->dir, sizeof inside);
        raw->n++;
        if (depth < 2) scan(sys, inside, raw, depth + 1);
      }
    }
    free(entry[i]);
  }
  if (found >= 0) free(entry);
}

static const raw_zone *parent_of(const raw_zone *list, size_t n, const raw_zone *z)
{
  size_t length = (size_t)(strrchr(z->id, ':') - z->id);
  for (size_t i = 0; i < n; i++)
    if (strlen(list[i].id) == length && strncmp(list[i].id, z->id, length) == 0) return &list[i];
  return NULL;
}

/* Returns the part of the name that identifies the package: "package-3-die-1" gives "3-die-1". */
static const char *package_suffix(const raw_zone *parent)
{
  return parent && strncmp(parent->name, "package-", 8) == 0 ? parent->name + 8 : "?";
}

/*
 * Classifies a zone by its name. Returns false for an unknown name. Such a zone is ignored, because it may overlap
 * others.
 */
static bool classify(const raw_zone *z, const raw_zone *parent, wtl_domain *d)
{
  *d = (wtl_domain){.part = WTL_PART_CPU};
  if (strncmp(z->name, "package-", 8) == 0) {
    d->scope = WATTLE_SCOPE_PACKAGE;
    snprintf(d->name, sizeof d->name, "%.31s", z->name);
  } else if (strcmp(z->name, "dram") == 0) {
    d->scope = WATTLE_SCOPE_DRAM;
    d->part = WTL_PART_DRAM;
    snprintf(d->name, sizeof d->name, "dram-%.25s", package_suffix(parent));
  } else if (strcmp(z->name, "core") == 0 || strcmp(z->name, "uncore") == 0) {
    d->scope = WATTLE_SCOPE_CORE;
    d->nested = true;
    snprintf(d->name, sizeof d->name, "%.6s-%.20s", z->name, package_suffix(parent));
  } else if (is_platform(z->name)) {
    d->scope = WATTLE_SCOPE_NODE;
    d->part = WTL_PART_NODE;
    d->nested = true;
    snprintf(d->name, sizeof d->name, "%.31s", z->name);
  } else {
    return false;
  }
  return true;
}

void wtl_zone_read(wtl_zone *z, const wtl_sys *sys)
{
  char text[64], *end;
  int n = sys->read_file(sys->arg, z->path, text, sizeof text);
  double at = sys->now(sys->arg);
  if (n < 0) {
    z->error = -n;
    return;
  }
  errno = 0;
  unsigned long long raw = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
  bool good = isdigit((unsigned char)text[0]) && errno == 0 && (*end == '\n' || *end == '\0');
  if (!good)
    z->error = EBADMSG;
  else if (z->counter.range_uj > 0 && raw > z->counter.range_uj)
    z->error = EOVERFLOW;
  else
    z->error = wtl_counter_take(&z->counter, raw, at) ? 0 : ERANGE;
}

static void fill(const wtl_meter_env *env, const raw_zone *raw, wtl_zone *z)
{
  snprintf(z->id, sizeof z->id, "%s", raw->id);
  snprintf(z->path, sizeof z->path, "%s/energy_uj", raw->dir);
  z->counter = (wtl_counter){.range_uj = read_number(env->sys, raw->dir, "max_energy_range_uj"),
                             .limit_w = limit_watts(env, raw)};
  z->error = 0;
}

static bool is_msr(const raw_zone *z)
{
  return strncmp(z->id, "intel-rapl:", 11) == 0;
}

/* Can this zone be read? Checked only if another zone could replace it. */
static bool readable(const wtl_meter_env *env, const char *path)
{
  char text[64];
  return env->sys->read_file(env->sys->arg, path, text, sizeof text) > 0;
}

/* Adds a zone. If there is the same domain of intel-rapl, that one stays, unless only the new one can be read. */
static void add(const wtl_meter_env *env, const raw_zone *raw, const wtl_domain *d, wtl_zone *out, size_t max,
                wtl_powercap_found *found)
{
  wtl_zone z = {.domain = *d};
  fill(env, raw, &z);
  for (size_t i = 0; i < found->n; i++) {
    if (strcmp(out[i].domain.name, d->name) != 0) continue;
    if (!readable(env, out[i].path) && readable(env, z.path)) out[i] = z;
    return;
  }
  if (found->n < max)
    out[found->n++] = z;
  else
    found->left_out++;
}

wtl_powercap_found wtl_powercap_find(const wtl_meter_env *env, wtl_zone *out, size_t max)
{
  char root[400];
  snprintf(root, sizeof root, "%s/class/powercap", env->sysfs);
  raw_zones raw = {.list = calloc(RAW_MAX + 1, sizeof *raw.list)};
  if (!raw.list) return (wtl_powercap_found){.n = 0};
  scan(env->sys, root, &raw, 0);
  wtl_powercap_found found = {.hidden = raw.hidden};
  bool package = false;
  for (size_t i = 0; i < raw.n; i++) package = package || strncmp(raw.list[i].name, "package-", 8) == 0;
  for (int pass = 0; pass < 4; pass++) { /* top-level zones before nested ones, intel-rapl before the others */
    for (size_t i = 0; i < raw.n; i++) {
      const raw_zone *z = &raw.list[i];
      wtl_domain d;
      if (!classify(z, parent_of(raw.list, raw.n, z), &d)) continue;
      if (d.scope == WATTLE_SCOPE_NODE && !package) d.nested = false;
      if (d.nested == (pass >= 2) && is_msr(z) == (pass % 2 == 0)) add(env, z, &d, out, max, &found);
    }
  }
  free(raw.list);
  return found;
}

/* --- zones that show the same counter --- */

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
