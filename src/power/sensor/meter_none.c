/* meter_none.c - the meter `none`, which costs nothing and whose figures are all unavailable. */
#include <stdio.h>

#include "power/figure.h"
#include "power/meter.h"

static void *none_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  (void)env;
  snprintf(why, why_size, "%s", "");
  snprintf(grant, grant_size, "%s", "");
  static char nothing;
  return &nothing;
}

static void none_close(void *state)
{
  (void)state;
}

static size_t none_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  (void)state;
  out[0] = (wtl_domain){.name = "cpu", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_CPU};
  out[1] = (wtl_domain){.name = "dram", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_DRAM};
  return 2;
}

static void none_read(void *state, wtl_mark *mark)
{
  (void)state;
  (void)mark;
}

static void none_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                         wattle_joules_t *out, double *random)
{
  (void)random;
  (void)state;
  (void)did;
  wtl_figure_none(&out[0], "cpu", WATTLE_SCOPE_NODE, b->at - a->at);
  wtl_figure_none(&out[1], "dram", WATTLE_SCOPE_NODE, b->at - a->at);
}

const wtl_meter_ops wtl_meter_none = {.name = "none",
                                      .open = none_open,
                                      .close = none_close,
                                      .domains = none_domains,
                                      .read = none_read,
                                      .between = none_between};
