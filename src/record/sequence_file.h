/* sequence_file.h - writes the noted steps between call sites into a profile. */
#ifndef WTL_RECORD_SEQUENCE_FILE_H
#define WTL_RECORD_SEQUENCE_FILE_H

#include <stdio.h>

#include "profile/profile.h"

/* Seconds of a tick, and those that reading the clock adds to a timed call. */
typedef struct wtl_sequence_clock {
  double seconds_per_tick, reading_s;
} wtl_sequence_clock;

/* Writes the steps as a JSON object. `sites`: those of the file, `n` of them, to which the steps refer by place. */
void wtl_record_write_sequence(FILE *out, const wtl_profile *p, const wtl_site *sites, uint64_t n,
                               const wtl_sequence_clock *clock);

#endif
