/*
 * calls.h - what must hold of each family of routines, as macros that generate_calls.py applies to every routine of the API table.
 *
 * A test is collective: all PEs run it, each with its right neighbour as target, so each PE's memory is written by its left neighbour alone.
 * CTX(...) is either the arguments or SHMEM_CTX_DEFAULT and the arguments.
 */
#ifndef WTL_TESTS_CALLS_H
#define WTL_TESTS_CALLS_H

#include <complex.h>
#include <shmem.h>

#include "pes.h"

enum { ROOM_BYTES = 2048, MANY = 40, TIMES = 8 };

typedef struct room {
  char *a, *b;             /* symmetric, ROOM_BYTES each */
  char *large_a, *large_b; /* symmetric, LARGE_BYTES each */
  int me, n, left, right;
} room;

enum { LARGE_BYTES = 160000 };

typedef struct test {
  const char *name;
  void (*run)(const room *);
} test;

#define PLAIN(...) __VA_ARGS__
#define IN_CTX(...) SHMEM_CTX_DEFAULT, __VA_ARGS__

typedef unsigned char bits8;
typedef uint16_t bits16;
typedef uint32_t bits32;
typedef uint64_t bits64;
typedef unsigned __int128 bits128;

/* All bits of a value vary with the PE and the place. Small ones, where sums must not overflow. */
static inline uint64_t mixed(int pe, size_t i)
{
  uint64_t state = (uint64_t)pe << 32 | i;
  return next_random(&state);
}
#define VALUE(T, pe, i) ((T)mixed(pe, i))
#define SMALL(T, pe, i) ((T)(mixed(pe, i) % 7))

static const size_t lengths[] = {0, 1, 2, 3, 17, MANY};
/* Many PEs on few cores meet slowly where others compute too: there, two lengths, rounds and roots must do. */
#define FULL (r->n <= 4)
#define EACH_LENGTH(k) for (size_t k = FULL ? 0 : 4; k < sizeof lengths / sizeof lengths[0]; k++)

#define DEFINE(NAME) static void test_##NAME(const room *r)

/* dest[0] and dest[len + 1] are fences that nobody may write. */
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
 * An atomic operation: `cell` of the right neighbour holds OLD; CALL acts on it with OPERAND; then it must hold NEW, and what was
 * fetched (where something is) must be OLD. The neighbours of the cell keep their zeros.
 */
