/*
 * file.h - a process's record as a file: WATTLE_PROFILE_DIR/pe-NNNNN.json.
 */
#ifndef WTL_RECORD_FILE_H
#define WTL_RECORD_FILE_H

#include "record/record.h"

/*
 * Writes it; does nothing where WATTLE_PROFILE_DIR is empty. `share`: NULL where joules are not known (a job that is
 * being ended); `node`: NULL but on the node's reader. A file that cannot be written is said, and changes nothing about
 * the program's result.
 */
void wtl_record_write(wtl_record *self, const wtl_share *share, const wtl_node_joules *node);

#endif
