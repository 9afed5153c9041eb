/* packages.c - reads WATTLE_UNCORE and WATTLE_PACKAGE_LIMIT, sets their values, and restores what was found. */
#include "govern/packages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "govern/vote.h"
#include "os/locale.h"

/* ---- settings ---- */

/* Returns a positive number that is followed by nothing or by the unit; NaN for other texts. */
static double quantity(const char *text, const char *unit)
{
  WTL_LOCALE_APART;
  char *end;
  double number = strtod(text, &end);
  if (end == text || !(number > 0) || !isfinite(number)) return NAN;
  while (*end == ' ') end++;
  return !*end || strcmp(end, unit) == 0 ? number : NAN;
}

int wtl_packages_read(const wtl_settings *settings, wtl_packages_asked *asked, char *error, size_t size)
{
  const char *uncore = settings->uncore.text, *limit = settings->package_limit.text;
  double ghz = quantity(uncore, "GHz"), watts = *limit ? quantity(limit, "W") : 0;
  *asked = (wtl_packages_asked){.package_limit_w = watts};
  if (strcmp(uncore, "wait") == 0) {
    asked->uncore = WTL_UNCORE_WAIT;
  } else if (*uncore && strcmp(uncore, "off") != 0) {
    asked->uncore = WTL_UNCORE_FIXED;
    asked->uncore_ghz = ghz;
  }
  if (asked->uncore == WTL_UNCORE_FIXED && !(ghz <= 20))
    snprintf(error, size, "WATTLE_UNCORE=%.100s is not a value; expected off, wait or a clock in GHz such as 1.6",
             uncore);
  else if (!(watts <= 100000))
    snprintf(error, size, "WATTLE_PACKAGE_LIMIT=%.100s is not a value; expected watts such as 120W", limit);
  else if (watts > 0 && settings->knob.number == WTL_KNOB_POWERCAP)
    snprintf(error, size,
             "WATTLE_PACKAGE_LIMIT and WATTLE_KNOB=powercap both set the power limits of packages; use one");
  else
    return 0;
  return WTL_EXIT_CONFIG;
}

bool wtl_packages_wanted(const wtl_settings *settings)
{
  wtl_packages_asked asked;
  char error[300];
  if (wtl_packages_read(settings, &asked, error, sizeof error) != 0) return true; /* the start reports it */
  return asked.uncore != WTL_UNCORE_OFF || asked.package_limit_w > 0;
}

/* ---- setting ---- */

/* Keeps the first reason. */
static void note_why(wtl_package_value *l)
{
  if (!*l->why) snprintf(l->why, sizeof l->why, "%s", wtl_knob_why(l->knob));
}

static size_t claim_all(wtl_package_value *l, bool *claimed)
{
  size_t n = 0;
  for (size_t d = 0; d < wtl_knob_domains(l->knob) && d < WTL_MAX_PACKAGES; d++) {
    claimed[d] = wtl_knob_claim(l->knob, d) == 0;
    if (claimed[d])
      n++;
    else
      note_why(l);
  }
  return n;
}

/* `unit`: the domain's clock for one GHz or one watt. */
static void set_all(wtl_package_value *l, const bool *claimed, double unit)
{
  for (size_t d = 0; d < wtl_knob_domains(l->knob) && d < WTL_MAX_PACKAGES; d++) {
    if (!claimed[d]) continue;
    uint32_t value = wtl_knob_clock_at_least(wtl_knob_domain(l->knob, d), round(l->asked * unit));
    if (wtl_knob_set(l->knob, d, value) != 0) {
      note_why(l);
      continue;
    }
    l->packages++;
    l->set = fmax(l->set, value / unit);
  }
}

/* A value within 1 % of the one asked for counts as set, because users round. */
static void report(const wtl_package_value *l, const char *name, const char *unit)
{
  if (l->packages == 0)
    wtl_message_print("%s: it cannot be set here: %s", name, l->why);
  else if (*l->why)
    wtl_message_print("%s: not every package can be set: %s", name, l->why);
  if (l->packages && fabs(l->set - l->asked) > 0.01 * l->asked)
    wtl_message_print("%s: %g %s cannot be set, which is outside the limits found: %g %s is used", name, l->asked, unit,
                      l->set, unit);
}

static void start(wtl_package_value *l, double unit, const pid_t *pids, size_t n)
{
  bool claimed[WTL_MAX_PACKAGES] = {false};
  if (wtl_knob_is_none(l->knob)) {
    note_why(l);
    return;
  }
  if (claim_all(l, claimed) == 0) return;
  if (wtl_knob_guard(l->knob, pids, n) != 0) {
    note_why(l);
    wtl_knob_restore(l->knob);
    return;
  }
  set_all(l, claimed, unit);
}

void wtl_packages_start(wtl_packages *l, const wtl_settings *settings, const cpu_set_t *cpus, const pid_t *pids,
                        size_t n)
{
  wtl_packages_asked asked;
  char error[300];
  if (wtl_packages_read(settings, &asked, error, sizeof error) != 0) return;
  if (asked.package_limit_w > 0) {
    l->package.asked = asked.package_limit_w;
    l->package.knob = wtl_knob_open_package(settings, WTL_PACKAGE_LIMIT, cpus, &wtl_knob_sys_real);
    if (l->package.knob) start(&l->package, 1e3, pids, n);
    report(&l->package, "WATTLE_PACKAGE_LIMIT", "W");
  }
  if (asked.uncore == WTL_UNCORE_FIXED) {
    l->uncore.asked = asked.uncore_ghz;
    l->uncore.knob = wtl_knob_open_package(settings, WTL_PACKAGE_UNCORE, cpus, &wtl_knob_sys_real);
    if (l->uncore.knob) start(&l->uncore, 1e6, pids, n);
    report(&l->uncore, "WATTLE_UNCORE", "GHz");
  }
}

static void stop(wtl_package_value *l)
{
  if (l->knob) wtl_knob_restore(l->knob);
  wtl_knob_close(l->knob);
  l->knob = NULL;
}

void wtl_packages_stop(wtl_packages *l)
{
  stop(&l->uncore);
  stop(&l->package);
}

/* ---- in the profile ---- */

static void write_one(FILE *f, const wtl_package_value *l, const char *name, const char *unit)
{
  if (!(l->asked > 0)) return;
  fprintf(f, ",\"%s\":{", name);
  wtl_json_text_field(f, "unit", unit, 1);
  wtl_json_number_field(f, "asked", l->asked, 0);
  wtl_json_number_field(f, "set", l->packages ? l->set : NAN, 0);
  wtl_json_number_field(f, "packages", (double)l->packages, 0);
  wtl_json_text_field(f, "why", l->why, 0);
  putc('}', f);
}

void wtl_packages_write(FILE *f, const wtl_packages *l)
{
  write_one(f, &l->uncore, "uncore_limit", "GHz");
  write_one(f, &l->package, "package_limit", "W");
}
