/*
 * counters.h - counts of the processor in this process between two moments, by perf: instructions, branches, and
 * branches that were not taken. NaN where the processor does not count them, or access is not permitted.
 */
#ifndef APPS_COUNTERS_H
#define APPS_COUNTERS_H

enum { COUNT_INSTRUCTIONS, COUNT_BRANCHES, COUNT_NOT_TAKEN, COUNTERS };

typedef struct counters {
  int fd[COUNTERS];
} counters;

void counters_open(counters *c);
void counters_begin(const counters *c);
void counters_end(const counters *c, double counted[COUNTERS]);
void counters_close(counters *c);

#endif
