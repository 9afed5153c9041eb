/*
 * recorded.h - what a run would have cost at the clocks that the knob `record` noted and did not set, by the model.
 *
 * A dry run's own joules are those of the normal clock, for that is what it ran at. Here the same time is priced at the
 * noted clocks. What was waited stays as long. What was computed at another clock takes longer, or less, as if bound by
 * the clock alone, and waiting makes up the difference; how far memory's speed would spoil that is not known, so the
 * whole of it is in the half-width.
 */
#ifndef WTL_RECORD_RECORDED_H
#define WTL_RECORD_RECORDED_H

#include <stdbool.h>

#include "power/power.h"

/*
 * `ran`: a process's time on a core, of which `off` is what was noted at another clock. `would`: its CPU joules there;
 * `saved`: how many fewer than at the normal clock, with a half-width that counts only what differs between the two.
 * Both modelled, of scope process. False where the machine's profile knows one clock only: then both are unavailable.
 */
bool wtl_recorded_joules(const wtl_machine *m, const wtl_activity *ran, wattle_joules_t *would, wattle_joules_t *saved);

#endif
