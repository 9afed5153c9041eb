/*
 * knob_claims.h - claims of clocks: locks on the bytes of a file in the state folder (knob_state.h).
 *
 * DESIGN. Byte N is the claim of CPU N, so two jobs never set the same clock. The bytes after those of all possible
 * CPUs are for the folders of the uncore. Power limits have a folder and a file of their own, in which byte N is
 * package N. A lock on the clock's own file would not suffice, because any user may read that file and a lock needs no
 * more. Only users that may set clocks can open the state folder. If it does not cover all of them, the lock on the
 * clock's file decides (wtl_knob_claims_decide). The locks belong to the open file (F_OFD_SETLK), so a guard that has
 * inherited it holds them, too.
 */
#ifndef WTL_POWER_KNOB_CLAIMS_H
#define WTL_POWER_KNOB_CLAIMS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "power/knob/knob_files.h"

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
