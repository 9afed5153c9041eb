/*
 * power_file.h - writes the watts of the node's meter over time to the file WATTLE_PROFILE_DIR/power-NNNNN.json, beside
 * the timeline. docs/timeline.md describes the fields.
 */
#ifndef WTL_RECORD_POWER_FILE_H
#define WTL_RECORD_POWER_FILE_H

#include "record/record.h"

/*
 * Does nothing on a PE that reads no sensor, or without points. A file that cannot be written is reported and does not
 * change the program's result.
 */
void wtl_record_write_power(const wtl_record *self);

#endif
