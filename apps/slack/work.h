/*
 * work.h - work of a fixed amount, so that a slower clock makes it longer: arithmetic alone, and the four kernels of
 * STREAM.
 *
 * Compute intensity (CI) is the papers': arithmetic operations over loads and stores.
 */
#ifndef APPS_WORK_H
#define APPS_WORK_H

#include <stdbool.h>
#include <stddef.h>

enum work_kernel { WORK_FMA, WORK_COPY, WORK_SCALE, WORK_ADD, WORK_TRIAD, WORK_KERNELS };

typedef struct work_kind {
  const char *name;
  double intensity; /* as the papers state it */
  double bytes;     /* that an element moves; 0: arithmetic */
} work_kind;

extern const work_kind work_kinds[WORK_KERNELS];

/* So many turns of independent multiply-adds; nothing in memory. */
void work_compute(double turns);

/* How many turns this core does in a second now: the best of several tries. */
double work_turns_per_second(void);

/* Three arrays for the kernels of STREAM. */
typedef struct work_arrays {
  double *a, *b, *c;
  size_t n;
} work_arrays;

/* false: no memory. */
bool work_arrays_make(work_arrays *w, size_t n);
void work_arrays_free(work_arrays *w);

/* One pass of a kernel; of WORK_FMA as many turns as the arrays have elements. */
void work_pass(enum work_kernel k, work_arrays *w);

/* Are the arrays what `passes` passes of that kernel, and nothing else since they were made, leave? Makes them anew. */
bool work_check(enum work_kernel k, work_arrays *w, double passes);

#endif
