/*
 * sessions.h - a private folder for the files that Open MPI's launcher makes on this host.
 *
 * By itself it makes them in TMP/ompi.HOST.UID, a name that another user may take beforehand: then it fails, or uses a
 * folder that is somebody else's. So oshrun makes one of a random name, TMP/wattle-XXXXXX, that only this user may
 * enter.
 *
 * A process of oshrun's, the keeper, removes it when both oshrun and the launcher have ended, be it that they were
 * killed. It knows by a pipe of which these two hold the other end.
 */
#ifndef WTL_LAUNCH_SESSIONS_H
#define WTL_LAUNCH_SESSIONS_H

#include "launch/command.h"

/*
 * Makes the folder, and sets the variables by which the launcher that is started next takes it. Nothing is made where
 * the user names a folder, by these variables or on the command line, or where none can be made: the launcher then says
 * why.
 */
void wtl_sessions_make(const wtl_command *c);

/*
 * Adds the words that take Open MPI 4's variable away from the programs of one part of the job. The daemons tell programs
 * the folder by another variable, and MPI_Init refuses the two beside each other.
 */
void wtl_sessions_hide(wtl_words *line, const wtl_command *c);

/* The launcher has ended: removes the folder. */
void wtl_sessions_remove(void);

#endif
