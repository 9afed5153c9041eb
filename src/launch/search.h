/*
 * search.h - programs, by PATH and by what they say of themselves.
 */
#ifndef WTL_LAUNCH_SEARCH_H
#define WTL_LAUNCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* PATH where the environment has none. */
extern const char wtl_default_path[];

/* Is `path` a file that this user may execute? */
bool wtl_is_program(const char *path);

/* The first program `name` in PATH, into `out`. */
bool wtl_in_path(const char *name, char *out, size_t size);

/* Does `program ARGUMENTS` print `text`, on either stream? */
bool wtl_program_says(const char *program, const char *arguments, const char *text);

/* Is `word` one of the words of `list`, which are separated by single spaces? */
bool wtl_in_list(const char *list, const char *word);

#endif
