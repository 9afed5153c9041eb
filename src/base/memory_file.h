/* memory_file.h - makes files in memory, by which processes share it, and makes their pages before they are mapped. */
#ifndef WTL_BASE_MEMORY_FILE_H
#define WTL_BASE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Makes a file of `length` bytes that is closed on exec. `seals`: F_SEAL_..., or 0. `name` only appears in /proc.
 * Returns its descriptor, or -1 with errno. The limit on the size of files (ulimit -f) applies: EFBIG. */
int wtl_memory_file_make(const char *name, size_t length, int seals);

/* Makes the pages of [from, from + bytes), none of which exists yet, so that no store to their mapping raises SIGBUS.
 * Returns false where there is no space, and above the limit on the size of files. */
bool wtl_memory_file_reserve(int fd, size_t from, size_t bytes);

/* The reason for a failure with errno `why`, and what helps, as static text; NULL if errno says it all. */
const char *wtl_memory_file_advice(int why);

#endif