#define AMO(NAME, T, NEW, CALL)                                                                                        \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *cell = (T *)(void *)r->a + 1;                                                                                   \
    for (int round = FULL ? 0 : 2; round < 4; round++) {                                                               \
      /* The first rounds take the ends of the type's range, where sums wrap. */                                       \
      const uint64_t ends[] = {UINT64_MAX, UINT64_MAX >> 1, UINT64_MAX >> 33};                                         \
      T OLD = round < 3 ? (T)ends[round] : VALUE(T, r->right, 1), OPERAND = VALUE(T, r->me, 2 + (size_t)round);        \
      T fetched = OLD, left_old = round < 3 ? (T)ends[round] : VALUE(T, r->me, 1);                                     \
      T left_operand = VALUE(T, r->left, 2 + (size_t)round);                                                           \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      *cell = left_old;                                                                                                \
      (void)OPERAND;                                                                                                   \
      (void)left_operand;                                                                                              \
      shmem_barrier_all();                                                                                             \
      CALL;                                                                                                            \
      shmem_quiet();                                                                                                   \
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
    T *cell = (T *)(void *)r->a, fetched = 0, OPERAND = (STEP);                                                        \
    const int right = 0;                                                                                               \
    (void)fetched;                                                                                                     \
    (void)OPERAND;                                                                                                     \
    *cell = 0;                                                                                                         \
    shmem_barrier_all();                                                                                               \
    for (int i = 0; i < TIMES; i++) CALL(right);                                                                       \
    shmem_barrier_all();                                                                                               \
    if (r->me == 0) EXPECT(*cell == (T)(r->n * TIMES * (STEP)), #NAME " lost updates");                                \
    shmem_barrier_all();                                                                                               \
  }

#define SUM_OF(T) (T)((uint64_t)OLD + (uint64_t)OPERAND)
#define FETCH(NAME, T, CTX) AMO(NAME, T, OLD, fetched = NAME(CTX(cell, r->right)))
#define FETCH_NBI(NAME, T, CTX) AMO(NAME, T, OLD, NAME(CTX(&fetched, cell, r->right)))
#define SET(NAME, T, CTX) AMO(NAME, T, OPERAND, NAME(CTX(cell, OPERAND, r->right)))
#define SWAP(NAME, T, CTX) AMO(NAME, T, OPERAND, fetched = NAME(CTX(cell, OPERAND, r->right)))
#define SWAP_NBI(NAME, T, CTX) AMO(NAME, T, OPERAND, NAME(CTX(&fetched, cell, OPERAND, r->right)))

/* Rounds with an even number compare with what is there, the others with something else and must change nothing. */
#define COMPARE_SWAP_(NAME, T, CALL) AMO(NAME, T, round % 2 == 0 ? OPERAND : OLD, CALL)
#define COMPARE_SWAP(NAME, T, CTX)                                                                                     \
  COMPARE_SWAP_(NAME, T, fetched = NAME(CTX(cell, round % 2 == 0 ? OLD : (T)(OLD ^ 1), OPERAND, r->right)))
#define COMPARE_SWAP_NBI(NAME, T, CTX)                                                                                 \
  COMPARE_SWAP_(NAME, T, NAME(CTX(&fetched, cell, round % 2 == 0 ? OLD : (T)(OLD ^ 1), OPERAND, r->right)))

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
#define FETCH_AND(NAME, T, CTX) AMO(NAME, T, (T)(OLD & OPERAND), fetched = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_AND_NBI(NAME, T, CTX) AMO(NAME, T, (T)(OLD & OPERAND), NAME(CTX(&fetched, cell, OPERAND, r->right)))
#define OR(NAME, T, CTX) AMO(NAME, T, (T)(OLD | OPERAND), NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_OR(NAME, T, CTX) AMO(NAME, T, (T)(OLD | OPERAND), fetched = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_OR_NBI(NAME, T, CTX) AMO(NAME, T, (T)(OLD | OPERAND), NAME(CTX(&fetched, cell, OPERAND, r->right)))
#define XOR(NAME, T, CTX) AMO(NAME, T, (T)(OLD ^ OPERAND), NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_XOR(NAME, T, CTX) AMO(NAME, T, (T)(OLD ^ OPERAND), fetched = NAME(CTX(cell, OPERAND, r->right)))
#define FETCH_XOR_NBI(NAME, T, CTX) AMO(NAME, T, (T)(OLD ^ OPERAND), NAME(CTX(&fetched, cell, OPERAND, r->right)))

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
        NAME(ivar, comparisons[c], limit);                                                                             \
        EXPECT(*ivar == after, #NAME " returned early, comparison %d", comparisons[c]);                                \
        shmem_barrier_all();                                                                                           \
      }                                                                                                                \
  }

