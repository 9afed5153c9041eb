/*
 * sessions.h - the directories in which Open MPI's launchers keep their sessions: TMP/ompi.HOST.UID/pid.PID.
 *
 * The launcher that leaves last removes the first part, too. One that begins in that moment, and has found or made it
 * but not yet its own, fails ("orte_session_dir failed"). So another directory is kept there until the launcher has its
 * own: by a process that removes it even if oshrun is killed.
 */
#ifndef WTL_LAUNCH_SESSIONS_H
#define WTL_LAUNCH_SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts the keeper. Where a directory cannot be made, the launcher will say why. */
void wtl_sessions_keep(void);

/* Has the launcher its directory? If so, ends the keeper. */
bool wtl_sessions_settled(pid_t launcher);

/* The launcher has ended: ends the keeper, and removes what the launcher left, if it was killed. */
void wtl_sessions_remove(pid_t launcher);

#endif
