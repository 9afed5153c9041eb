/* cpu_here.h - the processors of this machine, as /proc/cpuinfo shows them, and the clock of a busy core. */
#ifndef WTL_POWER_CPU_HERE_H
#define WTL_POWER_CPU_HERE_H

#include <stdbool.h>
#include <stddef.h>

#include "power/machine/cpus.h"
#include "power/machine/power_limit.h"

typedef struct wtl_cpu_here {
  char name[256];              /* the CPU's name; "" if it reports none */
  char vendor[64];             /* vendor_id, or the number of the implementer on Arm */
  int family, model, stepping; /* -1: not shown */
  int sockets, cores, threads; /* all that the kernel shows, at least 1 */
  int cache_mb;                /* last-level cache; 0: not shown */
  double ghz;                  /* of the first processor; 0: not shown */
  bool is_virtual;             /* a hypervisor runs below */
  bool has_amx;
  double memory_gb; /* of the node; 0: unknown */
  char chassis[16]; /* the class of machines that the firmware names: notebook, desktop, server; "": not shown */
  double tdp_w;     /* of a socket, as the processor states it; 0: not shown */
  enum wtl_clock_class clock;
  double residency_s; /* the least time in the deepest sleep state that saves energy; 0: not shown */
} wtl_cpu_here;

/* Reads a field of the first processor of the text of /proc/cpuinfo. Returns false if there is none. */
bool wtl_cpu_here_field(const char *cpuinfo, const char *field, char *out, size_t size);

/* Fills all but `memory_gb`, `clock` and the results of wtl_cpu_here_system from the text of /proc/cpuinfo. */
void wtl_cpu_here_read(const char *cpuinfo, wtl_cpu_here *out);

/*
 * Fills `tdp_w` and `residency_s` from files below `sysfs` that any user may read: the highest long-term limit of a
 * package (powercap), and the sleep states that the kernel uses on the first CPU (cpuidle). `chassis` follows from the
 * firmware's type of chassis (DMI), or from a battery. For an Arm processor, whose /proc/cpuinfo is short, it also
 * fills `name`, `sockets` and `is_virtual` from the firmware's tables, the device tree and the topology. Call
 * wtl_cpu_here_read before it.
 */
void wtl_cpu_here_system(const char *sysfs, wtl_cpu_here *out);

/*
 * Reads the power limits that are in force for all packages, by powercap's zones of packages. A limit that one of them
 * does not have, or that is not enabled, is none. If they differ, the highest one counts.
 */
void wtl_cpu_here_power_limits(const char *sysfs, wtl_power_limit limit[WTL_POWER_LIMITS]);

/*
 * Measures whether this core runs above its base clock while it computes, for about 0.3 ms. The reference is the time
 * stamp counter, which ticks at the base clock. WTL_CLOCK_ANY on other CPUs than x86, and if the result is not clear.
 */
enum wtl_clock_class wtl_cpu_here_clock(void);

#endif
