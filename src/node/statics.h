/*
 * statics.h - the program's global and static variables become symmetric, as the standard says.
 *
 * The executable's writable data segment (from the end of its read-only-after-relocation part to the end of .bss) is
 * moved onto the arena at the address it already has, so that other PEs reach it. A fork gives the child a private copy
 * as of the moment of the fork. Other shared objects' variables are not symmetric (the standard excludes them).
 *
 * Its constants stay where they are: each process has them, with the same bytes, so each reads its own for another's.
 * Those with addresses in them (read-only after relocation) may differ and are none of these.
 *
 * Only PEs that run the same executable have the same variables; where they differ, nobody's are symmetric.
 *
 * A thread that writes globals while wtl_statics_share runs may lose that write: call shmem_init before starting
 * threads.
 */
#ifndef WTL_NODE_STATICS_H
#define WTL_NODE_STATICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wtl_statics {
  char *start;                /* page-aligned; NULL where there are none or they are not shared */
  size_t length, file_length; /* multiples of the page size; beyond file_length all is .bss */
  const char *constants;      /* the executable's segments that are never written: constants, code */
  size_t constants_length;
  bool scattered; /* there are gaps in it that belong to others: it cannot be shared */
} wtl_statics;

/* Finds the segment; changes nothing. The same for all PEs that run the same executable. */
void wtl_statics_find(wtl_statics *s);

/*
 * A number for the executable of this process: where it is the same for two, so are their variables. From the build id;
 * without one, from the beginning of the file.
 */
uint64_t wtl_statics_program(void);

/* Moves the segment onto `fd` at `offset`. 0, or an exit code with the reason in `error`. */
int wtl_statics_share(const wtl_statics *s, int fd, size_t offset, char *error, size_t size);

/* Gives the segment back to this process alone, with its present contents (before the arena goes). */
void wtl_statics_unshare(void);

#endif
