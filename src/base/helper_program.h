/*
 * helper_program.h - starts a program of this installation that works beside the process.
 *
 * DESIGN. It is a program of its own and not a fork, so it keeps no memory of this process. It puts itself into the
 * background (its first process ends, and a child goes on), so a wait() of the user's program never returns its status.
 */
#ifndef WTL_BASE_HELPER_PROGRAM_H
#define WTL_BASE_HELPER_PROGRAM_H

#include <stddef.h>

enum { WTL_HELPER_PATH = 4200 };

/* Writes the path of a program. It is installed relative to the library: PREFIX/lib/libwattle.so, PREFIX/bin/NAME. */
void wtl_helper_path(const char *name, char path[WTL_HELPER_PATH]);

/*
 * Starts words[0], which is searched for in PATH if it has no slash, and waits until it is in the background. Its input
 * and output are /dev/null, and the n descriptors `kept` are open in it. environment: NULL for that of this process
 * without the libraries that are loaded first into its programs. Returns 0 or an errno.
 */
int wtl_helper_start(char *const *words, char *const *environment, const int *kept, size_t n);

#endif
