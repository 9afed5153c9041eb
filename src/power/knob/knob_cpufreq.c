/*
 * knob_cpufreq.c - the clocks of Linux cpufreq, SYSFS/devices/system/cpu/cpuN/cpufreq (drivers acpi-cpufreq,
 * intel_pstate, amd-pstate, cppc_cpufreq and others with the same attributes).
 *
 * The first of these that this process may write is used, for all policies of a domain:
 *   scaling_setspeed               with the governor `userspace`: the clock itself
 *   scaling_max_freq, _min_freq    with any other governor: a ceiling. Above the base clock also a floor, because a
 *                                  governor that reacts to load would delay the boost
 *   energy_performance_preference  intel_pstate, amd-pstate: a hint, `power` below the base clock, `performance` above
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/machine/clock_domains.h"
#include "power/knob/knob_kind.h"

static bool text_of(const wtl_knob *k, int cpu, const char *file, char *text, size_t size)
{
  char path[64];
  snprintf(path, sizeof path, "cpufreq/%s", file);
  return wtl_cpu_file(k->os->sys, k->sysfs, cpu, path, text, size) > 0;
}

static uint32_t khz_of(const wtl_knob *k, int cpu, const char *file)
{
  double number = wtl_knob_number(k, cpu, file);
  return number >= 1 && number < UINT32_MAX ? (uint32_t)number : 0;
}

static void read_steps(const wtl_knob *k, int cpu, wtl_clock_domain *c)
{
  char text[2048], *at = text, *end;
  c->n_steps = 0;
  if (!text_of(k, cpu, "scaling_available_frequencies", text, sizeof text)) return;
  for (;; at = end) {
    unsigned long clock = strtoul(at, &end, 10);
    if (end == at || c->n_steps == sizeof c->step / sizeof c->step[0]) return;
    size_t i = c->n_steps++;
    for (; i > 0 && c->step[i - 1] > clock; i--) c->step[i] = c->step[i - 1];
    c->step[i] = (uint32_t)clock;
  }
}

/* acpi-cpufreq shows turbo as one more clock, 1 MHz above the highest one that is no turbo. */
static uint32_t base_of(const wtl_knob *k, int cpu, const wtl_clock_domain *c, uint32_t highest)
{
  uint32_t stated = khz_of(k, cpu, "cpufreq/base_frequency");
  size_t n = c->n_steps;
  if (!stated) stated = khz_of(k, cpu, "acpi_cppc/nominal_freq") * 1000; /* in MHz */
  if (!stated && n > 1 && c->step[n - 1] == c->step[n - 2] + 1000) stated = c->step[n - 2];
  return stated && stated < highest ? stated : highest;
}

static bool is_userspace(const wtl_knob *k, int cpu)
{
  char governor[64];
  return text_of(k, cpu, "scaling_governor", governor, sizeof governor) && strcmp(governor, "userspace") == 0;
}

/* Limits that an administrator or another tool has set are kept. */
int wtl_cpufreq_clocks(wtl_knob *k, wtl_clock_domain *c)
{
  int cpu = wtl_knob_first_cpu(c);
  uint32_t ceiling = khz_of(k, cpu, "cpufreq/scaling_max_freq"), floor = khz_of(k, cpu, "cpufreq/scaling_min_freq");
  double latency_ns = wtl_knob_number(k, cpu, "cpufreq/cpuinfo_transition_latency");
  if (!ceiling) ceiling = khz_of(k, cpu, "cpufreq/cpuinfo_max_freq");
  if (!floor) floor = khz_of(k, cpu, "cpufreq/cpuinfo_min_freq");
  if (!ceiling || !floor || floor > ceiling) {
    snprintf(k->why, sizeof k->why,
             "no clocks under %s/devices/system/cpu/cpu%d/cpufreq (a virtual machine, or no driver)", k->sysfs, cpu);
    return ENODEV;
  }
  read_steps(k, cpu, c);
  c->min_khz = floor;
  c->max_khz = ceiling;
  c->base_khz = base_of(k, cpu, c, ceiling);
  if (c->base_khz < floor) c->base_khz = floor;
  c->latency_s = latency_ns > 0 && latency_ns < 1e9 ? latency_ns * 1e-9 : NAN; /* 2^32 - 1: unknown to the driver */
  c->found_khz = ceiling;
  if (is_userspace(k, cpu)) c->found_khz = khz_of(k, cpu, "cpufreq/scaling_setspeed");
  if (c->found_khz < floor || c->found_khz > ceiling) c->found_khz = c->base_khz;
  return 0;
}

