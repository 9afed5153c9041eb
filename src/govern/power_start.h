/* power_start.h - reads WATTLE_POWER_BUDGET, and starts and reports a process's part of the budget. */
#ifndef WTL_GOVERN_POWER_START_H
#define WTL_GOVERN_POWER_START_H

#include <stdbool.h>
#include <stdio.h>

#include "govern/clocks.h"

/* A value of WATTLE_POWER_BUDGET. */
enum wtl_power_unit { WTL_POWER_WATTS, WTL_POWER_WATTS_A_NODE, WTL_POWER_PERCENT };
typedef struct wtl_power_asked {
  double number;
  enum wtl_power_unit unit;
} wtl_power_asked;

/* Returns 0, or an exit code with the reason in `error`: the text is no number with a unit, or another setting also
 * sets clocks or limits. Without a budget asked->number is NaN. */
int wtl_clocks_budget_read(const wtl_settings *settings, wtl_power_asked *asked, char *error, size_t size);

/* Prepares the budget of a process whose votes have started: c->governor.power. Returns 0, or an exit code with the
 * reason in `error`: no clock can be set, its watts are not known, or the budget is outside what the job may draw. */
int wtl_clocks_budget_prepare(wtl_clocks *c, const wtl_clocks_node *node, char *error, size_t size);

/* Frees it. */
void wtl_clocks_budget_stop(wtl_clocks *c);

/* Writes the profile's field about it, with a comma before; nothing without a budget. */
void wtl_clocks_budget_write(FILE *f, const wtl_clocks *c);

#endif
