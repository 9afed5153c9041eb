/*
 * knob_saved.h - what a job found in the clocks' files, kept where the node's next job finds it, should the job and its
 * guard be killed together (by a launcher that ends a whole control group at once).
 *
 * A file clocks-BOOT-XXXXXX in the folder that WATTLE_CLOCK_STATE names. BOOT: the node's boot, since a boot sets all
 * clocks anew, and a home folder is many nodes'. A line for each of the clocks' files: what it held, a tab, its path;
 * then "end". It is written before anything is set and removed when all is put back.
 *
 * A job lives as long as anybody holds the locks of what its file names: then it is left alone. And the repair believes
 * no more than it must: the folder may be writable to its owner and group only, and a line may only name one of the
 * clocks' files, below the sysfs of the settings.
 */
#ifndef WTL_POWER_KNOB_SAVED_H
#define WTL_POWER_KNOB_SAVED_H

#include "power/knob.h"

/* Keeps what is claimed. Returns the file's path, which the caller frees; NULL where it cannot be kept: then nobody but
 * the guard puts it back. */
char *wtl_knob_save(const wtl_knob *k);

/*
 * Puts back what killed jobs of this boot have left. True where it has, or has tried and could not: `said` is then a
 * line for the user. Costs a look into a folder where there is nothing.
 */
bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *said, size_t size);

#endif