static int add_of_all(wtl_knob *k, wtl_knob_unit *d, wtl_knob_attribute attribute)
{
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    char list[4096];
    cpu_set_t policy;
    if (!CPU_ISSET((size_t)cpu, &d->clock.cpus) || CPU_ISSET((size_t)cpu, &seen)) continue;
    int error = wtl_knob_add_file(k, d, attribute, cpu);
    if (error) return error;
    if (text_of(k, cpu, "related_cpus", list, sizeof list) && wtl_cpu_list(list, &policy))
      CPU_OR(&seen, &seen, &policy);
  }
  return 0;
}

static void forget_files(wtl_knob_unit *d)
{
  for (size_t i = 0; i < d->n_files; i++) free(d->file[i].path);
  free(d->file);
  d->file = NULL;
  d->n_files = 0;
}

/* Adds ceilings before floors, which is the order of writing for a higher clock. */
static bool use_limits(wtl_knob *k, wtl_knob_unit *d)
{
  if (add_of_all(k, d, WTL_KNOB_CEILING) == 0 && add_of_all(k, d, WTL_KNOB_FLOOR) == 0 && wtl_knob_may_write(k, d))
    return true;
  forget_files(d);
  return false;
}

static bool use_one(wtl_knob *k, wtl_knob_unit *d, wtl_knob_attribute attribute)
{
  if (add_of_all(k, d, attribute) == 0 && wtl_knob_may_write(k, d)) return true;
  forget_files(d);
  return false;
}

static bool use_preference(wtl_knob *k, wtl_knob_unit *d)
{
  if (!use_one(k, d, WTL_KNOB_PREFERENCE)) return false;
  d->clock.found_khz = d->clock.base_khz; /* the hint has three values: below it, as found, above it */
  d->clock.hint = true;
  return true;
}

static int cpufreq_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  char first[sizeof k->why];
  int cpu = wtl_knob_first_cpu(&d->clock);
  (void)machine;
  k->why[0] = '\0';
  if (wtl_cpufreq_clocks(k, &d->clock) != 0) return ENODEV;
  if (is_userspace(k, cpu) ? use_one(k, d, WTL_KNOB_SETSPEED) : use_limits(k, d)) return 0;
  memcpy(first, k->why, sizeof first);
  if (use_preference(k, d)) {
    k->why[0] = '\0';
    return 0;
  }
  memcpy(k->why, first, sizeof first); /* keep the reason of the better interface, which the user should correct */
  return EACCES;
}

static void cpufreq_value(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE])
{
  const wtl_clock_domain *c = &d->clock;
  switch (f->place.attribute) {
  case WTL_KNOB_FLOOR: snprintf(text, WTL_KNOB_VALUE, "%u", khz > c->base_khz ? khz : c->min_khz); return;
  case WTL_KNOB_PREFERENCE: break;
  default: snprintf(text, WTL_KNOB_VALUE, "%u", khz); return;
  }
  snprintf(text, WTL_KNOB_VALUE, "%s", khz < c->base_khz ? "power" : khz > c->base_khz ? "performance" : f->found);
}

const wtl_knob_ops wtl_knob_cpufreq = {.name = "cpufreq", .find = cpufreq_find, .value = cpufreq_value, .acts = true};
