/*
 * memory_file.h - files without a name, in memory, by which processes share it (memfd).
 */
#ifndef WTL_BASE_MEMORY_FILE_H
#define WTL_BASE_MEMORY_FILE_H

#include <stddef.h>

/*
 * A file of `length` bytes that is closed on exec; `seals`: F_SEAL_..., or 0. `name` is for /proc only. Returns its
 * descriptor, or -1 with errno. A limit on the size of files (ulimit -f) holds for it, too: EFBIG.
 */
int wtl_memory_file_make(const char *name, size_t length, int seals);

/* Why the last one could not be made (errno's value), with what helps; static text. NULL: `why` says no more. */
const char *wtl_memory_file_advice(int why);

#endif
