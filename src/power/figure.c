/* figure.c - makes a figure that is unavailable, and writes figures as JSON. */
#include "power/figure.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

void wtl_figure_none(wattle_joules_t *f, const char *domain, wattle_scope_t scope, double interval_s)
{
  *f = (wattle_joules_t){
      .provenance = WATTLE_UNAVAILABLE, .scope = scope, .joules = NAN, .uncertainty = NAN, .interval_s = interval_s};
  snprintf(f->domain, sizeof f->domain, "%s", domain);
}

void wtl_figures_json(FILE *f, const wattle_joules_t *list, size_t n)
{
  static const char *const provenance[] = {"unavailable", "modelled", "measured"};
  static const char *const scope[] = {"process", "core", "package", "dram", "node", "device"};
  putc('[', f);
  for (size_t i = 0; i < n; i++) {
    if (i) putc(',', f);
    putc('{', f);
    wtl_json_text_field(f, "domain", list[i].domain, 1);
    wtl_json_text_field(f, "provenance", provenance[list[i].provenance], 0);
    wtl_json_text_field(f, "source", list[i].source, 0);
    wtl_json_text_field(f, "scope", scope[list[i].scope], 0);
    wtl_json_number_field(f, "joules", list[i].joules, 0);
    wtl_json_number_field(f, "uncertainty", list[i].uncertainty, 0);
    wtl_json_number_field(f, "interval_s", list[i].interval_s, 0);
    wtl_json_number_field(f, "covered_s", list[i].covered_s, 0);
    putc('}', f);
  }
  putc(']', f);
}
