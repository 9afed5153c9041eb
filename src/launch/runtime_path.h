/* runtime_path.h - lets every program of a job find the libraries of this installation, wherever it was compiled. */
#ifndef WTL_LAUNCH_RUNTIME_PATH_H
#define WTL_LAUNCH_RUNTIME_PATH_H

#include <stdbool.h>

#include "launch/argument_list.h"

/*
 * Adds PREFIX/lib/wattle/runtime to the end of LD_LIBRARY_PATH, in this environment and in `variables`. PREFIX is the
 * parent of the folder of oshrun. The folder has links to Wattle's libraries alone, so the search for other libraries
 * does not change. Does nothing if there is no such folder, as in a build tree.
 */
void wtl_runtime_path_set(wtl_words *variables);

/* Is this variable ("NAME=VALUE") the one that wtl_runtime_path_set has set? */
bool wtl_runtime_path_is(const char *variable);

#endif
