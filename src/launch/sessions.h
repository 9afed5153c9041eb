/*
 * sessions.h - a private folder for the files that Open MPI's launcher makes on this host.
 *
 * The launcher's default is TMP/ompi.HOST.UID (Open MPI 4) or TMP/prterun.HOST.PID.UID (Open MPI 5). Another user may
 * create a folder of that name first; the launcher then fails or uses that user's folder. So oshrun makes
 * TMP/wattle-XXXXXX with a random name, which only this user may enter.
 *
 * A child process of oshrun, the keeper, removes the folder when both oshrun and the launcher have ended, even if they
 * were killed. These two hold the other end of the keeper's pipe. If oshrun was killed, the keeper also does its
 * work of leftovers.h.
 */
#ifndef WTL_LAUNCH_SESSIONS_H
#define WTL_LAUNCH_SESSIONS_H

#include "launch/command.h"

/*
 * Makes the folder and sets the variables by which the next launcher uses it. Does nothing if the user names a folder,
 * by these variables or on the command line, or if no folder can be made. The launcher then reports the reason.
 */
void wtl_sessions_make(const wtl_command *c);

/*
 * Appends words that remove Open MPI 4's variable from the programs of one part of the job. The daemons name the folder
 * to the programs by another variable, and MPI_Init refuses the two together.
 */
void wtl_sessions_hide(wtl_words *line, const wtl_command *c);

/* Starts the keeper alone, for a launcher that needs no folder. */
void wtl_sessions_keep(const wtl_command *c);

/* Removes the folder and ends the keeper. Called after the launcher has ended. */
void wtl_sessions_remove(void);

#endif
