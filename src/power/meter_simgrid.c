/*
 * meter_simgrid.c - in simulation: the joules of this PE's core as SimGrid's energy plugin adds them up, from the watts that the
 * platform has for each clock and for what the core does. How far they can be trusted is what the machine profile says of its
 * watts, so the uncertainty is the model's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"
#include "power/machine.h"
#include "power/meter.h"
#include "sim/simulator.h"

static void *simgrid_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  snprintf(why, why_size, "%s", env->machine ? "" : "no machine profile");
  snprintf(grant, grant_size, "%s", "");
  return (void *)(uintptr_t)env->machine;
}

static void simgrid_close(void *state)
{
  (void)state; /* the profile is the meter's */
}

static size_t simgrid_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  (void)state;
  out[0] = (wtl_domain){.name = "cpu", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_CPU, .available = true};
  return 1;
}

static void simgrid_read(void *state, wtl_mark *mark)
{
  (void)state;
  mark->point[0] = (wtl_point){.uj = (uint64_t)llround(wtl_sim_joules() * 1e6), .ok = true, .good_at = mark->at};
}

static void simgrid_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                            wattle_joules_t *out, double *random)
{
  wattle_joules_t pe[2], idle[2];
  (void)random;
  wtl_model_pe(state, did, pe);
  wtl_model_idle(state, b->at - a->at, idle);
  wtl_figure_none(out, "cpu", WATTLE_SCOPE_NODE, b->at - a->at);
  snprintf(out->source, sizeof out->source, "SimGrid, %s", wtl_machine_name(state));
  out->provenance = WATTLE_MODELLED;
  out->joules = (double)(b->point[0].uj - a->point[0].uj) * 1e-6;
  out->uncertainty = pe[0].uncertainty + idle[0].uncertainty;
  out->covered_s = b->at - a->at;
}

const wtl_meter_ops wtl_meter_simgrid = {.name = "simgrid",
                                         .open = simgrid_open,
                                         .close = simgrid_close,
                                         .domains = simgrid_domains,
                                         .read = simgrid_read,
                                         .between = simgrid_between,
                                         .measures = true};
