/*
 * profile_file.h - a PE's profile as a file, DIR/pe-NNNNN.json (schema 1; docs/profile.md has the fields).
 *
 * A file appears whole or not at all: it is written beside its name and renamed. One that cannot be written is said on
 * standard error, and changes nothing about the program's result.
 */
#ifndef WTL_PGAS_PROFILE_FILE_H
#define WTL_PGAS_PROFILE_FILE_H

#include "pgas/account.h"

/* Writes it where WATTLE_PROFILE_DIR says. `node`: the node's joules, on its reader, else NULL. `has_joules`: the
 * ledger is filled. */
void wtl_profile_file_write(const wtl_pe *self, const wtl_node_joules *node, bool has_joules);

#endif
