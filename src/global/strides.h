/*
 * strides.h - patches of arrays: blocks of bytes at regular steps, in up to WTL_MOST_LEVELS dimensions, in the memory
 * of two PEs at once. Blocks are numbered from 0; the first level's index runs fastest.
 */
#ifndef WTL_GLOBAL_STRIDES_H
#define WTL_GLOBAL_STRIDES_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/near.h"

enum { WTL_MOST_LEVELS = 8 };

typedef struct wtl_strides {
  int levels;
  size_t block;                     /* bytes */
  uint64_t count[WTL_MOST_LEVELS];  /* blocks, rows of blocks ...; none is 0 */
  ptrdiff_t here[WTL_MOST_LEVELS];  /* bytes from one to the next in this PE's own memory */
  ptrdiff_t there[WTL_MOST_LEVELS]; /* the same in the target's memory */
} wtl_strides;

static inline uint64_t wtl_strides_blocks(const wtl_strides *s)
{
  uint64_t n = 1;
  for (int i = 0; i < s->levels; i++) n *= s->count[i];
  return n;
}

/* A function for a run of `n` blocks, one every `here_step` bytes from `here` and `there_step` bytes from `there`. */
typedef void wtl_strides_fn(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                            uint64_t n);

/*
 * Calls `act` run by run for the blocks first .. first + n - 1, which must exist. `here` and `there` are the addresses
 * of block 0. It is always inlined, so that `act` is no call by pointer.
 */
static inline __attribute__((always_inline)) void
wtl_each_run(const wtl_strides *s, char *here, char *there, uint64_t first, uint64_t n, wtl_strides_fn *act, void *arg)
{
  uint64_t at[WTL_MOST_LEVELS];
  if (s->levels == 0) {
    act(arg, here, 0, there, 0, s->block, 1);
    return;
  }
  for (int i = 0; i < s->levels; i++) {
    at[i] = first % s->count[i];
    first /= s->count[i];
    here += (ptrdiff_t)at[i] * s->here[i];
    there += (ptrdiff_t)at[i] * s->there[i];
  }
  for (;;) {
    uint64_t run = s->count[0] - at[0] < n ? s->count[0] - at[0] : n;
    act(arg, here, s->here[0], there, s->there[0], s->block, run);
    if ((n -= run) == 0) return;
    here -= (ptrdiff_t)at[0] * s->here[0];
    there -= (ptrdiff_t)at[0] * s->there[0];
    at[0] = 0;
    for (int i = 1;; i++) { /* more blocks follow, so the last level is not passed */
      here += s->here[i];
      there += s->there[i];
      if (++at[i] < s->count[i]) break;
      here -= (ptrdiff_t)s->count[i] * s->here[i];
      there -= (ptrdiff_t)s->count[i] * s->there[i];
      at[i] = 0;
    }
  }
}

/* Copy a run of blocks of one process: to `there`, and from there. */
static inline void wtl_strides_put_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step,
                                       size_t block, uint64_t n)
{
  (void)arg;
  wtl_copy_blocks(there, (size_t)there_step, here, (size_t)here_step, block, n);
}

static inline void wtl_strides_get_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step,
                                       size_t block, uint64_t n)
{
  (void)arg;
  wtl_copy_blocks(here, (size_t)here_step, there, (size_t)there_step, block, n);
}

#endif
