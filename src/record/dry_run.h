/*
 * dry_run.h - models what a run would have cost at the clocks that the knob `record` recorded and did not set.
 *
 * The joules of a dry run are those of the normal clock, at which it ran. Here the same time is modelled at the
 * recorded clocks. Waits stay as long. Computing at another clock takes longer or shorter, as if bound by the clock
 * alone, and waits make up the difference. The influence of memory is not known, so the half-width contains all of it.
 */
#ifndef WTL_RECORD_DRY_RUN_H
#define WTL_RECORD_DRY_RUN_H

#include <stdbool.h>

#include "power/power.h"

/* `ran`: the process's time on a core, with the time at recorded clocks in `off`. `would`: its CPU joules at these
 * clocks. `saved`: the difference to the normal clock, with a half-width that counts only what differs. Both are
 * modelled, of scope process. False if the machine profile has only one clock: then both are unavailable. */
bool wtl_dry_run_joules(const wtl_machine *m, const wtl_activity *ran, wattle_joules_t *would, wattle_joules_t *saved);

#endif
