/*
 * knob_repair.h - puts back what jobs that were killed together with their guards have left changed (knob_saved.h).
 *
 * Members of a group may put anything into the state folder for clocks. So a repair opens only regular files, waits for none, reads
 * up to limits, and believes a file only if it belongs to root or to this user, has one name and can be written by its
 * owner only. It writes only values that a knob can have found (knob_files.h), to files that no other job has claimed,
 * and only those that this job's knob may set: clocks with WATTLE_KNOB auto, cpufreq and powercap, power limits with
 * powercap. docs/security.md says who is trusted for what.
 */
#ifndef WTL_POWER_KNOB_REPAIR_H
#define WTL_POWER_KNOB_REPAIR_H

#include "power/knob.h"

/*
 * Puts back what killed jobs of this boot have left. True where there is something to say, in `said`: what was put back,
 * what could not be, what is not this job's to put back, or that a state folder is not used. Costs a look into two folders
 * where there is nothing.
 */
bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *said, size_t size);

#endif
