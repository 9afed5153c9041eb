/*
 * regular_file.h - reads a file whose name comes from the environment.
 *
 * The name may lead to anything: a FIFO or terminal that never answers, a device without an end. So only regular files
 * are opened, no open blocks, and the length has a limit.
 */
#ifndef WTL_BASE_REGULAR_FILE_H
#define WTL_BASE_REGULAR_FILE_H

#include <stddef.h>

/* Opens the file for reading. Returns a descriptor, or -1 with the reason in *why: static text, or that of strerror. */
int wtl_regular_file_open(const char *path, const char **why);

/* Reads the whole file of at most `most` bytes. Returns its bytes with a NUL after them, which the caller frees, and
 * their number in *length; or NULL with the reason in *why, as above. */
char *wtl_regular_file_read(const char *path, size_t most, size_t *length, const char **why);

#endif
