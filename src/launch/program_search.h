/* program_search.h - finds programs by PATH and recognizes them by their output. */
#ifndef WTL_LAUNCH_PROGRAM_SEARCH_H
#define WTL_LAUNCH_PROGRAM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* The search path if the environment has no PATH. */
extern const char wtl_default_path[];

/* Is `path` a file that this user may execute? */
bool wtl_program_is_executable(const char *path);

/* Writes the path of the first program `name` in PATH to `out`. Returns false if there is none. */
bool wtl_program_in_path(const char *name, char *out, size_t size);

/* Does `program ARGUMENTS` print `text` on one of its streams? */
bool wtl_program_prints(const char *program, const char *arguments, const char *text);

/* Is `word` one of the words of `list`, which are separated by single spaces? */
bool wtl_program_in_list(const char *list, const char *word);

#endif
