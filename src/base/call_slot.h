/*
 * call_slot.h - redirects the slots through which a loaded file calls functions of other files.
 *
 * A program or library calls a function of another library through a slot of its own, which the loader fills with the
 * function's address. So a function is replaced for the calls of one file, and no name is exported for it. Calls
 * through an address that the file keeps elsewhere, such as one from dlsym, are not redirected.
 */
#ifndef WTL_BASE_CALL_SLOT_H
#define WTL_BASE_CALL_SLOT_H

#include <link.h>
#include <stddef.h>

typedef struct wtl_call_slot {
  const char *name;  /* of the function */
  void *replacement; /* called instead of it */
  void *own;         /* the function itself, as the first file with a slot for it finds it; NULL: no file has one yet */
} wtl_call_slot;

/* Redirects the slots of a file for the functions of the list. A file that finds another function of the same name
 * than an earlier file keeps its slot. To be called in dl_iterate_phdr. */
void wtl_slot_redirect(const struct dl_phdr_info *file, wtl_call_slot *list, size_t n);

#endif
