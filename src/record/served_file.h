/* served_file.h - writes the requests that a process served for others, with the joules of that work. */
#ifndef WTL_RECORD_SERVED_FILE_H
#define WTL_RECORD_SERVED_FILE_H

#include <stdio.h>

#include "profile/served.h"

/* Seconds of a tick; CPU seconds of the library's own threads; the part of the handlers' time that costs joules; joules
 * of a second of computing here, cpu and dram, NaN without a model. */
typedef struct wtl_served_prices {
  double seconds_per_tick, agents_s, handlers_part;
  double joules_per_second[2];
} wtl_served_prices;

/*
 * Writes a JSON object: the CPU time of the library's threads, and a row for each PE and mark (served.h). A row has the
 * part of that CPU time which its requests took, by the time of handling them, and the time of the handlers that the
 * program's threads ran. The joules are of these two. The time of handling in waits costs none: the thread would have
 * waited.
 */
void wtl_record_write_served(FILE *out, const wtl_served *s, const wtl_served_prices *prices);

#endif
