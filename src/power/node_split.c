/* node_split.c - divides the joules of a node, with a share for other programs where a sensor saw them. */
#include "power/node_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "power/figure.h"

/* Returns the CPU time of other programs since the begin of the interval; 0 if unknown or below the kernel's ticks. */
static double others_cpu_s(double start_machine_s, const wtl_activity *all, size_t n)
{
  double others = wtl_os_machine_cpu_seconds() - start_machine_s;
  for (size_t i = 0; i < n; i++) others -= all[i].active_s + all[i].spin_s + all[i].yield_s;
  double ticks = 2.0 * (double)sysconf(_SC_NPROCESSORS_ONLN) / (double)sysconf(_SC_CLK_TCK);
  return others > ticks ? others : 0; /* also for NaN */
}

/* Fills how long the PEs kept sockets awake and shared cores, with other programs. all[n]: their activity, if any. */
static void fill_cores(const wtl_meter *meter, wtl_activity *all, size_t n, double others_s)
{
  const wtl_machine *machine = wtl_meter_machine(meter);
  double wall_s = 0;
  for (size_t i = 0; i < n; i++) wall_s = fmax(wall_s, all[i].wall_s);
  if (machine) wtl_model_cores(machine, wall_s, others_s, all, n);
}

/* The bytes that other programs move are not counted, so their joules of memory beyond idle are not known. */
static void leave_out_memory_of_others(const wattle_joules_t *total, wattle_joules_t *others, size_t domains)
{
  for (size_t d = 0; d < domains; d++)
    if (total[d].scope == WATTLE_SCOPE_DRAM || strcmp(total[d].domain, "dram") == 0)
      wtl_figure_none(&others[d], total[d].domain, others[d].scope, others[d].interval_s);
}

size_t wtl_split_node(wtl_meter *meter, double start_machine_s, wtl_activity *all, size_t n, wtl_node_joules *node,
                      wattle_joules_t *part)
{
  double others_s = others_cpu_s(start_machine_s, all, n);
  node->others_cpu_s = wtl_meter_measures(meter) ? others_s : 0;
  size_t with_others = n + (node->others_cpu_s > 0);
  wtl_activity *activity = calloc(with_others, sizeof *activity);
  wattle_joules_t *joules = calloc(with_others * WTL_MAX_DOMAINS, sizeof *joules);
  size_t domains = 0;
  if (activity && joules) {
    memcpy(activity, all, n * sizeof *all);
    if (with_others > n) activity[n] = (wtl_activity){.active_s = others_s};
    fill_cores(meter, activity, with_others, others_s - node->others_cpu_s);
    if (with_others > n) activity[n].wall_s = others_s;
    memcpy(all, activity, n * sizeof *all);
    domains = wtl_meter_finish(meter, activity, with_others, node->total, node->idle, joules);
    memcpy(part, joules, n * domains * sizeof *part);
    if (with_others > n) {
      memcpy(node->others, joules + n * domains, domains * sizeof *joules);
      leave_out_memory_of_others(node->total, node->others, domains);
    }
  }
  free(activity);
  free(joules);
  return domains;
}
