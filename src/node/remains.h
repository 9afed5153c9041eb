/*
 * remains.h - what a launcher that was killed leaves in the temporary directory.
 */
#ifndef WTL_NODE_REMAINS_H
#define WTL_NODE_REMAINS_H

#include <stdbool.h>

/*
 * `session`: Open MPI's session directory, TMP/ompi.HOST.UID/pid.PID. Removes it if its name has that form and no process PID exists any
 * more, and TMP/ompi.HOST.UID if that leaves it empty. True if there is nothing (left) to remove.
 */
bool wtl_remains_remove(const char *session);

#endif
