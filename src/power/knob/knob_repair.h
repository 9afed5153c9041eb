/*
 * knob_repair.h - restores values that jobs left changed when they were killed together with their guards
 * (knob_saved.h).
 *
 * DESIGN. Members of a group may put any file into the state folder for clocks. So a repair opens only regular files,
 * never waits, and reads a limited number of bytes. It trusts a file only if root or this user owns it, it has one
 * name, and only its owner may write to it. It writes only values that a knob can have found (knob_files.h), to files
 * that no other job has claimed. It writes only files that this job's knob may set: clocks with WATTLE_KNOB=auto,
 * cpufreq or powercap, power limits with powercap or WATTLE_PACKAGE_LIMIT. The clocks of the uncore count as clocks.
 * docs/security.md describes who is trusted with what.
 */
#ifndef WTL_POWER_KNOB_REPAIR_H
#define WTL_POWER_KNOB_REPAIR_H

#include "power/knob/knob.h"

/*
 * Restores what killed jobs of this boot have left changed. Returns true if there is something to report in `report`:
 * restored files, errors, files that this job may not restore, or a state folder that is not used. Reads two folders if
 * there is nothing to do.
 */
bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *report, size_t size);

#endif
