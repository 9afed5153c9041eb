/*
 * run.h - runs a launcher: passes signals on, and sees to it that neither it nor oshrun outlives the other.
 */
#ifndef WTL_LAUNCH_RUN_H
#define WTL_LAUNCH_RUN_H

#include "launch/launcher.h"

/*
 * Puts aside what this process has from its caller and what would break it or the launcher: a SIGCHLD that is ignored
 * (no child could be waited for), a SIGPIPE that is ignored (a job whose output nobody reads would go on), blocked
 * signals, and closed standard streams.
 */
void wtl_run_afresh(void);

/* Starts the command line that was made of `c` and waits for its end. Returns the job's exit code. */
int wtl_run(const wtl_launcher *l, const wtl_command *c, char **line);

#endif
