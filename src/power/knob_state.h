/*
 * knob_state.h - the folders in which jobs of a node keep what they found in the files that they set, and claim these:
 * one for clocks, one for power limits.
 *
 * WATTLE_CLOCK_STATE names that for clocks. `auto`: /run/wattle for root, and for those who may write to it; else `wattle`
 * in the user's state folder. It is used only where it belongs to root or to this user, and where only its owner and its
 * group may write to it.
 *
 * Who may set clocks may not always set power limits: a member of the group must not be able to remove what root's job
 * has kept of these. Their folder lies beside that for clocks, with "-limits" at the end of its name, and never within
 * it. `auto`: /run/wattle-limits for root, else `wattle-limits` in the user's state folder. It is used only where it
 * belongs to this user, where nobody else may write to it, and where nobody else may rename it.
 *
 * All names in them carry the id of the node's boot: a boot sets all clocks anew, and a home folder is many nodes'.
 */
#ifndef WTL_POWER_KNOB_STATE_H
#define WTL_POWER_KNOB_STATE_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_KNOB_STATE_PATH = 3800, WTL_KNOB_STATE_NAME = 80 };

/*
 * Opens the folder for clocks or for `limits`; with `make`, makes it first where it is not there. Returns a descriptor, or -1: `why` is then "" where
 * there is no such folder, or says why it is not used. `path` (of WTL_KNOB_STATE_PATH bytes) gets its path.
 */
int wtl_knob_state_open(const char *setting, bool limits, bool make, char *path, char *why, size_t size);

/* Writes the name START-BOOT. False where the kernel does not tell the boot's id. */
bool wtl_knob_state_name(const char *start, char name[WTL_KNOB_STATE_NAME]);

/*
 * Opens a file of the folder without following a link, without waiting and without leaving the folder's file system.
 * Only a regular file is opened. `flags`: O_RDONLY or O_RDWR. Returns a descriptor or a negative errno.
 */
int wtl_knob_state_open_file(int folder, const char *name, int flags);

#endif
