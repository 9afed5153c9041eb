/* split.h - splits a node's joules of one domain among the PEs that may have caused them. */
#ifndef WTL_POWER_SPLIT_H
#define WTL_POWER_SPLIT_H

#include <stddef.h>

#include "power/power.h"
#include "power/use_account.h"

/*
 * Splits the joules of one domain.
 *
 *   node        the domain's joules
 *   idle_model  the model's idle power of that domain
 *   pe_model    [n] the model's joules of each PE beyond that
 *   idle, part  receive the shares; part[i * stride] is that of PE i
 *
 * The shares add up to `node`, except for rounding. A modelled node is the sum of its parts and is taken apart again. A
 * measured node is split in proportion to the model's joules. If the joules of one PE are unknown to the model, all
 * shares are unavailable. Shares of a node that is unavailable have its source, which says why.
 */
void wtl_split(const wattle_joules_t *node, const wattle_joules_t *idle_model, const wattle_joules_t *pe_model,
               size_t n, wattle_joules_t *idle, wattle_joules_t *part, size_t stride);

/* The reason of shares that are unavailable, because the driver of an accelerator has no list of its processes. */
#define WTL_SPLIT_NO_PROCESSES "its driver names no processes"

/* The PID of each of n PEs, and what all processes drew on an accelerator. users: as of `used` in wtl_meter_ops. */
typedef struct wtl_use {
  const int64_t *pe;
  size_t n;
  const wtl_used *user;
  size_t users;
} wtl_use;

/*
 * Splits the joules of an accelerator among the processes that used it. PEs of one process share its part equally.
 * `idle` and `part` are as in wtl_split; idle receives the parts of processes without a PE, and of times without users.
 * The half-width of a part contains its possible error if one of several users at a time drew everything, or nothing.
 * If users is WTL_USE_UNKNOWN, all shares are unavailable.
 */
void wtl_split_by_use(const wattle_joules_t *node, const wtl_use *use, wattle_joules_t *idle, wattle_joules_t *part,
                      size_t stride);

/* Adds the model's idle power and PEs up to the node's joules of one domain. */
void wtl_add_up(const wattle_joules_t *idle_model, const wattle_joules_t *pe_model, size_t n, wattle_joules_t *node);

#endif
