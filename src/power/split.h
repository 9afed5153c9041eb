/*
 * split.h - a node's joules, one domain, among the PEs that may have caused them.
 */
#ifndef WTL_POWER_SPLIT_H
#define WTL_POWER_SPLIT_H

#include <stddef.h>

#include "power/power.h"

/*
 * node:        the domain's joules
 * idle_model:  the model's idle draw of that domain; pe_model[n]: the model's joules of each PE beyond it idle, part:
 * receive the shares; part[i * stride] is PE i's. Their joules and node's add up to rounding. A modelled node is the
 * sum of its parts already and is taken apart again; a measured one is split in proportion to the model's joules. A PE
 * whose joules the model cannot tell makes all shares unavailable: nobody else's is then known either.
 */
void wtl_split(const wattle_joules_t *node, const wattle_joules_t *idle_model, const wattle_joules_t *pe_model,
               size_t n, wattle_joules_t *idle, wattle_joules_t *part, size_t stride);

/* Adds up the model's idle draw and PEs to the node's joules of one domain. */
void wtl_add_up(const wattle_joules_t *idle_model, const wattle_joules_t *pe_model, size_t n, wattle_joules_t *node);

#endif
