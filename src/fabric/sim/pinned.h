/* pinned.h - the pages of a simulated PE's memory that are registered with its network card. */
#ifndef WTL_FABRIC_SIM_PINNED_H
#define WTL_FABRIC_SIM_PINNED_H

#include <stddef.h>
#include <stdint.h>

enum { WTL_PAGE_BYTES = 4096 };

/* Ranges of pages [first, last), in rising order, without contact. All zero at first. */
typedef struct wtl_pinned {
  struct wtl_pinned_range {
    uintptr_t first, last;
  } * ranges;
  size_t n, space;
} wtl_pinned;

/* Adds the pages of the `n` bytes at `start`. Returns how many of them were not registered before. Ends the process if
 * there is no memory. */
size_t wtl_pinned_add(wtl_pinned *p, const void *start, size_t n);
void wtl_pinned_free(wtl_pinned *p);

#endif
