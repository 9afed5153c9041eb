/*
 * user_region.h - the regions that the program marks: which of them a thread is in, and how long.
 *
 * DESIGN. A region is a name below the region around it, so two phases that use one name are two regions. A thread has
 * a stack of open regions. The innermost one is the outermost node of the call paths of its calls (call_path.h). So a
 * call in two regions has two sites, and nothing is added to a call. When a thread changes its region, it takes up the
 * list of the paths that it has seen in that region (profile.h).
 *
 * A region that ends out of order is taken from the middle of the stack. The regions above it stay. A region ends in
 * the thread that began it: an end in another thread has no effect.
 *
 * A timeline has a span for each region from its begin to its end. Where one ends out of order, those above it end
 * with it there and begin again, so spans are nested.
 *
 * The time of a region is that in it and in no inner region, by the thread that started the record.
 */
#ifndef WTL_PROFILE_USER_REGION_H
#define WTL_PROFILE_USER_REGION_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/region_mark.h"

enum {
  WTL_USER_REGIONS = 1024,    /* further ones count as the region around them */
  WTL_USER_REGIONS_OPEN = 32, /* of a thread; deeper ones too */
};

#define WTL_NO_REGION UINT32_MAX

/* A region's name and outer region never change. */
typedef struct wtl_user_region {
  char *name;
  uint32_t outer;         /* number of the region around it; WTL_NO_REGION: none */
  _Atomic uint64_t times; /* begins in all threads since wtl_user_region_start */
  _Atomic uint64_t ticks; /* since then */
} wtl_user_region;

/* Begins or ends a region of the calling thread; a wtl_mark_sink. */
void wtl_user_region_mark(const wtl_region_mark *mark);

/* Returns the number of the innermost region of the calling thread; WTL_NO_REGION: none. */
uint32_t wtl_user_region_here(void);

/* Counts anew, and times the calling thread from now on. */
void wtl_user_region_start(void);

/* Adds the time up to now, if the calling thread is the timed one. */
void wtl_user_region_settle(void);

/* Adds the open regions of the calling thread to its timeline, as if they ended now. */
void wtl_user_region_note_open(void);

/* Returns the number of regions so far, and the region with a number below it. Any thread may call them. */
uint32_t wtl_user_regions(void);
wtl_user_region *wtl_user_region_of(uint32_t number);

#endif
