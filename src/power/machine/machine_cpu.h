/* machine_cpu.h - makes a machine profile from the table of CPU generations. */
#ifndef WTL_POWER_MACHINE_CPU_H
#define WTL_POWER_MACHINE_CPU_H

#include "power/machine/cpu_here.h"
#include "power/machine/machine.h"

/* The generation of this CPU; NULL if the table does not have it. */
const wtl_cpu *wtl_cpu_find(const wtl_cpu_here *here);

/*
 * Is this machine of a class other than servers, by the name of its processor or by its chassis? Then its watts are
 * known with wtl_any_cpu, too.
 */
bool wtl_cpu_has_class(const wtl_cpu_here *here);

/* The generation with this name; NULL if there is none. */
const wtl_cpu *wtl_cpu_named(const char *name);

/*
 * Makes the profile of a machine of this generation. The caller owns it, until wtl_machine_free. Returns NULL with the
 * reason in `error` if there is no memory.
 */
wtl_machine *wtl_machine_of_cpu(const wtl_cpu *cpu, const wtl_cpu_here *here, char *error, size_t size);

#endif
