/*
 * meter_cray.c - the counters of HPE Cray's node controller, SYSFS/cray/pm_counters: "12345 J 1700000000 us".
 *
 * All files are rewritten together ten times a second with a time stamp, and `freshness` counts these rounds. The meter
 * reads each file once a round. The counters are whole joules. `energy` is the node; it contains cpu_energy,
 * memory_energy and accelN_energy.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "os/locale.h"
#include "power/sensor/gauge.h"
#include "power/sensor/watt_limit.h"

static void add(wtl_gauges *set, const char *dir, const char *file, const wtl_domain *domain)
{
  char path[512];
  double number;
  snprintf(path, sizeof path, "%s/%s", dir, file);
  if (wtl_gauge_number(set->sys, path, &number) == ENOENT) return;
  wtl_gauge *g = wtl_gauge_add(set, domain);
  if (!g) return;
  snprintf(g->path, sizeof g->path, "%.319s", path);
  snprintf(g->source, sizeof g->source, "pm_counters/%.60s", file);
  g->step_s = 0.1;
  g->limit_w = wtl_watt_limit_default(WATTLE_SCOPE_NODE); /* each file counts all parts of its kind */
}

static void cray_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  char dir[400];
  (void)grant;
  (void)grant_size;
  snprintf(dir, sizeof dir, "%s/cray/pm_counters", env->sysfs);
  add(set, dir, "energy", &(wtl_domain){.name = "node", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_NODE});
  if (set->n == 0) {
    snprintf(why, why_size, "no %s (not an HPE Cray node)", dir);
    return;
  }
  add(set, dir, "cpu_energy", &(wtl_domain){.name = "cpu", .scope = WATTLE_SCOPE_PACKAGE, .nested = true});
  add(set, dir, "memory_energy",
      &(wtl_domain){.name = "dram", .scope = WATTLE_SCOPE_DRAM, .part = WTL_PART_DRAM, .nested = true});
  for (int i = 0; i < 8; i++) {
    char file[32];
    wtl_domain d = {.scope = WATTLE_SCOPE_DEVICE, .nested = true};
    snprintf(file, sizeof file, "accel%d_energy", i);
    snprintf(d.name, sizeof d.name, "accel-%d", i);
    add(set, dir, file, &d);
  }
}

/* The first gauge checks whether there is a new round, and the others follow it. */
static int cray_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  WTL_LOCALE_APART;
  char path[340], text[64] = "";
  if (g == &set->gauge[0]) {
    snprintf(path, sizeof path, "%.*sfreshness", (int)(strrchr(g->path, '/') + 1 - g->path), g->path);
    int n = set->sys->read_file(set->sys->arg, path, text, sizeof text);
    bool is_new = n < 0 || strncmp(text, set->mark, sizeof set->mark) != 0;
    if (is_new) memcpy(set->mark, text, sizeof set->mark);
    g->handle = is_new ? g : NULL;
  }
  if (g->have && !set->gauge[0].handle) return EAGAIN;
  int n = set->sys->read_file(set->sys->arg, g->path, text, sizeof text);
  if (n < 0) return -n;
  double us;
  int found = sscanf(text, "%lf J %lf us", counts, &us);
  if (found < 1 || !isfinite(*counts)) return EBADMSG;
  g->stamp = found == 2 ? 1e-6 * us : NAN;
  return 0;
}

static void *cray_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {.name = "cray", .find = cray_find, .read = cray_read};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_cray = WTL_GAUGE_METER("cray", cray_open);
