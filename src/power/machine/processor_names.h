/* processor_names.h - TDP and class of a processor by its name. */
#ifndef WTL_POWER_PROCESSOR_NAMES_H
#define WTL_POWER_PROCESSOR_NAMES_H

#include "power/machine/cpus.h"

typedef struct wtl_named {
  char name[64];  /* as a part of what the CPU reports */
  char class[16]; /* of machines that it is made for: that of wtl_machine_classes, or "server" */
  double tdp_w;   /* of a socket; of one core if `cores` is 0 */
  double limit_w; /* the highest power limit that the maker states; 0: not known */
  int cores;
} wtl_named;

/* Does the CPU's name contain the processor's name as whole words? "E5-2650" is not in "E5-2650 v2". */
bool wtl_cpu_name_has(const char *cpu, const char *processor);

/*
 * The processor with the longest name that the CPU's name contains, else the one with this number in Arm's main ID
 * register (0: none). Returns false if there is neither.
 */
bool wtl_processor_named(const char *cpu, int part, wtl_named *out);

/* The class with this name; NULL for servers and for names that are no class. */
const wtl_machine_class *wtl_machine_class_named(const char *name);

#endif
