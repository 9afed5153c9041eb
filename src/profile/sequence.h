/*
 * sequence.h - notes which calls of a thread follow each other, from samples: is it the same PE again, is the memory
 * next to the last, is a quiet between them?
 *
 * DESIGN. After some of the timed calls (profile.h) a window of WTL_SEQUENCE_CALLS calls opens. A call in a window is
 * compared with the call before it and with the last transfer. The result is added to the row of the step from the
 * call site before to this one. A call outside a window costs the comparison of one number, in a cache line that it
 * reads anyway. A noted call costs some 50 ns. Of a site with many calls one in a hundred is noted, later fewer.
 *
 * A step is a pair of call sites. A thread keeps at most WTL_SEQUENCE_STEPS steps, and counts the calls of further ones
 * as lost. The rows are samples: they give shares, and the sites have the exact numbers of calls.
 *
 * A transfer is a call that moves bytes to or from one PE. A put's source of at most WTL_SEQUENCE_BYTES bytes is read,
 * to learn whether the same bytes go to the same place again.
 *
 * Of two reductions in a row, the second may need the result of the first. So the input that the second one had the
 * last time is read when the first one begins. If it is the same when the second one begins, and another one than the
 * last time, it does not depend on the first. The memory may be gone by then, so the kernel reads it.
 */
#ifndef WTL_PROFILE_SEQUENCE_H
#define WTL_PROFILE_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  WTL_SEQUENCE_CALLS = 24,
  WTL_SEQUENCE_CHUNK = 64,
  WTL_SEQUENCE_CHUNKS = 32,
  WTL_SEQUENCE_STEPS = WTL_SEQUENCE_CHUNK * WTL_SEQUENCE_CHUNKS,
  WTL_SEQUENCE_BYTES = 1024,
  WTL_SEQUENCE_GAP = 100000
};

/* The target of a call. `pe`: its number in the job; -1: no single one. `there`: memory of that PE, by its symmetric
 * address here; NULL: not known. Of a wait it is the variable. `here`: memory of this PE, `puts`: it is read; NULL: a
 * value, or not known. `kind`: of a reduction, its type, operation and processes as one number; `here` is its input. Of
 * a receive from any source it is WTL_ANY_SOURCE, and 0 of other calls. */
typedef struct wtl_target {
  int pe;
  const void *there, *here;
  bool puts;
  uint64_t kind;
} wtl_target;

#define WTL_TARGET_PE(pe) ((wtl_target){(pe), NULL, NULL, false, 0})
#define WTL_ANY_SOURCE 1u
#define WTL_NO_TARGET WTL_TARGET_PE(-1)

/* Symmetric memory of this PE. */
typedef struct wtl_symmetric {
  const char *start;
  size_t bytes;
} wtl_symmetric;
enum { WTL_SYMMETRIC_AREAS = 2 };

/* A call site, as wtl_site has it. */
typedef struct wtl_step_end {
  uint64_t addr;
  uint32_t call, path;
} wtl_step_end;

/* The names of the counts, in the order of the file. Each is a number of noted calls. */
#define WTL_STEP_COUNTS(X)                                                                                             \
  X(times)                                                                                                             \
  X(transfers)    /* of them transfers after another one; the next nine are shares of these */                         \
  X(same_pe)      /* to the same PE as the last transfer */                                                            \
  X(next_there)   /* at the other PE: begins at the end of the last */                                                 \
  X(same_there)   /* ... where the last began */                                                                       \
  X(stride_there) /* ... at the distance from the last that this one had from the one before it */                     \
  X(next_here)    /* here: the same three */                                                                           \
  X(same_here)                                                                                                         \
  X(stride_here)                                                                                                       \
  X(private_here) /* the memory here is not symmetric */                                                               \
  X(compared)     /* went to the same place as this step's last noted one, and the bytes were compared */              \
  X(unchanged)    /* ... and were the same */                                                                          \
  X(bursts)       /* calls that are no transfer, where the transfers since the last such call were counted */          \
  X(burst_calls)  /* ... the sum of these transfers */

/* Further counts, at the end of a row of the file, which earlier files lack. */
#define WTL_STEP_LATER_COUNTS(X)                                                                                       \
  X(reductions) /* reductions after a reduction */                                                                     \
  X(alike)      /* ... of the same type, operation and processes */                                                    \
  X(inputs)     /* ... whose input had changed, and was read when the one before began */                              \
  X(ready)      /* ... and was the same then */                                                                        \
  X(any_source) /* receives from any source */                                                                         \
  X(gaps)       /* calls after one whose end was timed */

/* One call site after another. */
typedef struct wtl_step {
  wtl_step_end from, to;
#define WTL_STEP_FIELD(name) uint64_t name;
  WTL_STEP_COUNTS(WTL_STEP_FIELD) WTL_STEP_LATER_COUNTS(WTL_STEP_FIELD)
  uint64_t ticks;     /* from the beginning of the one to that of the other, summed */
  uint64_t gap_ticks; /* from the end of the one to the beginning of the other, at most WTL_SEQUENCE_GAP each */
  uint64_t bytes;     /* of the calls `to` */
  int area;           /* of the memory there: an index of wtl_symmetric; -1: none yet, or several */
  uint64_t low, high; /* its offsets in that area, from the first byte to behind the last */
  const void *place;  /* there, of the last noted one, its PE and the sum of its bytes */
  int place_pe;
  uint64_t sum;
  const void *input; /* of the last noted reduction here: its input, with its length and sum */
  uint64_t input_bytes, input_sum;
  struct wtl_step *then; /* from this one to the reduction that came next the last time; NULL: none */
} wtl_step;

typedef struct wtl_noted {
  wtl_step_end site;
  wtl_target to;
  uint64_t bytes, tick;
} wtl_noted;

/* The steps of a thread; all zeroes except `areas`: none yet. */
typedef struct wtl_sequence {
  const wtl_symmetric *areas; /* WTL_SYMMETRIC_AREAS of the PE; NULL where rows are only added up */
  bool has_last, has_transfer, burst_is_whole;
  wtl_noted last, transfer;            /* in this window */
  ptrdiff_t stride_there, stride_here; /* of the last two transfers; 0: not known */
  uint64_t burst;                      /* transfers since the last other call */
  uint64_t left;                       /* tick at which the last call ended; 0: not known */
  wtl_step *into;                      /* to the last call; NULL: it is the first of the window */
  bool has_early;
  uint64_t early; /* sum of the input of `into`'s next reduction, when the last call began */
  uint64_t noted, lost;
  uint32_t used;
  uint16_t *index;                      /* open addressing: number of a step + 1; 0: free. NULL: no step yet */
  wtl_step *chunk[WTL_SEQUENCE_CHUNKS]; /* steps never move, because another thread may read them */
} wtl_sequence;

static inline wtl_step *wtl_sequence_step(const wtl_sequence *q, uint32_t number)
{
  return &q->chunk[number / WTL_SEQUENCE_CHUNK][number % WTL_SEQUENCE_CHUNK];
}

/* Begins a window. */
void wtl_sequence_open(wtl_sequence *q);

/* Notes a call of a window. */
void wtl_sequence_note(wtl_sequence *q, const wtl_noted *now);

/* Notes the tick at which a timed call ended. */
static inline void wtl_sequence_left(wtl_sequence *q, uint64_t tick)
{
  q->left = tick;
}

/* Adds all rows of `from`, whose thread may be counting, to `to`. */
void wtl_sequence_add(wtl_sequence *to, const wtl_sequence *from);

void wtl_sequence_free(wtl_sequence *q);

#endif
