/*
 * stale_files.h - what a launcher that was killed leaves in the temporary directory.
 */
#ifndef WTL_NODE_STALE_FILES_H
#define WTL_NODE_STALE_FILES_H

#include <stdbool.h>

/*
 * `session`: Open MPI's session directory, TMP/ompi.HOST.UID/pid.PID. Removes it if its name has that form and no
 * process PID lives any more, and TMP/ompi.HOST.UID if that leaves it empty; likewise a TMP that oshrun made for the job (wattle-XXXXXX). Touches only directories of this user that
 * others cannot write to. True if there is nothing (left) to remove.
 */
bool wtl_stale_files_remove(const char *session);

/* Does no process `pid` live any more? One that its parent has not collected counts as gone. */
bool wtl_process_is_gone(int pid);

/*
 * Does TMP/ompi.HOST.UID belong to another user, or may others write to it? Its name is known beforehand, and Open MPI
 * uses whatever folder it finds there; PMIx would then read what somebody else has written. False for other names.
 */
bool wtl_stale_files_foreign(const char *session);

/* Does `session` name a launcher that is dead? False where that cannot be known. */
bool wtl_stale_files_orphaned(const char *session);

#endif
