/* limits.h - the limits of the system (ulimit) under which a launcher would fail or wait for ever. */
#ifndef WTL_LAUNCH_LIMITS_H
#define WTL_LAUNCH_LIMITS_H

#include "launch/launcher.h"

/*
 * Raises the limit on open files, up to the hard limit, to the number that the launcher needs for the job's PEs. Ends
 * the process if the launcher cannot work under the limits.
 */
void wtl_limits_prepare(const wtl_launcher *l, const wtl_command *c);

#endif
