/*
 * calls.h - what must hold of each family of routines, as macros that generate_calls.py applies to every routine of the
 * API table.
 *
 * A test is collective: all PEs run it, each with its right neighbour as target, so each PE's memory is written by its
 * left neighbour alone. CTX(...) is either the arguments or a context and the arguments: the default one, or one that
 * was made.
 */
#ifndef WTL_TESTS_CALLS_H
#define WTL_TESTS_CALLS_H

#include <complex.h>
#include <shmem.h>
#include <unistd.h>

#include "pes.h"

enum { ROOM_BYTES = 2048, MANY = 40, TIMES = 8, LATE_US = 300 };

typedef struct room {
  char *a, *b;             /* symmetric, ROOM_BYTES each */
  char *large_a, *large_b; /* symmetric, LARGE_BYTES each */
  int me, n, left, right;
  shmem_ctx_t ctx; /* for the forms with a context */
  long *sync;      /* symmetric: two work arrays for active sets, used alternately */
  bool full;       /* all lengths, rounds and roots, or two of each */
} room;

enum { LARGE_BYTES = 160000 };

typedef struct test {
  const char *name;
  void (*run)(const room *);
  bool collective; /* has no form with a context */
} test;

#define PLAIN(...) __VA_ARGS__
#define IN_CTX(...) r->ctx, __VA_ARGS__

/* All that was done, on either context. */
static inline void settle(const room *r)
{
  shmem_quiet();
  shmem_ctx_quiet(r->ctx);
}

typedef unsigned char bits8;
typedef uint16_t bits16;
typedef uint32_t bits32;
typedef uint64_t bits64;
typedef unsigned __int128 bits128;

/* All bits of a value vary with the PE and the place. Small ones, where sums must not overflow. */
uint64_t mixed(int pe, size_t i);
#define VALUE(T, pe, i) ((T)mixed(pe, i))
#define SMALL(T, pe, i) ((T)(mixed(pe, i) % 7))

static const size_t lengths[] = {0, 1, 2, 3, 17, MANY};
/* Many PEs on few cores meet slowly where others compute too: there, two lengths, rounds and roots must do. */
#define FULL (r->full)
#define EACH_LENGTH(k) for (size_t k = FULL ? 0 : 4; k < sizeof lengths / sizeof lengths[0]; k++)

#define DEFINE(NAME) static void test_##NAME(const room *r)

