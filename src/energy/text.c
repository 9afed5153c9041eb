/* text.c - figures, names and errors as text. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "energy/energy.h"
#include "os/floats.h"
#include "os/locale.h"

/* One for each thread, as wattle.h says. */
static _Thread_local char last_error[3072];

int wtl_energy_fail(int code, const char *format, ...)
{
  WTL_LOCALE_APART;
  va_list args;
  va_start(args, format);
  vsnprintf(last_error, sizeof last_error, format, args);
  va_end(args);
  return code;
}

const char *wattle_last_error(void)
{
  return last_error;
}

const char *wattle_strerror(int error)
{
  switch (error) {
  case WATTLE_OK: return "success";
  case WATTLE_E_ARGUMENT: return "an argument is NULL or out of range";
  case WATTLE_E_SETTING: return "an environment setting or a machine profile is wrong";
  case WATTLE_E_MEMORY: return "out of memory";
  case WATTLE_E_REGION: return "no such region, or it is not open";
  case WATTLE_E_OPEN: return "the region was never ended";
  default: return error > 0 ? "success (a count)" : "unknown error";
  }
}

const char *wattle_provenance_name(wattle_provenance_t provenance)
{
  static const char *const names[] = {"unavailable", "modelled", "measured"};
  return (unsigned)provenance < sizeof names / sizeof *names ? names[provenance] : "unknown";
}

const char *wattle_scope_name(wattle_scope_t scope)
{
  static const char *const names[] = {"process", "core", "package", "dram", "node", "device"};
  return (unsigned)scope < sizeof names / sizeof *names ? names[scope] : "unknown";
}

int wattle_joules_text(const wattle_joules_t *f, char *buf, size_t size)
{
  WTL_LOCALE_APART;
  WTL_FLOATS_APART;
  if (!f || (!buf && size > 0)) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_joules_text: NULL figure or buffer");
  const char *scope = wattle_scope_name(f->scope);
  if (f->provenance == WATTLE_UNAVAILABLE) return snprintf(buf, size, "%s unavailable (%s)", f->domain, scope);
  char gap[64] = "";
  if (f->covered_s < f->interval_s) snprintf(gap, sizeof gap, ", at least: only %.3g s of it covered", f->covered_s);
  return snprintf(buf, size, "%s %.4g J +- %.2g J (%s: %s; %s; %.3g s%s)%s", f->domain, f->joules, f->uncertainty,
                  wattle_provenance_name(f->provenance), f->source, scope, f->interval_s, gap,
                  f->nested ? " within another domain" : "");
}

int wattle_joules_sum(const wattle_joules_t *figures, size_t n, wattle_joules_t *sum)
{
  WTL_FLOATS_APART;
  if ((!figures && n > 0) || !sum) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_joules_sum: NULL figures or sum");
  *sum = (wattle_joules_t){.domain = "sum", .provenance = WATTLE_UNAVAILABLE, .joules = NAN, .uncertainty = NAN};
  size_t added = 0;
  for (size_t i = 0; i < n; i++) {
    const wattle_joules_t *f = &figures[i];
    if (f->nested) continue;
    if (added++ == 0) {
      *sum = *f;
      snprintf(sum->domain, sizeof sum->domain, "sum");
      continue;
    }
    sum->joules += f->joules; /* NaN stays NaN */
    sum->uncertainty += f->uncertainty;
    sum->provenance = f->provenance < sum->provenance ? f->provenance : sum->provenance;
    sum->interval_s = fmax(sum->interval_s, f->interval_s);
    sum->covered_s = fmin(sum->covered_s, f->covered_s);
    if (f->scope != sum->scope) sum->scope = WATTLE_SCOPE_NODE;
    if (strcmp(f->source, sum->source) != 0) snprintf(sum->source, sizeof sum->source, "several");
  }
  return WATTLE_OK;
}

static void print_figures(FILE *out, const wattle_joules_t *figure, int n)
{
  char line[320];
  for (int i = 0; i < n; i++)
    if (wattle_joules_text(&figure[i], line, sizeof line) > 0) fprintf(out, "  %s\n", line);
}

int wattle_energy_print(wattle_energy_t *e, FILE *out)
{
  WTL_LOCALE_APART;
  WTL_FLOATS_APART;
  if (!e || !out) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_energy_print: NULL handle or file");
  wattle_joules_t figure[WTL_MAX_DOMAINS];
  const char *why = wattle_energy_why(e);
  fprintf(out, "meter: %s%s%s%s\n", wattle_energy_meter(e), *why ? " (" : "", why, *why ? ")" : "");
  fprintf(out, "since open:\n");
  print_figures(out, figure, wattle_energy_read(e, figure, WTL_MAX_DOMAINS));
  for (size_t i = 0; i < e->n_regions; i++) {
    const wattle_region_t *r = &e->regions[i]->info;
    fprintf(out, "region %s: %llu calls, %.6g s%s\n", r->name, r->calls, r->seconds, r->open ? " (open)" : "");
    if (r->calls > 0) print_figures(out, figure, wattle_region_joules(e, r->name, figure, WTL_MAX_DOMAINS));
  }
  return WATTLE_OK;
}
