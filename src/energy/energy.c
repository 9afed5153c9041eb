/* energy.c - opens, reads and closes the meter of wattle.h. */
#include "energy/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "os/floats.h"

/* Returns the setting for a meter's name, or -1. NULL and "auto" give `otherwise`, the value from the environment. */
static int meter_kind(const char *name, int otherwise)
{
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {{"powercap", WTL_METER_POWERCAP}, {"perf", WTL_METER_PERF}, {"cray", WTL_METER_CRAY},
               {"hwmon", WTL_METER_HWMON},       {"nvml", WTL_METER_NVML}, {"model", WTL_METER_MODEL},
               {"none", WTL_METER_NONE}};
  if (!name || strcmp(name, "auto") == 0) return otherwise;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(name, kinds[i].name) == 0) return kinds[i].kind;
  return -1;
}

static wattle_energy_t *open_with(wtl_settings *s)
{
  char error[1024] = "";
  wattle_energy_t *e = calloc(1, sizeof *e);
  if (!e) {
    wtl_energy_fail(WATTLE_E_MEMORY, "wattle_energy_open: out of memory");
    return NULL;
  }
  e->meter = wtl_meter_open(s, error, sizeof error);
  if (!e->meter) {
    wtl_energy_fail(WATTLE_E_SETTING, "wattle_energy_open: %s", error);
    free(e);
    return NULL;
  }
  wtl_domain domains[WTL_MAX_DOMAINS];
  e->n_domains = wtl_meter_domains(e->meter, domains);
  wtl_meter_mark(e->meter, &e->opened);
  return e;
}

wattle_energy_t *wattle_energy_open(const char *meter)
{
  WTL_FLOATS_APART;
  char errors[2048] = "";
  wtl_settings s;
  if (wtl_settings_parse(&s, errors, sizeof errors) != 0) {
    wtl_energy_fail(WATTLE_E_SETTING, "wattle_energy_open: %s", errors);
    return NULL;
  }
  int kind = meter_kind(meter, (int)s.meter.number);
  if (kind < 0) {
    wtl_energy_fail(
        WATTLE_E_ARGUMENT,
        "wattle_energy_open: no meter \"%.64s\"; there are auto, powercap, perf, cray, hwmon, nvml, model, none",
        meter);
    return NULL;
  }
  s.meter.number = kind;
  return open_with(&s);
}

void wattle_energy_close(wattle_energy_t *e)
{
  if (!e) return;
  wtl_regions_free(e);
  wtl_meter_close(e->meter);
  free(e);
}

const char *wattle_energy_meter(const wattle_energy_t *e)
{
  return e ? wtl_meter_name(e->meter) : "";
}

const char *wattle_energy_why(const wattle_energy_t *e)
{
  return e ? wtl_meter_why(e->meter) : "";
}

size_t wattle_energy_domains(const wattle_energy_t *e)
{
  return e ? e->n_domains : 0;
}

int wattle_energy_read(wattle_energy_t *e, wattle_joules_t *out, size_t max)
{
  WTL_FLOATS_APART;
  if (!e || (!out && max > 0)) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_energy_read: NULL handle or array");
  wtl_mark now;
  wattle_joules_t all[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  wtl_meter_mark(e->meter, &now);
  size_t n = wtl_meter_between(e->meter, &e->opened, &now, e->bytes, all, random);
  if (max > 0) memcpy(out, all, (n < max ? n : max) * sizeof *out);
  return (int)n;
}

int wattle_energy_add_bytes(wattle_energy_t *e, double bytes)
{
  WTL_FLOATS_APART;
  if (!e) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_energy_add_bytes: NULL handle");
  if (!isfinite(bytes) || bytes < 0)
    return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_energy_add_bytes: %g bytes, must be finite and not negative",
                           bytes);
  e->bytes += bytes;
  return WATTLE_OK;
}
