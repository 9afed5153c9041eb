/*
 * knob_state.h - the folders in which the jobs of a node keep the values that they found and claim the files that they
 * set: one folder for clocks, one for power limits.
 *
 * DESIGN. WATTLE_CLOCK_STATE names the folder for clocks. `auto` is /run/wattle for root and for users that may write
 * to it, else `wattle` in the user's state folder. It is used only if root or this user owns it, and if only its owner
 * and its group may write to it.
 *
 * A user that may set clocks may not always set power limits. So a member of the group must not be able to remove the
 * limits that root's job keeps. The folder for limits lies beside that for clocks, never within it, and its name ends
 * in "-limits". `auto` is /run/wattle-limits for root, else `wattle-limits` in the user's state folder. It is used only
 * if this user owns it and no other user may write to it or rename it.
 *
 * Claims are locks on the bytes of a file in such a folder. Byte N is the claim of CPU N, so two jobs never set the
 * same clock. The bytes after those of all possible CPUs are for the folders of the uncore. Power limits have a
 * folder and a file of their own, in which byte N is package N. A lock on the clock's own file would not suffice,
 * because any user may read that file and a lock needs no more. Only users that may set clocks can open the state
 * folder. If it does not cover all of them, the lock on the clock's file decides (wtl_knob_claims_decide). The locks
 * belong to the open file (F_OFD_SETLK), so a guard that has inherited it holds them, too.
 *
 * All names in these folders contain the boot id of the node. A boot resets all clocks, and several nodes may share a
 * home folder.
 */
#ifndef WTL_POWER_KNOB_STATE_H
#define WTL_POWER_KNOB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "power/knob/knob_files.h"

enum { WTL_KNOB_STATE_PATH = 3800, WTL_KNOB_STATE_NAME = 80 };

/*
 * Opens the folder for clocks or for `limits`, and creates it first if `make` is set. Returns a descriptor or -1. `why`
 * is then the reason why the folder is not used; "" if it does not exist. `path` (WTL_KNOB_STATE_PATH bytes) receives
 * its path.
 */
int wtl_knob_state_open(const char *setting, bool limits, bool make, char *path, char *why, size_t size);

/* Writes the name START-BOOT. Returns false if the kernel does not provide the boot id. */
bool wtl_knob_state_name(const char *start, char name[WTL_KNOB_STATE_NAME]);

/*
 * Opens a file of the folder without following a link, without waiting, and without leaving the folder's file system.
 * It opens only regular files. `flags`: O_RDONLY or O_RDWR. Returns a descriptor or a negative errno.
 */
int wtl_knob_state_open_file(int folder, const char *name, int flags);

/* ---- claims ---- */

/* Initialize it with {.file = -1}. */
typedef struct wtl_knob_claims {
  int file;
  struct stat folder;
} wtl_knob_claims;

/*
 * Opens the claims of a folder, and creates their file if necessary. On failure `file` stays -1, and the claims decide
 * nothing.
 */
void wtl_knob_claims_open(wtl_knob_claims *c, int folder);
void wtl_knob_claims_close(wtl_knob_claims *c);

/* Do all users that may write to this open file of a clock share the folder? */
bool wtl_knob_claims_decide(const wtl_knob_claims *c, int clock_fd);

/* Takes a claim. Returns 0; EBUSY if another job has it; another errno such as ENOLCK if this cannot be known. */
int wtl_knob_claims_take(const wtl_knob_claims *c, wtl_knob_place p);
void wtl_knob_claims_drop(const wtl_knob_claims *c, wtl_knob_place p);

#endif
