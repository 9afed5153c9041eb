/* line.h - file and line of an address, for a message to whoever wrote the program. */
#ifndef WTL_PROFILE_LINE_H
#define WTL_PROFILE_LINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * " (halo.c:112)" for `offset` in the file at `path`, NULL: the program that runs; "" where that is not known: built without -g, or elfutils'
 * eu-addr2line, which is run for it and has two seconds, is not there. Returns `text`. Not for signal handlers.
 */
const char *wtl_line_of(const char *path, uint64_t offset, char *text, size_t room) __attribute__((cold));

#endif
