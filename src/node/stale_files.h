/* stale_files.h - removes files of launchers that have ended: of jobs that were killed. */
#ifndef WTL_NODE_STALE_FILES_H
#define WTL_NODE_STALE_FILES_H

#include <stdbool.h>

#define WTL_STALE_FOLDER "/dev/shm/"
#define WTL_STALE_MEMBERS "wattle-mpi."

/*
 * Removes `session`, a launcher's session directory, if process PID in its name has ended. The name is
 * TMP/ompi.HOST.UID/pid.PID (Open MPI 4) or TMP/prterun.HOST.PID.UID (PRRTE, which Open MPI 5 starts jobs by). Also
 * removes TMP/ompi.HOST.UID if it is empty then, and a TMP that oshrun made for the job (wattle-XXXXXX). Touches only
 * directories of this user that others cannot write to. Returns true if nothing remains to remove.
 */
bool wtl_stale_files_remove(const char *session);

/*
 * Returns whether TMP/ompi.HOST.UID or TMP/prterun.HOST.PID.UID belongs to another user, or whether others may write
 * to it. Its name is predictable, and the launcher may use an existing folder of that name. PMIx would then read files
 * of another user. False for names of another form.
 */
bool wtl_stale_files_foreign(const char *session);

/* Returns whether the launcher in the name of `session` is dead; false if that is unknown. */
bool wtl_stale_files_orphaned(const char *session);

/* Removes files of /dev/shm in which processes of an MPI job counted themselves (mpi/mpi_members.c), where their
 * launcher has ended: the job was killed inside MPI_Init. Does nothing in a container, where the numbers of
 * processes outside mean nothing. */
void wtl_stale_files_of_members(void);

#endif
