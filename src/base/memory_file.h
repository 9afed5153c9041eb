/* memory_file.h - makes files without a name in memory (memfd), by which processes share memory. */
#ifndef WTL_BASE_MEMORY_FILE_H
#define WTL_BASE_MEMORY_FILE_H

#include <stddef.h>

/* Makes a file of `length` bytes that is closed on exec. `seals`: F_SEAL_..., or 0. `name` only appears in /proc.
 * Returns its descriptor, or -1 with errno. The limit on the size of files (ulimit -f) applies: EFBIG. */
int wtl_memory_file_make(const char *name, size_t length, int seals);

/* The reason for a failure with errno `why`, and what helps, as static text; NULL if errno says it all. */
const char *wtl_memory_file_advice(int why);

#endif
