/*
 * meter_model.c - the machine profile as a meter: the joules of this process beyond idle, and the idle power of the
 * node.
 */
#include <stdio.h>
#include <string.h>

#include "power/machine/machine.h"
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

/* A profile whose idle memory is exactly 0 has it in the watts of the CPU, as those by a meter of the whole node. */
static bool has_idle_dram(const wtl_machine *machine)
{
  return machine->idle.dram.value > 0 || machine->idle.dram.plus_minus > 0;
}

static size_t model_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  const wtl_machine *machine = state;
  out[0] = (wtl_domain){.name = "cpu", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_CPU, .available = true};
  out[1] = (wtl_domain){.name = "dram", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_DRAM, .available = true};
  out[2] = (wtl_domain){.name = "cpu-idle", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_CPU, .available = true};
  out[3] = (wtl_domain){.name = "dram-idle", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_DRAM, .available = true};
  return has_idle_dram(machine) ? 4 : 3;
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
  wattle_joules_t idle[2];
  wtl_model_idle(state, b->at - a->at, idle);
  snprintf(idle[0].domain, sizeof idle[0].domain, "cpu-idle");
  snprintf(idle[1].domain, sizeof idle[1].domain, "dram-idle");
  memcpy(&out[2], idle, (has_idle_dram(state) ? 2 : 1) * sizeof *idle);
}

const wtl_meter_ops wtl_meter_model = {.name = "model",
                                       .open = model_open,
                                       .close = model_close,
                                       .domains = model_domains,
                                       .read = model_read,
                                       .between = model_between};