/* `count` elements; the sum is taken in the order of PEs, so floating point sums are exactly the oracle's too. */
#define SUM(NAME, T)                                                                                                   \
  static void sum_##NAME(const room *r, T *dest, T *source, size_t count)                                              \
  {                                                                                                                    \
    memset((void *)dest, 0, (count + 1) * sizeof(T));                                                                  \
    for (size_t i = 0; i < count; i++) source[i] = SMALL(T, r->me, i);                                                 \
    EXPECT(NAME(SHMEM_TEAM_WORLD, dest, source, count) == 0, #NAME);                                                   \
    for (size_t i = 0; i < count; i++) {                                                                               \
      T want = SMALL(T, 0, i);                                                                                         \
      for (int pe = 1; pe < r->n; pe++) want += SMALL(T, pe, i);                                                       \
      EXPECT(dest[i] == want, #NAME " element %zu of %zu", i, count);                                                  \
      if (dest != source) EXPECT(source[i] == SMALL(T, r->me, i), #NAME " changed its source");                        \
    }                                                                                                                  \
    if (dest != source) EXPECT(dest[count] == 0, #NAME " wrote beside its target");                                    \
    shmem_barrier_all();                                                                                               \
  }                                                                                                                    \
  /* Sums of integers wrap, signed ones too. */                                                                        \
  static void sum_wraps_##NAME(const room *r, T *dest, T *source)                                                      \
  {                                                                                                                    \
    for (size_t i = 0; i < 17; i++) source[i] = VALUE(T, r->me, i);                                                    \
    EXPECT(NAME(SHMEM_TEAM_WORLD, dest, source, 17) == 0, #NAME);                                                      \
    for (size_t i = 0; i < 17; i++) {                                                                                  \
      uint64_t want = 0;                                                                                               \
      for (int pe = 0; pe < r->n; pe++) want += mixed(pe, i);                                                          \
      EXPECT(dest[i] == (T)want, #NAME " of large values, element %zu", i);                                            \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }                                                                                                                    \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    if ((T)0.5 == 0) sum_wraps_##NAME(r, (T *)(void *)r->a, (T *)(void *)r->b);                                        \
    EACH_LENGTH(k) sum_##NAME(r, (T *)(void *)r->a, (T *)(void *)r->b, lengths[k]);                                    \
    sum_##NAME(r, (T *)(void *)r->a, (T *)(void *)r->a, MANY);                                                         \
    /* More than a PE's scratch buffer, in odd parts. */                                                               \
    sum_##NAME(r, (T *)(void *)r->large_a, (T *)(void *)r->large_b, LARGE_BYTES / sizeof(T) - 3);                      \
  }

#define BROADCAST(NAME, T)                                                                                             \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    T *dest = (T *)(void *)r->a, *source = (T *)(void *)r->b;                                                          \
    for (int root = 0; root < r->n; root += FULL ? 1 : r->n - 1) {                                                     \
      size_t len = lengths[(size_t)(root + 4) % (sizeof lengths / sizeof lengths[0])];                                 \
      memset(r->a, 0, ROOM_BYTES);                                                                                     \
      for (size_t i = 0; i < len; i++) source[i] = VALUE(T, r->me, i);                                                 \
      EXPECT(NAME(SHMEM_TEAM_WORLD, dest + 1, source, len, root) == 0, #NAME);                                         \
      for (size_t i = 0; i < len; i++)                                                                                 \
        EXPECT(dest[i + 1] == VALUE(T, root, i), #NAME " from %d element %zu", root, i);                               \
      EXPECT(dest[0] == 0 && dest[len + 1] == 0, #NAME " wrote beside its target");                                    \
      EXPECT(NAME(SHMEM_TEAM_WORLD, source, source, len, root) == 0, #NAME);                                           \
      for (size_t i = 0; i < len; i++)                                                                                 \
        EXPECT(source[i] == VALUE(T, root, i), #NAME " in place from %d, %zu", root, i);                               \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }

/* fence and quiet: what is put before them is there before what is put after. litmus.c races them. */
#define ORDER(NAME, CALL)                                                                                              \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    uint64_t *data = (uint64_t *)(void *)r->a, *flag = data + 32, from[8];                                             \
    for (size_t i = 0; i < 8; i++) from[i] = mixed(r->me, i);                                                          \
    memset(r->a, 0, ROOM_BYTES);                                                                                       \
    shmem_barrier_all();                                                                                               \
    shmem_uint64_put_nbi(data, from, 8, r->right);                                                                     \
    CALL;                                                                                                              \
    shmem_uint64_p(flag, 1, r->right);                                                                                 \
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, 1);                                                                    \
    for (size_t i = 0; i < 8; i++) EXPECT(data[i] == mixed(r->left, i), #NAME " element %zu", i);                      \
    shmem_barrier_all();                                                                                               \
  }

/* Nobody leaves before all have arrived: what each stored on its own memory before is seen by all after. */
#define MEETING(NAME, CALL)                                                                                            \
  DEFINE(NAME)                                                                                                         \
  {                                                                                                                    \
    uint64_t *mine = (uint64_t *)(void *)r->a;                                                                         \
    for (uint64_t round = 1; round <= 10; round++) {                                                                   \
      __atomic_store_n(mine, round, __ATOMIC_RELAXED);                                                                 \
      CALL;                                                                                                            \
      for (int pe = 0; pe < r->n; pe++) EXPECT(shmem_uint64_g(mine, pe) >= round, #NAME " let PE %d be late", pe);     \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
    *mine = 0;                                                                                                         \
    shmem_barrier_all();                                                                                               \
  }

#endif
