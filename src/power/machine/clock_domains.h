/*
 * clock_domains.h - finds the hardware threads that share a clock.
 *
 * They share it if cpufreq's policy says so (related_cpus), if the hardware couples policies (freqdomain_cpus), and if
 * they are threads of one core. WATTLE_CLOCK_DOMAIN adds what the kernel does not know: all cores of a package.
 */
#ifndef WTL_POWER_CLOCK_DOMAINS_H
#define WTL_POWER_CLOCK_DOMAINS_H

#include <sched.h>
#include <stddef.h>

#include "base/settings.h"
#include "power/sys.h"

/* Parses a list of CPUs, "0-3,8" or "0 1 2 3". Returns false with an empty `out` if the text is no list. */
bool wtl_cpu_list(const char *text, cpu_set_t *out);

/* Reads the first line of SYSFS/devices/system/cpu/cpu<cpu>/<file>. Returns its length or a negative errno. */
int wtl_cpu_file(const wtl_sys *sys, const char *sysfs, int cpu, const char *file, char *text, size_t size);

/* Returns the number of a CPU's package, 0 if sysfs does not say. */
int wtl_cpu_package(const wtl_sys *sys, const char *sysfs, int cpu);

/*
 * Returns `cpus` by package, in the order of their lowest CPU: an array that the caller frees, with its length in *n.
 * Returns NULL and *n = 0 without memory, or for no CPUs.
 */
cpu_set_t *wtl_cpu_by_package(const wtl_sys *sys, const char *sysfs, const cpu_set_t *cpus, size_t *n);

/* Returns the number of CPU packages of the machine; 0 if sysfs does not say. Reads two files and one a package. */
size_t wtl_cpu_packages(const wtl_sys *sys, const char *sysfs);

/*
 * Returns the clock domains of `cpus` in the order of their lowest CPU: an array that the caller frees, with its length
 * in *n. Returns NULL and *n = 0 without memory, or for no CPUs. A CPU that is offline or unknown to sysfs is a domain
 * of its own. A CPU with a clock but without a readable list is put together with all `cpus`.
 */
cpu_set_t *wtl_knob_clock_domains(const wtl_sys *sys, const char *sysfs, enum wtl_clock_domain_rule rule,
                                  const cpu_set_t *cpus, size_t *n);

#endif