/* dest[0] and dest[len + 1] are fences that no PE may write. */
#define PUT(NAME, T, CTX, FINISH)                                                                                      \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a, source[MANY];                                                                         \
    EACH_LENGTH(k)                                                                                                     \
    {                                                                                                                  \
      size_t len = lengths[k];                                                                                         \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      for (size_t i = 0; i < len; i++) source[i] = VALUE(T, r->me, i);                                                 \
      shmem_barrier_all();                                                                                             \
      NAME(CTX(dest + 1, source, len, r->right));                                                                      \
      FINISH;                                                                                                          \
      shmem_barrier_all();                                                                                             \
      for (size_t i = 0; i < len; i++)                                                                                 \
        EXPECT(dest[i + 1] == VALUE(T, r->left, i), #NAME " element %zu of %zu", i, len);                              \
      EXPECT(dest[0] == 0 && dest[len + 1] == 0, #NAME " wrote beside its target");                                    \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }

#define GET(NAME, T, CTX, FINISH)                                                                                      \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *source = (T *)(void *)r->a, dest[MANY + 2];                                                                     \
    for (size_t i = 0; i < MANY; i++) source[i] = VALUE(T, r->me, i);                                                  \
    shmem_barrier_all();                                                                                               \
    EACH_LENGTH(k)                                                                                                     \
    {                                                                                                                  \
      size_t len = lengths[k];                                                                                         \
      for (size_t i = 0; i < MANY + 2; i++) dest[i] = 0;                                                               \
      NAME(CTX(dest + 1, source, len, r->right));                                                                      \
      FINISH;                                                                                                          \
      for (size_t i = 0; i < len; i++)                                                                                 \
        EXPECT(dest[i + 1] == VALUE(T, r->right, i), #NAME " element %zu of %zu", i, len);                             \
      EXPECT(dest[0] == 0 && dest[len + 1] == 0, #NAME " wrote beside its target");                                    \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }

#define P(NAME, T, CTX)                                                                                                \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a;                                                                                       \
    memset(r->a, 0, ROOM_BYTES);                                                                                       \
    shmem_barrier_all();                                                                                               \
    NAME(CTX(dest + 1, VALUE(T, r->me, 1), r->right));                                                                 \
    settle(r);                                                                                                         \
    shmem_barrier_all();                                                                                               \
    EXPECT(dest[1] == VALUE(T, r->left, 1), #NAME);                                                                    \
    EXPECT(dest[0] == 0 && dest[2] == 0, #NAME " wrote beside its target");                                            \
    shmem_barrier_all();                                                                                               \
  }

#define G(NAME, T, CTX)                                                                                                \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *source = (T *)(void *)r->a;                                                                                     \
    *source = VALUE(T, r->me, 1);                                                                                      \
    shmem_barrier_all();                                                                                               \
    T got = NAME(CTX(source, r->right));                                                                               \
    EXPECT(got == VALUE(T, r->right, 1), #NAME);                                                                       \
    shmem_barrier_all();                                                                                               \
  }

/*
 * An atomic operation: `cell` of the right neighbour holds OLD; CALL acts on it with OPERAND; then it must hold NEW,
 * and what was fetched (where something is) must be OLD. The neighbours of the cell keep their zeros.
 */
/* Sets a value that a fetch must replace: it differs from the value there. */
#define AFTER_UNSET(...) (*into = (__typeof__(*into))(*into == 5 ? 6 : 5), __VA_ARGS__)

#define AMO(NAME, T, NEW, CALL)                                                                                        \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *cell = (T *)(void *)r->a + 1;                                                                                   \
    for (int round = FULL ? 0 : 2; round < 4; round++) {                                                               \
      /* The first rounds take the ends of the type's range, where sums wrap. */                                       \
      const uint64_t ends[] = {UINT64_MAX, UINT64_MAX >> 1, UINT64_MAX >> 33};                                         \
      T OLD = round < 3 ? (T)ends[round] : VALUE(T, r->right, 1), OPERAND = VALUE(T, r->me, 2 + (size_t)round);        \
      T fetched = OLD, *into = &fetched, left_old = round < 3 ? (T)ends[round] : VALUE(T, r->me, 1);                   \
      T left_operand = VALUE(T, r->left, 2 + (size_t)round);                                                           \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      *cell = left_old;                                                                                                \
      (void)into;                                                                                                      \
      (void)OPERAND;                                                                                                   \
      (void)left_operand;                                                                                              \
      shmem_barrier_all();                                                                                             \
      CALL;                                                                                                            \
      settle(r);                                                                                                       \
      EXPECT(fetched == OLD, #NAME " fetched something else, round %d", round);                                        \
      shmem_barrier_all();                                                                                             \
      OLD = left_old;                                                                                                  \
      OPERAND = left_operand;                                                                                          \
      EXPECT(*cell == (NEW), #NAME " left something else, round %d", round);                                           \
      EXPECT(cell[-1] == 0 && cell[1] == 0, #NAME " wrote beside its target");                                         \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }

/* All PEs hit PE 0's cell at once, TIMES each; nothing may be lost. CALL adds STEP. */
#define CONTENDED(NAME, T, STEP, CALL)                                                                                 \
  static void contend_##NAME(const room *r)                                                                            \
  {                                                                                                                    \
    T *cell = (T *)(void *)r->a, fetched[TIMES] = {0}, OPERAND = (STEP);                                               \
    const int right = 0;                                                                                               \
    T *into = fetched; /* one place each: the network may still write the last one's */                                \
    (void)OPERAND;                                                                                                     \
    *cell = 0;                                                                                                         \
    shmem_barrier_all();                                                                                               \
    for (; into < fetched + TIMES; into++) CALL(right);                                                                \
    settle(r);                                                                                                         \
    shmem_barrier_all();                                                                                               \
    if (r->me == 0) EXPECT(*cell == (T)(r->n * TIMES * (STEP)), #NAME " lost updates");                                \
    shmem_barrier_all();                                                                                               \
  }

#define SUM_OF(T) (T)((uint64_t)OLD + (uint64_t)OPERAND)
#define FETCH(NAME, T, CTX) AMO(NAME, T, OLD, *into = NAME(CTX(cell, r->right)))
#define FETCH_NBI(NAME, T, CTX) AMO(NAME, T, OLD, AFTER_UNSET(NAME(CTX(into, cell, r->right))))
#define SET(NAME, T, CTX) AMO(NAME, T, OPERAND, NAME(CTX(cell, OPERAND, r->right)))
#define SWAP(NAME, T, CTX) AMO(NAME, T, OPERAND, *into = NAME(CTX(cell, OPERAND, r->right)))
#define SWAP_NBI(NAME, T, CTX) AMO(NAME, T, OPERAND, AFTER_UNSET(NAME(CTX(into, cell, OPERAND, r->right))))

/* Rounds with an even number compare with what is there, the others with something else and must change nothing. */
#define COMPARE_SWAP_(NAME, T, CALL) AMO(NAME, T, round % 2 == 0 ? OPERAND : OLD, CALL)
#define COMPARE_SWAP(NAME, T, CTX)                                                                                     \
  COMPARE_SWAP_(NAME, T, *into = NAME(CTX(cell, round % 2 == 0 ? OLD : (T)(OLD ^ 1), OPERAND, r->right)))
#define COMPARE_SWAP_NBI(NAME, T, CTX)                                                                                 \
  COMPARE_SWAP_(NAME, T, AFTER_UNSET(NAME(CTX(into, cell, round % 2 == 0 ? OLD : (T)(OLD ^ 1), OPERAND, r->right))))

#define INC_LIKE(NAME, T, CALL)                                                                                        \
  AMO(NAME##_once, T, (T)((uint64_t)OLD + 1), CALL(r->right)) CONTENDED(NAME, T, 1, CALL) BOTH(NAME)
#define ADD_LIKE(NAME, T, CALL) AMO(NAME##_once, T, SUM_OF(T), CALL(r->right)) CONTENDED(NAME, T, 3, CALL) BOTH(NAME)
#define BOTH(NAME)                                                                                                     \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    test_##NAME##_once(r);                                                                                             \
    contend_##NAME(r);                                                                                                 \
  }

#define AND(NAME, T, CTX) AMO(NAME, T, (T)(OLD & OPERAND), NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_AND(NAME, T, CTX) AMO(NAME, T, (T)(OLD & OPERAND), *into = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_AND_NBI(NAME, T, CTX)                                                                                    \
  AMO(NAME, T, (T)(OLD & OPERAND), AFTER_UNSET(NAME(CTX(into, cell, OPERAND, r->right))))
#define OR(NAME, T, CTX) AMO(NAME, T, (T)(OLD | OPERAND), NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_OR(NAME, T, CTX) AMO(NAME, T, (T)(OLD | OPERAND), *into = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_OR_NBI(NAME, T, CTX)                                                                                     \
  AMO(NAME, T, (T)(OLD | OPERAND), AFTER_UNSET(NAME(CTX(into, cell, OPERAND, r->right))))
#define XOR(NAME, T, CTX) AMO(NAME, T, (T)(OLD ^ OPERAND), NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_XOR(NAME, T, CTX) AMO(NAME, T, (T)(OLD ^ OPERAND), *into = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_XOR_NBI(NAME, T, CTX)                                                                                    \
  AMO(NAME, T, (T)(OLD ^ OPERAND), AFTER_UNSET(NAME(CTX(into, cell, OPERAND, r->right))))

/* Values at which a comparison goes wrong if signedness or width do. */
static const uint64_t edges[] = {
    0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
enum { N_EDGES = sizeof edges / sizeof edges[0] };
#define HOLDS(a, cmp, b)                                                                                               \
  ((cmp) == SHMEM_CMP_EQ   ? (a) == (b)                                                                                \
   : (cmp) == SHMEM_CMP_NE ? (a) != (b)                                                                                \
   : (cmp) == SHMEM_CMP_GT ? (a) > (b)                                                                                 \
   : (cmp) == SHMEM_CMP_GE ? (a) >= (b)                                                                                \
   : (cmp) == SHMEM_CMP_LT ? (a) < (b)                                                                                 \
                           : (a) <= (b))
static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

#define TEST_VARIABLE(NAME, T)                                                                                         \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *ivar = (T *)(void *)r->a;                                                                                       \
    for (int i = 0; i < N_EDGES; i++)                                                                                  \
      for (int j = 0; j < N_EDGES; j++)                                                                                \
        for (int c = 0; c < 6; c++) {                                                                                  \
          *ivar = (T)edges[i];                                                                                         \
          int got = NAME(ivar, comparisons[c], (T)edges[j]);                                                           \
          EXPECT(got == HOLDS((T)edges[i], comparisons[c], (T)edges[j]), #NAME "(%llx, %d, %llx)",                     \
                 (unsigned long long)edges[i], comparisons[c], (unsigned long long)edges[j]);                          \
        }                                                                                                              \
    shmem_barrier_all();                                                                                               \
  }

/* From a value for which the comparison does not hold to one for which it does, by the neighbour's put. */
#define WAIT_UNTIL(NAME, T)                                                                                            \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *ivar = (T *)(void *)r->a;                                                                                       \
    for (int c = 0; c < 6; c++)                                                                                        \
      for (int trial = FULL ? 0 : 2; trial < 3; trial++) {                                                             \
        uint64_t seed = (uint64_t)(c * 8 + trial);                                                                     \
        T before, after, limit;                                                                                        \
        do {                                                                                                           \
          before = (T)edges[next_random(&seed) % N_EDGES];                                                             \
          after = (T)edges[next_random(&seed) % N_EDGES];                                                              \
          limit = (T)edges[next_random(&seed) % N_EDGES];                                                              \
        } while (HOLDS(before, comparisons[c], limit) || !HOLDS(after, comparisons[c], limit));                        \
        *ivar = before;                                                                                                \
        shmem_barrier_all();                                                                                           \
        if (trial == 1) sched_yield();                                                                                 \
        shmem_putmem(ivar, &after, sizeof after, r->right);                                                            \
        (NAME)(ivar, comparisons[c], limit);                                                                           \
        EXPECT(*ivar == after, #NAME " returned early, comparison %d", comparisons[c]);                                \
        shmem_barrier_all();                                                                                           \
      }                                                                                                                \
  }

/* The operations of reductions. Integers are computed in 64 bits and cut off, as wrapping results are. */
#define IS_INTEGER(T) ((T)0.5 == 0)
#define OP_and(T, a, b) ((T)((uint64_t)(a) & (uint64_t)(b)))
#define OP_or(T, a, b) ((T)((uint64_t)(a) | (uint64_t)(b)))
#define OP_xor(T, a, b) ((T)((uint64_t)(a) ^ (uint64_t)(b)))
#define OP_min(T, a, b) ((a) < (b) ? (a) : (b))
#define OP_max(T, a, b) ((a) > (b) ? (a) : (b))
#define OP_sum(T, a, b) ((T)((a) + (b)))
#define OP_prod(T, a, b) ((T)((a) * (b)))
/* Values for which the result is exact in every type: small for sums and products, all bits for the others. */
#define IN_and(T, pe, i) VALUE(T, pe, i)
#define IN_or(T, pe, i) VALUE(T, pe, i)
#define IN_xor(T, pe, i) VALUE(T, pe, i)
#define IN_min(T, pe, i) VALUE(T, pe, i)
#define IN_max(T, pe, i) VALUE(T, pe, i)
#define IN_sum(T, pe, i) SMALL(T, pe, i)
#define IN_prod(T, pe, i) ((T)(1 + mixed(pe, i) % 2))

/* A team or an active set as the tests see it: PEs first, first + step, ... */
typedef struct group {
  int first, step, n, me; /* me: -1 on PEs that are not in it */
} group;

static inline int member(const group *g, int i)
{
  return g->first + i * g->step;
}

/* All PEs; those with odd numbers; all but the first. The second and third where there are enough. */
static inline group groups(const room *r, int which)
{
  group g = which == 0 ? (group){0, 1, r->n, 0} : which == 1 ? (group){1, 2, r->n / 2, 0} : (group){1, 1, r->n - 1, 0};
  g.me = r->me >= g.first && (r->me - g.first) % g.step == 0 ? (r->me - g.first) / g.step : -1;
  if (g.me >= g.n) g.me = -1;
  return g;
}
enum { N_GROUPS = 3 };
#define EACH_GROUP(g)                                                                                                  \
  for (int which_ = 0; which_ < (r->n < 3 ? 1 : N_GROUPS); which_++)                                                   \
    for (group g##_ = groups(r, which_), *g = &g##_; g; g = NULL)

/* The team of a group, from those that the program made at its start. */
extern _Thread_local shmem_team_t group_team[N_GROUPS];

/* A work array that no PE still uses. */
static inline long *work(const room *r, int turn)
{
  return r->sync + (turn & 1) * SHMEM_SYNC_SIZE;
}

/* CALL(dest, source, count, g): the reduction over the group's PEs; dest may be source. */
#define REDUCTION(NAME, T, OP, CALL)                                                                                   \
  static void reduce_##NAME(const room *r, const group *g, int which_, T *dest, T *source, size_t count, int turn)     \
  {                                                                                                                    \
    memset((void *)dest, 0, (count + 1) * sizeof(T));                                                                  \
    for (size_t i = 0; i < count; i++) source[i] = IN_##OP(T, r->me, i);                                               \
    shmem_barrier_all();                                                                                               \
    (void)which_;                                                                                                      \
    (void)turn;                                                                                                        \
    if (g->me >= 0) {                                                                                                  \
      CALL;                                                                                                            \
      for (size_t i = 0; i < count; i++) {                                                                             \
        T want = IN_##OP(T, member(g, 0), i);                                                                          \
        for (int k = 1; k < g->n; k++) {                                                                               \
          T next = IN_##OP(T, member(g, k), i);                                                                        \
          want = OP_##OP(T, want, next);                                                                               \
        }                                                                                                              \
        EXPECT(dest[i] == want, #NAME " element %zu of %zu", i, count);                                                \
        if (dest != source) EXPECT(source[i] == IN_##OP(T, r->me, i), #NAME " changed its source");                    \
      }                                                                                                                \
      if (dest != source) EXPECT(dest[count] == 0, #NAME " wrote beside its target");                                  \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }                                                                                                                    \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *a = (T *)(void *)r->a, *b = (T *)(void *)r->b;                                                                  \
    int turn = 0;                                                                                                      \
    EACH_GROUP(g)                                                                                                      \
    {                                                                                                                  \
      EACH_LENGTH(k) reduce_##NAME(r, g, which_, a, b, lengths[k], turn++);                                            \
      reduce_##NAME(r, g, which_, a, a, MANY, turn++);                                                                 \
    }                                                                                                                  \
    /* More than a PE's scratch buffer, in odd parts. */                                                               \
    EACH_GROUP(g)                                                                                                      \
    if (which_ == 0 || FULL)                                                                                           \
      reduce_##NAME(r, g, which_, (T *)(void *)r->large_a, (T *)(void *)r->large_b, LARGE_BYTES / sizeof(T) - 3,       \
                    turn++);                                                                                           \
  }

#define REDUCE(NAME, T, OP) REDUCTION(NAME, T, OP, EXPECT(NAME(group_team[which_], dest, source, count) == 0, #NAME))

/* The work array of the data's type is not used here, but must be there. */
#define TO_ALL(NAME, T, OP)                                                                                            \
  REDUCTION(NAME, T, OP,                                                                                               \
            NAME(dest, source, (int)count, g->first, g->step - 1, g->n,                                                \
                 (T *)(void *)((char *)source == r->large_b ? r->b : r->large_b), work(r, turn)))

/* Scans: the sum up to this PE, or before it. */
#define SCAN(NAME, T, EXCLUSIVE)                                                                                       \
  static void scan_##NAME(const room *r, const group *g, int which_, T *dest, T *source, size_t count)                 \
  {                                                                                                                    \
    memset((void *)dest, 0, (count + 1) * sizeof(T));                                                                  \
    for (size_t i = 0; i < count; i++) source[i] = SMALL(T, r->me, i);                                                 \
    shmem_barrier_all();                                                                                               \
    if (g->me >= 0) {                                                                                                  \
      EXPECT(NAME(group_team[which_], dest, source, count) == 0, #NAME);                                               \
      for (size_t i = 0; i < count; i++) {                                                                             \
        T want = 0;                                                                                                    \
        for (int k = 0; k < g->me + !(EXCLUSIVE); k++) want = (T)(want + SMALL(T, member(g, k), i));                   \
        EXPECT(dest[i] == want, #NAME " element %zu of %zu", i, count);                                                \
      }                                                                                                                \
      if (dest != source) EXPECT(dest[count] == 0, #NAME " wrote beside its target");                                  \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }                                                                                                                    \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *a = (T *)(void *)r->a, *b = (T *)(void *)r->b;                                                                  \
    EACH_GROUP(g)                                                                                                      \
    {                                                                                                                  \
      EACH_LENGTH(k) scan_##NAME(r, g, which_, a, b, lengths[k]);                                                      \
      scan_##NAME(r, g, which_, a, a, MANY);                                                                           \
    }                                                                                                                  \
    EACH_GROUP(g)                                                                                                      \
    if (which_ == 0)                                                                                                   \
      scan_##NAME(r, g, which_, (T *)(void *)r->large_a, (T *)(void *)r->large_b, LARGE_BYTES / sizeof(T) - 3);        \
    EACH_GROUP(g)                                                                                                      \
    if (which_ == 0)                                                                                                   \
      scan_##NAME(r, g, which_, (T *)(void *)r->large_a, (T *)(void *)r->large_a, LARGE_BYTES / sizeof(T) - 3);        \
  }

/*
 * Broadcast from each root of each group. CALL(dest, source, len, root). KEEPS: root's own dest stays unchanged (the
 * old form).
 */
#define BROADCAST_(NAME, T, KEEPS, CALL)                                                                               \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a + 1, *source = (T *)(void *)r->b;                                                      \
    int turn = 0;                                                                                                      \
    EACH_GROUP(g)                                                                                                      \
    for (int root = 0; root < g->n; root += FULL || g->n == 1 ? 1 : g->n - 1) {                                        \
      size_t len = lengths[(size_t)(root + 4) % (sizeof lengths / sizeof lengths[0])];                                 \
      if (turn % 3 == 2) len = ROOM_BYTES / sizeof(T) - 2;                                                             \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      for (size_t i = 0; i < len; i++) source[i] = VALUE(T, r->me, i);                                                 \
      shmem_barrier_all();                                                                                             \
      if (g->me >= 0) {                                                                                                \
        CALL;                                                                                                          \
        bool kept = (KEEPS) && g->me == root;                                                                          \
        for (size_t i = 0; i < len; i++)                                                                               \
          EXPECT(dest[i] == (kept ? 0 : VALUE(T, member(g, root), i)), #NAME " from %d element %zu", root, i);         \
        EXPECT(dest[-1] == 0 && dest[len] == 0, #NAME " wrote beside its target");                                     \
      }                                                                                                                \
      turn++;                                                                                                          \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }
#define BROADCAST(NAME, T)                                                                                             \
  BROADCAST_(NAME, T, false, EXPECT(NAME(group_team[which_], dest, source, len, root) == 0, #NAME);                    \
             EXPECT(NAME(group_team[which_], source, source, len, root) == 0, #NAME))
#define OLD_BROADCAST(NAME, T)                                                                                         \
  BROADCAST_(NAME, T, true, NAME(dest, source, len, root, g->first, g->step - 1, g->n, work(r, turn)))

/*
 * Blocks of all PEs of a group, one after the other. CALL(dest, source, len); PE k brings LEN(k, len) elements.
 */
#define GATHER(NAME, T, LEN, CALL)                                                                                     \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->large_a, *source = (T *)(void *)r->b;                                                    \
    const size_t sizes[] = {0, 1, 2, 17, ROOM_BYTES / sizeof(T)};                                                      \
    int turn = 0;                                                                                                      \
    EACH_GROUP(g)                                                                                                      \
    for (size_t s = FULL ? 0 : 2; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {                                   \
      size_t len = LEN(g->me, sizes[s]), at = 0;                                                                       \
      for (size_t i = 0; i < ROOM_BYTES / sizeof(T); i++) source[i] = VALUE(T, r->me, i);                              \
      memset((void *)dest, 0, (sizes[s] * (size_t)g->n + 1) * sizeof(T));                                              \
      shmem_barrier_all();                                                                                             \
      if (g->me >= 0) {                                                                                                \
        CALL;                                                                                                          \
        for (int k = 0; k < g->n; k++)                                                                                 \
          for (size_t i = 0; i < LEN(k, sizes[s]); i++, at++)                                                          \
            EXPECT(dest[at] == VALUE(T, member(g, k), i), #NAME " of PE %d element %zu", member(g, k), i);             \
        EXPECT(dest[at] == 0, #NAME " wrote beside its target");                                                       \
      }                                                                                                                \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }
#define ALIKE(k, len) (len)
#define UNALIKE(k, len) ((len) * (size_t)((k) % 3) / 2)
#define FCOLLECT(NAME, T) GATHER(NAME, T, ALIKE, EXPECT(NAME(group_team[which_], dest, source, len) == 0, #NAME))
#define COLLECT(NAME, T) GATHER(NAME, T, UNALIKE, EXPECT(NAME(group_team[which_], dest, source, len) == 0, #NAME))
#define OLD_FCOLLECT(NAME, T)                                                                                          \
  GATHER(NAME, T, ALIKE, NAME(dest, source, len, g->first, g->step - 1, g->n, work(r, turn)))
#define OLD_COLLECT(NAME, T)                                                                                           \
  GATHER(NAME, T, UNALIKE, NAME(dest, source, len, g->first, g->step - 1, g->n, work(r, turn)))

/* A block from each PE for each PE, with strides DST and SST between elements. */
#define ALLTOALL_(NAME, T, DST, SST, CALL)                                                                             \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->large_a, *source = (T *)(void *)r->large_b;                                              \
    const size_t sizes[] = {0, 1, 3, 100};                                                                             \
    int turn = 0;                                                                                                      \
    EACH_GROUP(g)                                                                                                      \
    for (size_t s = FULL ? 0 : 1; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {                                   \
      size_t len = sizes[s], all = len * (size_t)g->n;                                                                 \
      const size_t dst = DST, sst = SST;                                                                               \
      for (size_t i = 0; i < all * sst; i++) source[i] = VALUE(T, r->me, i);                                           \
      memset((void *)dest, 0, (all * dst + 1) * sizeof(T));                                                            \
      shmem_barrier_all();                                                                                             \
      if (g->me >= 0) {                                                                                                \
        CALL;                                                                                                          \
        for (size_t i = 0; i < all * dst; i++) {                                                                       \
          size_t element = i / dst, k = len ? element / len : 0, within = len ? element % len : 0;                     \
          T want = i % dst ? 0 : VALUE(T, member(g, (int)k), ((size_t)g->me * len + within) * sst);                    \
          EXPECT(dest[i] == want, #NAME " element %zu of %zu", i, all * dst);                                          \
        }                                                                                                              \
        EXPECT(dest[all * dst] == 0, #NAME " wrote beside its target");                                                \
      }                                                                                                                \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }
#define ALLTOALL(NAME, T) ALLTOALL_(NAME, T, 1, 1, EXPECT(NAME(group_team[which_], dest, source, len) == 0, #NAME))
#define ALLTOALLS(NAME, T)                                                                                             \
  ALLTOALL_(NAME, T, 3, 2, EXPECT(NAME(group_team[which_], dest, source, 3, 2, len) == 0, #NAME))
#define OLD_ALLTOALL(NAME, T)                                                                                          \
  ALLTOALL_(NAME, T, 1, 1, NAME(dest, source, len, g->first, g->step - 1, g->n, work(r, turn)))
#define OLD_ALLTOALLS(NAME, T)                                                                                         \
  ALLTOALL_(NAME, T, 3, 2, NAME(dest, source, 3, 2, len, g->first, g->step - 1, g->n, work(r, turn)))

/* A PE that sees the signal sees the data, without a barrier between. */
#define PUT_SIGNAL(NAME, T, CTX)                                                                                       \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a, source[MANY];                                                                         \
    uint64_t *signal = (uint64_t *)(void *)(r->b + 64);                                                                \
    EACH_LENGTH(k)                                                                                                     \
    for (int adds = 0; adds < 2; adds++) {                                                                             \
      size_t len = lengths[k];                                                                                         \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      memset(r->b, 0, ROOM_BYTES);                                                                                     \
      *signal = 1000;                                                                                                  \
      for (size_t i = 0; i < len; i++) source[i] = VALUE(T, r->me, i);                                                 \
      shmem_barrier_all();                                                                                             \
      NAME(CTX(dest + 1, source, len, signal, 7, adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, r->right));               \
      uint64_t want = adds ? 1007 : 7, got = shmem_signal_wait_until(signal, SHMEM_CMP_NE, 1000);                      \
      EXPECT(got == want && shmem_signal_fetch(signal) == want, #NAME " left the signal %llu",                         \
             (unsigned long long)got);                                                                                 \
      for (size_t i = 0; i < len; i++)                                                                                 \
        EXPECT(dest[i + 1] == VALUE(T, r->left, i), #NAME " element %zu of %zu", i, len);                              \
      EXPECT(dest[0] == 0 && dest[len + 1] == 0 && signal[-1] == 0 && signal[1] == 0,                                  \
             #NAME " wrote beside its target");                                                                        \
      settle(r);                                                                                                       \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }

/* A signal alone: WANT is its value after 1000 is changed by 7. All PEs add to PE 0's, too, and none is lost. */
#define SIGNAL(NAME, CTX, WANT, ADDS)                                                                                  \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    uint64_t *signal = (uint64_t *)(void *)r->a + 1;                                                                   \
    memset(r->a, 0, ROOM_BYTES);                                                                                       \
    *signal = 1000;                                                                                                    \
    shmem_barrier_all();                                                                                               \
    NAME(CTX(signal, 7, r->right));                                                                                    \
    EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_NE, 1000) == (WANT), #NAME);                                      \
    EXPECT(signal[-1] == 0 && signal[1] == 0, #NAME " wrote beside its target");                                       \
    settle(r);                                                                                                         \
    shmem_barrier_all();                                                                                               \
    *signal = 0;                                                                                                       \
    shmem_barrier_all();                                                                                               \
    for (int i = 0; i < TIMES; i++) NAME(CTX(signal, 3, 0));                                                           \
    settle(r);                                                                                                         \
    shmem_barrier_all();                                                                                               \
    if (r->me == 0) EXPECT(*signal == ((ADDS) ? (uint64_t)(3 * TIMES * r->n) : 3), #NAME " by all");                   \
    shmem_barrier_all();                                                                                               \
  }

/* Strides of BLOCK to 3 on both sides; the elements between stay unchanged. BLOCK elements at a time. */
#define STRIDED_(NAME, T, PUTS, BLOCK, CALL)                                                                           \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a + 1, *source = (T *)(void *)r->b;                                                      \
    for (ptrdiff_t dst = FULL ? BLOCK : 2; dst <= 3; dst++)                                                            \
      for (ptrdiff_t sst = FULL ? BLOCK : 3; sst <= 3; sst++)                                                          \
        for (size_t len = FULL ? 0 : 7; len <= 7; len += 1 + len) {                                                    \
          const size_t block = BLOCK, step = (size_t)dst;                                                              \
          memset(r->a, 0, ROOM_BYTES);                                                                                 \
          for (size_t i = 0; i < ROOM_BYTES / sizeof(T); i++) source[i] = VALUE(T, r->me, i);                          \
          shmem_barrier_all();                                                                                         \
          CALL;                                                                                                        \
          settle(r);                                                                                                   \
          shmem_barrier_all();                                                                                         \
          for (size_t i = 0; i < (len + 1) * step; i++) {                                                              \
            bool in = i / step < len && i % step < block;                                                              \
            size_t from = i / step * (size_t)sst + i % step;                                                           \
            EXPECT(dest[i] == (in ? VALUE(T, (PUTS) ? r->left : r->right, from) : 0),                                  \
                   #NAME " element %zu, strides %td and %td, %zu", i, dst, sst, len);                                  \
          }                                                                                                            \
          EXPECT(dest[-1] == 0, #NAME " wrote before its target");                                                     \
          shmem_barrier_all();                                                                                         \
        }                                                                                                              \
  }
#define IPUT(NAME, T, CTX) STRIDED_(NAME, T, true, 1, NAME(CTX(dest, source, dst, sst, len, r->right)))
#define IGET(NAME, T, CTX) STRIDED_(NAME, T, false, 1, NAME(CTX(dest, source, dst, sst, len, r->right)))
#define IBPUT(NAME, T, CTX) STRIDED_(NAME, T, true, 2, NAME(CTX(dest, source, dst, sst, block, len, r->right)))
#define IBGET(NAME, T, CTX) STRIDED_(NAME, T, false, 2, NAME(CTX(dest, source, dst, sst, block, len, r->right)))

/* --- waits and tests on several variables ------------------------------------------------------------------------- */

enum { VARS = 6 };

/* Variable i is awaited as 10 + i by the vector forms, as 10 by the others. Number 2 is masked, and would hold
 * first. */
#define AWAITED(VECTOR, i) ((VECTOR) ? 10 + (i) : 10)
#define MANY_VARIABLES(T, VECTOR)                                                                                      \
  T *ivars = (T *)(void *)r->a, values[VARS];                                                                          \
  const int mask[VARS] = {0, 0, 1, 0, 0, 0}, all_masked[VARS] = {1, 1, 1, 1, 1, 1};                                    \
  size_t indices[VARS];                                                                                                \
  (void)indices;                                                                                                       \
  (void)mask;                                                                                                          \
  (void)all_masked;                                                                                                    \
  for (size_t i = 0; i < VARS; i++) {                                                                                  \
    ivars[i] = i == 2 ? (T)AWAITED(VECTOR, i) : 0;                                                                     \
    values[i] = (T)AWAITED(VECTOR, i);                                                                                 \
  }                                                                                                                    \
  (void)values;                                                                                                        \
  shmem_barrier_all()

/* The neighbour makes variable i hold. */
#define FULFIL(T, VECTOR, i)                                                                                           \
  do {                                                                                                                 \
    T value_ = (T)AWAITED(VECTOR, i);                                                                                  \
    shmem_putmem(&ivars[i], &value_, sizeof value_, r->right);                                                         \
  } while (0)

#define WAIT_ALL(NAME, T, VECTOR, VALUES)                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    for (int round = 0; round < (FULL ? 4 : 1); round++) {                                                             \
      MANY_VARIABLES(T, VECTOR);                                                                                       \
      if (round == 1) sched_yield();                                                                                   \
      for (size_t i = VARS; i-- > 0;)                                                                                  \
        if (i != 2) FULFIL(T, VECTOR, i);                                                                              \
      NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES);                                                                   \
      for (size_t i = 0; i < VARS; i++)                                                                                \
        EXPECT(ivars[i] == (T)AWAITED(VECTOR, i), #NAME " returned before variable %zu", i);                           \
      shmem_barrier_all(); /* no PE writes any more: once again, with the last one missing */                          \
      bool writes_first = r->me % 2 == 1 || r->n == 1; /* so that its neighbour waits in vain for a while */           \
      ivars[VARS - 1] = 0;                                                                                             \
      shmem_barrier_all();                                                                                             \
      if (writes_first) {                                                                                              \
        usleep(LATE_US);                                                                                               \
        FULFIL(T, VECTOR, VARS - 1);                                                                                   \
      }                                                                                                                \
      NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES);                                                                   \
      EXPECT(ivars[VARS - 1] == (T)AWAITED(VECTOR, VARS - 1), #NAME " returned before the last variable");             \
      if (!writes_first) FULFIL(T, VECTOR, VARS - 1);                                                                  \
      NAME(ivars, VARS, NULL, SHMEM_CMP_EQ, VALUES);                                                                   \
      NAME(ivars, VARS, all_masked, SHMEM_CMP_NE, VALUES);                                                             \
      NAME(ivars, 0, NULL, SHMEM_CMP_NE, VALUES);                                                                      \
      shmem_barrier_all();                                                                                             \
    }                                                                                                                  \
  }

#define WAIT_ANY(NAME, T, VECTOR, VALUES)                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    MANY_VARIABLES(T, VECTOR);                                                                                         \
    int done[VARS] = {0, 0, 1, 0, 0, 0};                                                                               \
    for (size_t i = 0; i < VARS; i++)                                                                                  \
      if (i != 2) FULFIL(T, VECTOR, i);                                                                                \
    for (int turn = 0; turn < VARS - 1; turn++) { /* each is found once */                                             \
      size_t i = NAME(ivars, VARS, done, SHMEM_CMP_EQ, VALUES);                                                        \
      EXPECT(i < VARS && !done[i] && ivars[i] == (T)AWAITED(VECTOR, i), #NAME " found %zu", i);                        \
      if (i < VARS) done[i] = 1;                                                                                       \
    }                                                                                                                  \
    EXPECT(NAME(ivars, VARS, done, SHMEM_CMP_EQ, VALUES) == SIZE_MAX, #NAME " of nothing");                            \
    EXPECT(NAME(ivars, 0, NULL, SHMEM_CMP_EQ, VALUES) == SIZE_MAX, #NAME " of no variables");                          \
    shmem_barrier_all();                                                                                               \
  }

#define WAIT_SOME(NAME, T, VECTOR, VALUES)                                                                             \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    MANY_VARIABLES(T, VECTOR);                                                                                         \
    int done[VARS] = {0, 0, 1, 0, 0, 0}, left = VARS - 1;                                                              \
    for (size_t i = 0; i < VARS; i++)                                                                                  \
      if (i != 2) FULFIL(T, VECTOR, i);                                                                                \
    while (left > 0) {                                                                                                 \
      size_t found = NAME(ivars, VARS, indices, done, SHMEM_CMP_EQ, VALUES);                                           \
      EXPECT(found >= 1 && found <= (size_t)left, #NAME " found %zu", found);                                          \
      if (found == 0 || found > (size_t)left) break;                                                                   \
      for (size_t k = 0; k < found; k++) {                                                                             \
        EXPECT(indices[k] < VARS && !done[indices[k]], #NAME " found %zu", indices[k]);                                \
        done[indices[k] % VARS] = 1;                                                                                   \
      }                                                                                                                \
      left -= (int)found;                                                                                              \
    }                                                                                                                  \
    EXPECT(NAME(ivars, VARS, indices, done, SHMEM_CMP_EQ, VALUES) == 0, #NAME " of nothing");                          \
    shmem_barrier_all();                                                                                               \
  }

#define TEST_ALL(NAME, T, VECTOR, VALUES)                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    MANY_VARIABLES(T, VECTOR);                                                                                         \
    for (size_t i = 0; i < VARS; i++) {                                                                                \
      EXPECT(!NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES) || i == VARS, #NAME " with %zu of them", i);               \
      ivars[i] = (T)AWAITED(VECTOR, i);                                                                                \
    }                                                                                                                  \
    EXPECT(NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES), #NAME " with all of them");                                  \
    EXPECT(NAME(ivars, VARS, all_masked, SHMEM_CMP_NE, VALUES) && NAME(ivars, 0, NULL, SHMEM_CMP_NE, VALUES),          \
           #NAME " of nothing");                                                                                       \
    ivars[2] = 0;                                                                                                      \
    EXPECT(NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES), #NAME " looked at a masked one");                            \
    EXPECT(!NAME(ivars, VARS, NULL, SHMEM_CMP_EQ, VALUES), #NAME " without a mask");                                   \
    shmem_barrier_all();                                                                                               \
  }

#define TEST_ANY(NAME, T, VECTOR, VALUES)                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    MANY_VARIABLES(T, VECTOR);                                                                                         \
    EXPECT(NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES) == SIZE_MAX, #NAME " looked at a masked one");                \
    EXPECT(NAME(ivars, VARS, NULL, SHMEM_CMP_EQ, VALUES) == 2, #NAME " without a mask");                               \
    ivars[VARS - 1] = (T)AWAITED(VECTOR, VARS - 1);                                                                    \
    EXPECT(NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES) == VARS - 1, #NAME " missed the last one");                   \
    ivars[VARS - 1] = 0;                                                                                               \
    ivars[0] = (T)AWAITED(VECTOR, 0);                                                                                  \
    ivars[4] = (T)AWAITED(VECTOR, 4);                                                                                  \
    bool seen[VARS] = {false};                                                                                         \
    for (int turn = 0; turn < 2 * VARS; turn++) seen[NAME(ivars, VARS, mask, SHMEM_CMP_EQ, VALUES) % VARS] = true;     \
    EXPECT(seen[0] && seen[4] && !seen[1] && !seen[2], #NAME " does not give each its turn");                          \
    EXPECT(NAME(ivars, VARS, all_masked, SHMEM_CMP_NE, VALUES) == SIZE_MAX, #NAME " of nothing");                      \
    shmem_barrier_all();                                                                                               \
  }

#define TEST_SOME(NAME, T, VECTOR, VALUES)                                                                             \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    MANY_VARIABLES(T, VECTOR);                                                                                         \
    EXPECT(NAME(ivars, VARS, indices, mask, SHMEM_CMP_EQ, VALUES) == 0, #NAME " looked at a masked one");              \
    ivars[VARS - 1] = (T)AWAITED(VECTOR, VARS - 1);                                                                    \
    EXPECT(NAME(ivars, VARS, indices, mask, SHMEM_CMP_EQ, VALUES) == 1 && indices[0] == VARS - 1,                      \
           #NAME " missed the last one");                                                                              \
    ivars[VARS - 1] = 0;                                                                                               \
    ivars[0] = (T)AWAITED(VECTOR, 0);                                                                                  \
    ivars[4] = (T)AWAITED(VECTOR, 4);                                                                                  \
    EXPECT(NAME(ivars, VARS, indices, mask, SHMEM_CMP_EQ, VALUES) == 2 && indices[0] + indices[1] == 4,                \
           #NAME " found others");                                                                                     \
    EXPECT(NAME(ivars, VARS, indices, NULL, SHMEM_CMP_EQ, VALUES) == 3, #NAME " without a mask");                      \
    EXPECT(NAME(ivars, VARS, indices, all_masked, SHMEM_CMP_NE, VALUES) == 0, #NAME " of nothing");                    \
    shmem_barrier_all();                                                                                               \
  }

/* The old waits: until a variable is no longer what it was. */
#define OLD_WAIT(NAME, T)                                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *ivar = (T *)(void *)r->a, after = 3;                                                                            \
    *ivar = (T)-5;                                                                                                     \
    shmem_barrier_all();                                                                                               \
    shmem_putmem(ivar, &after, sizeof after, r->right);                                                                \
    NAME(ivar, (T)-5);                                                                                                 \
    EXPECT(*ivar == after, #NAME " returned early");                                                                   \
    shmem_barrier_all();                                                                                               \
  }

#define PLAIN_uint64_put_nbi(...) shmem_uint64_put_nbi(__VA_ARGS__)
#define PLAIN_uint64_p(...) shmem_uint64_p(__VA_ARGS__)
#define IN_CTX_uint64_put_nbi(...) shmem_ctx_uint64_put_nbi(r->ctx, __VA_ARGS__)
#define IN_CTX_uint64_p(...) shmem_ctx_uint64_p(r->ctx, __VA_ARGS__)

/* fence and quiet: data put before them arrive before data put after them. litmus.c races them. */
/* A short put and a long one, which a short flag could overtake between nodes. */
#define ORDER(NAME, CTX, CALL)                                                                                         \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    uint64_t *data = (uint64_t *)(void *)r->a, *flag = data + 32, from[8];                                             \
    uint64_t *large = (uint64_t *)(void *)r->large_a, *large_from = (uint64_t *)(void *)r->large_b;                    \
    for (size_t i = 0; i < 8; i++) from[i] = mixed(r->me, i);                                                          \
    for (size_t i = 0; i < LARGE_BYTES / 8; i++) large_from[i] = (uint64_t)r->me << 32 | i;                            \
    memset(r->a, 0, ROOM_BYTES);                                                                                       \
    memset(large, -1, LARGE_BYTES);                                                                                    \
    shmem_barrier_all();                                                                                               \
    CTX##_uint64_put_nbi(large, large_from, LARGE_BYTES / 8, r->right);                                                \
    CTX##_uint64_put_nbi(data, from, 8, r->right);                                                                     \
    CALL;                                                                                                              \
    CTX##_uint64_p(flag, 1, r->right);                                                                                 \
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, 1);                                                                    \
    for (size_t i = 0; i < 8; i++) EXPECT(data[i] == mixed(r->left, i), #NAME " element %zu", i);                      \
    for (size_t i = 0; i < LARGE_BYTES / 8; i++)                                                                       \
      EXPECT(large[i] == ((uint64_t)r->left << 32 | i), #NAME " element %zu of many", i);                              \
    settle(r);                                                                                                         \
    shmem_barrier_all();                                                                                               \
  }

/*
 * The late PE arrives when the others have been there for a while, and replies to their requests meanwhile. Otherwise,
 * between nodes, a PE that left too early would get the reply only when it is no longer wrong.
 */
static inline void be_late(const room *r, const uint64_t *mine, uint64_t round)
{
  for (int pe = 0; pe < r->n; pe++)
    for (int turn = 0; turn < 20 && pe != r->me && shmem_uint64_g(mine, pe) < round; turn++) usleep(LATE_US);
  usleep(LATE_US);
  for (int pe = 0; pe < r->n; pe++) (void)shmem_uint64_g(mine, pe);
}

/* No PE leaves before all have arrived, and then all see the stores that each made to its own memory before. One PE is
 * late. */
#define COLLECTIVE(NAME, CALL)                                                                                         \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    uint64_t *mine = (uint64_t *)(void *)r->a;                                                                         \
    for (uint64_t round = 1; round <= 10; round++) {                                                                   \
      if (round % (uint64_t)r->n == (uint64_t)r->me) be_late(r, mine, round);                                          \
      __atomic_store_n(mine, round, __ATOMIC_RELAXED);                                                                 \
      CALL;                                                                                                            \
      for (int pe = 0; pe < r->n; pe++) EXPECT(shmem_uint64_g(mine, pe) >= round, #NAME " let PE %d be late", pe);     \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
    *mine = 0;                                                                                                         \
    shmem_barrier_all();                                                                                               \
  }

#endif
