/*
 * knob_state.h - the folder in which jobs of a node keep what they found in the clocks' files, and claim clocks.
 *
 * WATTLE_CLOCK_STATE names it. `auto`: /run/wattle for root, and for those who may write to it; else `wattle` in the
 * user's state folder. It is used only where it belongs to root or to this user, and where only its owner and its group
 * may write to it. All names in it carry the id of the node's boot: a boot sets all clocks anew, and a home folder is
 * many nodes'.
 */
#ifndef WTL_POWER_KNOB_STATE_H
#define WTL_POWER_KNOB_STATE_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_KNOB_STATE_PATH = 3800, WTL_KNOB_STATE_NAME = 80 };

/*
 * Opens the folder; with `make`, makes it first where it is not there. Returns a descriptor, or -1: `why` is then "" where
 * there is no such folder, or says why it is not used. `path` (of WTL_KNOB_STATE_PATH bytes) gets its path.
 */
int wtl_knob_state_open(const char *setting, bool make, char *path, char *why, size_t size);

/* Writes the name START-BOOT. False where the kernel does not tell the boot's id. */
bool wtl_knob_state_name(const char *start, char name[WTL_KNOB_STATE_NAME]);

/*
 * Opens a file of the folder without following a link, without waiting and without leaving the folder's file system.
 * Only a regular file is opened. `flags`: O_RDONLY or O_RDWR. Returns a descriptor or a negative errno.
 */
int wtl_knob_state_open_file(int folder, const char *name, int flags);

#endif
