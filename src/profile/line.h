/* line.h - finds the file and line of an address, for error messages. */
#ifndef WTL_PROFILE_LINE_H
#define WTL_PROFILE_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Writes " (halo.c:112)" for `offset` in the file at `path` (NULL: the running program). Writes "" if the program was
 * built without -g, if eu-addr2line of elfutils is not installed, or if it takes more than two seconds. Returns `text`.
 * Not for signal handlers. */
const char *wtl_line_of(const char *path, uint64_t offset, char *text, size_t size) __attribute__((cold));

#endif
