/*
 * knob_saved.h - keeps the values that a job found in the clocks' files for the node's next job.
 *
 * DESIGN. The next job needs them if the job and its guard are killed together, by a launcher that ends a whole control
 * group at once. The file is clocks-BOOT-XXXXXXXX in the state folder, or limits-BOOT-XXXXXXXX in the folder for power
 * limits (knob_state.h). It is written before any value is set. When all values are restored it is emptied, even if it
 * was renamed, and removed. Its lines:
 *
 *   wattle clocks 2                    the format
 *   sysfs /sys                         WATTLE_SYSFS; the file is ignored if this differs
 *   scaling_max_freq 3 3600000         the name of a file, its CPU (of a limit: its package), its value
 *   end                                a file without this line was not complete, and no value was set
 *
 * So a file of the state folder contains no path, and only the attributes of knob_files.h can be written.
 */
#ifndef WTL_POWER_KNOB_SAVED_H
#define WTL_POWER_KNOB_SAVED_H

#include "power/knob/knob.h"
#include "power/knob/knob_kind.h"

/* The first part of the file's name. */
#define WTL_KNOB_SAVED_CLOCKS "clocks"
#define WTL_KNOB_SAVED_LIMITS "limits"

typedef struct wtl_knob_saved {
  wtl_knob_place place;
  char value[WTL_KNOB_VALUE];
} wtl_knob_saved;

/*
 * Keeps the values of all claimed domains, and sets k->saved and k->saved_fd. On failure only the guard restores them.
 */
void wtl_knob_save(wtl_knob *k);

/* Empties and removes the file. Called when all values are restored. */
void wtl_knob_forget(wtl_knob *k);

/*
 * Reads the lines of an open file. Returns them, for the caller to free, and their number in *n. Returns NULL and *n =
 * 0 if the file is not complete, has another format, is too large, belongs to another sysfs, or mixes clocks and
 * limits.
 */
wtl_knob_saved *wtl_knob_saved_read(int fd, const char *sysfs, bool limits, size_t *n);

#endif
