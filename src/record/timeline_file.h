/*
 * timeline_file.h - writes a process's timeline to the file WATTLE_PROFILE_DIR/timeline-NNNNN.bin.
 *
 * The file has one line of JSON, then the spans of all threads, 32 bytes each (profile/timeline.h). docs/timeline.md
 * describes the fields.
 */
#ifndef WTL_RECORD_TIMELINE_FILE_H
#define WTL_RECORD_TIMELINE_FILE_H

#include "record/record.h"

/* Does nothing without a timeline or a folder. A file that cannot be written is reported and does not change the
 * program's result. */
void wtl_record_write_timeline(const wtl_record *self);

#endif
