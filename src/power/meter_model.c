/*
 * meter_model.c - the machine profile as a meter: the joules of this process beyond idle, and the idle power of the
 * node.
 */
#include <stdio.h>
#include <string.h>

#include "power/meter.h"

static void *model_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  snprintf(why, why_size, "%s", env->machine ? "" : "no machine profile");
  snprintf(grant, grant_size, "%s", "");
  return (void *)env->machine;
}

static void model_close(void *state)
{
  (void)state; /* the meter owns the profile */
}

static size_t model_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  (void)state;
  out[0] = (wtl_domain){.name = "cpu", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_CPU, .available = true};
  out[1] = (wtl_domain){.name = "dram", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_DRAM, .available = true};
  out[2] = (wtl_domain){.name = "cpu-idle", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_CPU, .available = true};
  out[3] = (wtl_domain){.name = "dram-idle", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_DRAM, .available = true};
  return 4;
}

static void model_read(void *state, wtl_mark *mark)
{
  (void)state;
  (void)mark; /* it needs only the account in the mark */
}

static void model_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                          wattle_joules_t *out, double *random)
{
  (void)random;
  wtl_model_pe(state, did, &out[0]);
  wtl_model_idle(state, b->at - a->at, &out[2]);
  snprintf(out[2].domain, sizeof out[2].domain, "cpu-idle");
  snprintf(out[3].domain, sizeof out[3].domain, "dram-idle");
}

const wtl_meter_ops wtl_meter_model = {.name = "model",
                                       .open = model_open,
                                       .close = model_close,
                                       .domains = model_domains,
                                       .read = model_read,
                                       .between = model_between};
