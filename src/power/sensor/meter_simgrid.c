/*
 * meter_simgrid.c - in simulation: the joules of this PE's core and its share of the node.
 *
 * The simulator adds them up from the core's states and clocks, and from the bytes through its network card and its
 * memory.
 *   cpu   the states of the core, with wake-ups and changes of clock, and its share of the idle node and of the uncore
 *   dram  bytes, and its share of the idle power of memory
 *   nic   the same for the network card
 *
 * The uncertainty follows from that of the numbers in the profile and the cluster. The figures include idle power, and
 * each PE has its own share. So figures of several PEs can be added, and their scope is the process.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"
#include "power/machine/machine.h"
#include "power/meter.h"
#include "sim/simulator.h"

enum { CPU, DRAM, NIC, DOMAINS };

static const wtl_domain domains[DOMAINS] = {
    [CPU] = {.name = "cpu", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_CPU, .available = true},
    [DRAM] = {.name = "dram", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_DRAM, .available = true},
    [NIC] = {.name = "nic", .scope = WATTLE_SCOPE_PROCESS, .part = WTL_PART_DRAM, .available = true},
};

static void *simgrid_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  snprintf(why, why_size, "%s", env->machine ? "" : "no machine profile");
  snprintf(grant, grant_size, "%s", "");
  return (void *)(uintptr_t)env->machine;
}

static void simgrid_close(void *state)
{
  (void)state; /* the meter owns the profile */
}

static size_t simgrid_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  (void)state;
  memcpy(out, domains, sizeof domains);
  return DOMAINS;
}

/* excess_j carries the uncertainty that the simulator knows, up to this mark. The counters have no gaps. */
static wtl_point point(double joules, double uncertainty, double at)
{
  return (wtl_point){.uj = (uint64_t)llround(joules * 1e6), .excess_j = uncertainty, .ok = true, .good_at = at};
}

static void simgrid_read(void *state, wtl_mark *mark)
{
  wtl_sim_energy e = wtl_sim_joules();
  (void)state;
  mark->point[CPU] = point(e.core + e.idle + e.uncore, e.uncore_plus_minus, mark->at);
  mark->point[DRAM] = point(e.dram + e.dram_idle, e.dram_plus_minus, mark->at);
  mark->point[NIC] = point(e.network + e.network_idle, e.network_plus_minus, mark->at);
}

/* Returns the uncertainty of the core's joules, from the profile and the time in each state. */
static double core_plus_minus(const wtl_machine *machine, double wall_s, const wtl_activity *did)
{
  wattle_joules_t pe[2], idle[2];
  wtl_model_pe(machine, did, pe);
  wtl_model_idle(machine, wall_s, idle);
  return pe[0].uncertainty + idle[0].uncertainty;
}

static void simgrid_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                            wattle_joules_t *out, double *random)
{
  double wall_s = b->at - a->at;
  (void)random;
  for (int d = 0; d < DOMAINS; d++) {
    wtl_figure_none(&out[d], domains[d].name, domains[d].scope, wall_s);
    snprintf(out[d].source, sizeof out[d].source, "simulation, %s", wtl_machine_name(state));
    out[d].provenance = WATTLE_MODELLED;
    out[d].joules = (double)(b->point[d].uj - a->point[d].uj) * 1e-6;
    out[d].uncertainty = b->point[d].excess_j - a->point[d].excess_j;
    out[d].covered_s = wall_s;
  }
  out[CPU].uncertainty += core_plus_minus(state, wall_s, did);
}

static const wtl_meter_ops simgrid = {.name = "simgrid",
                                      .open = simgrid_open,
                                      .close = simgrid_close,
                                      .domains = simgrid_domains,
                                      .read = simgrid_read,
                                      .between = simgrid_between,
                                      .measures = true};

/* Sensors are of the machine that simulates. */
const wtl_meter_ops *const wtl_meter_kinds[] = {&simgrid, &wtl_meter_model, &wtl_meter_none, NULL};
