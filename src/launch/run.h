/* run.h - runs a launcher: forwards signals, and ends each of launcher and oshrun when the other has ended. */
#ifndef WTL_LAUNCH_RUN_H
#define WTL_LAUNCH_RUN_H

#include "launch/launcher.h"

/*
 * Resets inherited state that would disturb this process or the launcher: blocked signals, closed standard streams, an
 * ignored SIGCHLD (no child could be waited for), and an ignored SIGPIPE (a job whose output has no reader would go
 * on).
 */
void wtl_run_reset(void);

/* Starts the command line `line`, which was composed from `c`, and waits for its end. Returns the job's exit code. */
int wtl_run(const wtl_launcher *l, const wtl_command *c, char **line);

#endif
