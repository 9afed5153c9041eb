/*
 * statics.h - makes the program's global and static variables symmetric, as the standard requires.
 *
 * DESIGN. The executable's writable data segment moves onto the arena at its present address, so that other PEs reach
 * it. It extends from the end of the read-only-after-relocation part to the end of .bss. A fork gives the child a
 * private copy of the values at that moment. The standard excludes the variables of other shared objects.
 *
 * Constants are not moved. Each process has the same bytes, so a PE reads its own copy in place of another PE's.
 * Constants that contain addresses (read-only after relocation) may differ and are excluded.
 *
 * Only PEs that run the same executable have the same variables. If executables differ, no variables are symmetric.
 *
 * A thread that writes a global during wtl_statics_share may lose that write. Call shmem_init before starting threads.
 */
#ifndef WTL_NODE_STATICS_H
#define WTL_NODE_STATICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wtl_statics {
  char *start;                /* page-aligned; NULL if there are none or they are not shared */
  size_t length, file_length; /* multiples of the page size; all after file_length is .bss */
  const char *constants;      /* the executable's segments that are never written: constants and code */
  size_t constants_length;
  bool scattered; /* the range has gaps that belong to others, so it cannot be shared */
} wtl_statics;

/* Finds the segment and changes nothing. All PEs that run the same executable get the same result. */
void wtl_statics_find(wtl_statics *s);

/* Returns a number for the executable of this process. Processes with equal numbers have the same variables. The
 * number comes from the build id; without one, from the beginning of the file. */
uint64_t wtl_statics_program(void);

/* Moves the segment onto `fd` at `offset`. Returns 0, or an exit code with the reason in `error`. */
int wtl_statics_share(const wtl_statics *s, int fd, size_t offset, char *error, size_t size);

/* Moves the segment back to private memory with its present contents. Call it before the arena stops. */
void wtl_statics_unshare(void);

#endif
