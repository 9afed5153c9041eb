/* watt_limit.c - finds the most watts that a domain can draw. */
#include "power/sensor/watt_limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/machine/machine.h"

/*
 * Over its TDP a package may draw its short-term limit, which is up to 4 times as high in laptops (15 W and 64 W), and
 * more without limits on desktops. Below 300 W no limit is set.
 */
static const double TDP_MARGIN = 4, LEAST_PACKAGE_W = 300;

double wtl_watt_limit_default(wattle_scope_t scope)
{
  switch (scope) {
  case WATTLE_SCOPE_NODE: return 20000;
  case WATTLE_SCOPE_DEVICE: return 2500;
  case WATTLE_SCOPE_DRAM: return 800;
  default: return 1000;
  }
}

double wtl_watt_limit_rated(double rated_w, double margin, double otherwise)
{
  double limit = margin * rated_w;
  return limit > 0 && limit <= 10 * otherwise ? limit : otherwise;
}

double wtl_watt_limit_package(const wtl_meter_env *env)
{
  const wtl_machine *m = env->machine;
  double usual = wtl_watt_limit_default(WATTLE_SCOPE_PACKAGE);
  double tdp_w = m && m->matched ? (m->tdp ? m->tdp->value : m->table_tdp_w) : 0;
  if (!(tdp_w > 0)) return usual;
  return fmax(LEAST_PACKAGE_W, wtl_watt_limit_rated(tdp_w, TDP_MARGIN, usual));
}

void wtl_watt_limit_remark(char *text, size_t size, const char *domain, unsigned refused, double limit_w)
{
  size_t used = strlen(text);
  if (refused == 0) return;
  snprintf(text + used, size - used, "%s%s: %u reading%s beyond %.0f W left out", used ? "; " : "", domain, refused,
           refused == 1 ? "" : "s", limit_w);
}
