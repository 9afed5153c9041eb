/*
 * timeline_file.h - a process's timeline as a file: WATTLE_PROFILE_DIR/timeline-NNNNN.bin.
 *
 * One line of JSON, then the spans of all its threads, 32 bytes each (profile/timeline.h). docs/timeline.md has the
 * fields.
 */
#ifndef WTL_RECORD_TIMELINE_FILE_H
#define WTL_RECORD_TIMELINE_FILE_H

#include "record/record.h"

/* Does nothing where there is no timeline or no place for it. A file that cannot be written is said, and changes
 * nothing about the program's result. */
void wtl_timeline_write(const wtl_record *self);

#endif
