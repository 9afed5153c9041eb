/*
 * knob_claims.h - which clocks a job has: locks on the bytes of a file in the state folder (knob_state.h), byte N for CPU
 * N, so that no two jobs set the same clock. Power limits have a folder and claims of their own: byte N is package N.
 *
 * A lock on a clock's own file would not do alone: everybody may read that file, and a lock needs no more. The state
 * folder is open only to those who may set clocks. Where it is not that of all of them, the lock on the clock's file
 * decides all the same (wtl_knob_claims_decide).
 *
 * The locks are the open file's (F_OFD_SETLK): a guard that has inherited it holds them too.
 */
#ifndef WTL_POWER_KNOB_CLAIMS_H
#define WTL_POWER_KNOB_CLAIMS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "power/knob_files.h"

/* Start with {.file = -1}. */
typedef struct wtl_knob_claims {
  int file;
  struct stat folder;
} wtl_knob_claims;

/* Opens the claims of a folder, and makes their file where it is not there. Without one (file stays -1) they decide
 * nothing. */
void wtl_knob_claims_open(wtl_knob_claims *c, int folder);
void wtl_knob_claims_close(wtl_knob_claims *c);

/* Do all who may write to this open file of a clock share the folder? */
bool wtl_knob_claims_decide(const wtl_knob_claims *c, int clock_fd);

/* Takes the claim. 0; EBUSY where another job has it; ENOLCK and the like where it cannot be known. */
int wtl_knob_claims_take(const wtl_knob_claims *c, wtl_knob_place p);
void wtl_knob_claims_drop(const wtl_knob_claims *c, wtl_knob_place p);

#endif
