/*
 * clock_domains.h - which hardware threads share a clock.
 *
 * They do where cpufreq's policy says so (related_cpus), where the hardware couples policies (freqdomain_cpus), and
 * where they are threads of one core. WATTLE_CLOCK_DOMAIN can say more than the kernel knows: all cores of a package.
 */
#ifndef WTL_POWER_CLOCK_DOMAINS_H
#define WTL_POWER_CLOCK_DOMAINS_H

#include <sched.h>
#include <stddef.h>

#include "base/settings.h"
#include "power/sys.h"

/* Parses a list of CPUs, "0-3,8" or "0 1 2 3". False where it is none; `out` is then empty. */
bool wtl_cpu_list(const char *text, cpu_set_t *out);

/* Reads the first line of SYSFS/devices/system/cpu/cpu<cpu>/<file>. Returns its length or a negative errno. */
int wtl_cpu_file(const wtl_sys *sys, const char *sysfs, int cpu, const char *file, char *text, size_t size);

/*
 * The clock domains that any of `cpus` belongs to, in the order of their lowest CPU: an array that the caller frees,
 * its length in *n; NULL (and *n = 0) without memory, or for no CPUs. Offline CPUs and those that sysfs does not know
 * are domains of their own. One with a clock of which cannot be read who shares it is taken to share it with all
 * `cpus`.
 */
cpu_set_t *wtl_clock_domains(const wtl_sys *sys, const char *sysfs, enum wtl_clock_domain_rule rule,
                             const cpu_set_t *cpus, size_t *n);

#endif
