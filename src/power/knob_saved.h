/*
 * knob_saved.h - what a job found in the clocks' files, kept where the node's next job finds it, should the job and its
 * guard be killed together (by a launcher that ends a whole control group at once).
 *
 * A file clocks-BOOT-XXXXXXXX in the state folder, or limits-BOOT-XXXXXXXX in the one for power limits (knob_state.h). It
 * is written before anything is set. Once all is put back it is emptied, whatever its name is by then, and removed. Its lines:
 *
 *   wattle clocks 2                    the form
 *   sysfs /sys                         the settings' WATTLE_SYSFS: below another one it says nothing
 *   scaling_max_freq 3 3600000         a file's name, its CPU (of a limit: its package), what it held
 *   end                                without this line the job had not set anything yet
 *
 * So a file of the state folder names no path, and nothing but the six attributes of knob_files.h can be written.
 */
#ifndef WTL_POWER_KNOB_SAVED_H
#define WTL_POWER_KNOB_SAVED_H

#include "power/knob.h"
#include "power/knob_kind.h"

/* What such a file is called at its beginning. */
#define WTL_KNOB_SAVED_CLOCKS "clocks"
#define WTL_KNOB_SAVED_LIMITS "limits"

typedef struct wtl_knob_saved {
  wtl_knob_place place;
  char value[WTL_KNOB_VALUE];
} wtl_knob_saved;

/* Keeps what is claimed, in k->saved and k->saved_fd. Where it cannot be kept nobody but the guard puts it back. */
void wtl_knob_save(wtl_knob *k);

/* All is put back: the file says nothing any more and goes. */
void wtl_knob_forget(wtl_knob *k);

/*
 * The lines of an open file, for the caller to free, and their number in *n. NULL (*n = 0) for a file that is not whole,
 * is of another form, is too large or of another sysfs, or has lines of clocks among limits or limits among clocks.
 */
wtl_knob_saved *wtl_knob_saved_read(int fd, const char *sysfs, bool limits, size_t *n);

#endif
