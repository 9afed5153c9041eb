/*
 * work.h - work of a fixed amount, so that a slower clock makes it longer: arithmetic alone, and the four kernels of
 * STREAM.
 *
 * Compute intensity (CI) is defined as in the papers: arithmetic operations divided by loads and stores.
 */
#ifndef APPS_WORK_H
#define APPS_WORK_H

#include <stdbool.h>
#include <stddef.h>

enum work_kernel { WORK_FMA, WORK_COPY, WORK_SCALE, WORK_ADD, WORK_TRIAD, WORK_KERNELS };

typedef struct work_kind {
  const char *name;
  double intensity; /* as the papers give it */
  double bytes;     /* transferred for each element; 0: arithmetic */
} work_kind;

extern const work_kind work_kinds[WORK_KERNELS];

/* Computes turns of independent multiply-adds, without memory access. */
void work_compute(double turns);

/* Turns in a millisecond, the same on all PEs: `given`, or where that is 0 the number that PE 0's core computes
 * now. Collective. */
double work_agreed_turns(double given);

/* Three arrays for the kernels of STREAM. */
typedef struct work_arrays {
  double *a, *b, *c;
  size_t n;
} work_arrays;

/* Returns false where memory ran out. */
bool work_arrays_make(work_arrays *w, size_t n);
void work_arrays_free(work_arrays *w);

/* One pass of a kernel; for WORK_FMA as many turns as the arrays have elements. */
void work_pass(enum work_kernel k, work_arrays *w);

/* Passes of a kernel over so many elements, the last one over a part of the arrays. */
void work_passes(enum work_kernel k, work_arrays *w, double elements);

/* Whether the arrays hold the result of exactly `passes` passes of that kernel since they were made. Makes them
 * again. */
bool work_check(enum work_kernel k, work_arrays *w, double passes);

#endif
