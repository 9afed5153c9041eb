/* figure.h - helpers for wattle_joules_t that every meter needs. */
#ifndef WTL_POWER_FIGURE_H
#define WTL_POWER_FIGURE_H

#include <stddef.h>
#include <stdio.h>

#include "wattle.h"

/* Makes a figure unavailable: joules and uncertainty NaN, no time covered, no source. */
void wtl_figure_none(wattle_joules_t *f, const char *domain, wattle_scope_t scope, double interval_s);

/* Writes figures as a JSON list, in the form of docs/profile.md. */
void wtl_figures_json(FILE *f, const wattle_joules_t *list, size_t n);

#endif
