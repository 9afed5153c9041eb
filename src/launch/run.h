/*
 * run.h - runs a launcher: passes signals on, and sees to it that neither it nor oshrun outlives the other.
 */
#ifndef WTL_LAUNCH_RUN_H
#define WTL_LAUNCH_RUN_H

#include "launch/launcher.h"

/* Starts the command line and waits for its end. Returns the job's exit code. */
int wtl_run(const wtl_launcher *l, char **line);

#endif
