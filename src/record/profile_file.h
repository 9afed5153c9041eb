/* profile_file.h - writes a process's record to the file WATTLE_PROFILE_DIR/pe-NNNNN.json. */
#ifndef WTL_RECORD_PROFILE_FILE_H
#define WTL_RECORD_PROFILE_FILE_H

#include "record/record.h"

/* Writes the file; does nothing if WATTLE_PROFILE_DIR is empty. `share`: NULL if the joules are not known (a job that
 * is being ended). `node`: NULL except on the node's reader. A file that cannot be written is reported and does not
 * change the program's result. */
void wtl_record_write(wtl_record *self, const wtl_share *share, const wtl_node_joules *node);

/* Writes the file of a process that has ended (`self->past` is set). Returns false if that failed, and reports why. */
bool wtl_record_write_past(wtl_record *self, const wtl_share *share, const wtl_node_joules *node);

/* Writes the same to `out`. */
void wtl_record_print_past(FILE *out, wtl_record *self, const wtl_share *share, const wtl_node_joules *node);

#endif
