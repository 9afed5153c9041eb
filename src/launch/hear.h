/*
 * hear.h - passes on what the launcher writes, and listens for the lines in which it says how the PEs ended.
 */
#ifndef WTL_LAUNCH_HEAR_H
#define WTL_LAUNCH_HEAR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_hearing {
  int from, to; /* the launcher's pipe, and where its words go; from is -1 once there is no more */
  int (*code_said)(const char *line); /* as in launcher.h */
  int said;                           /* the first exit code heard; -1: none */
  char line[512];                     /* what has come of the present line, cut */
  size_t length;
} wtl_hearing;

/* Passes on what has come, at most one buffer full. False, and `from` closed, when there is no more or nobody reads. */
bool wtl_hear(wtl_hearing *h);

/* Passes on what is still there, and waits for nothing; then closes. */
void wtl_hear_rest(wtl_hearing *h);

#endif
