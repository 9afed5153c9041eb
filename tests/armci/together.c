/*
 * together.c - tests that no update is lost when all processes change the same few words, within a node and across
 * nodes.
 *
 * The updates are accumulates by block, patch and list, read-modify-writes, and plain counting under mutexes. The
 * words are spread so that several of them share one lock.
 *
 * usage: together ROUNDS
 */
#include "armci_tests.h"

enum { WORDS = 24, STEP = 4096, MUTEXES = 2 };

typedef struct memory {
  double sums[WORDS * STEP];
  long counter, swapped, guarded[MUTEXES];
  int small;
} memory;

static void add_patch(double *there, int proc)
{
  double ones[WORDS];
  int here_stride[1] = {sizeof(double)}, there_stride[1] = {STEP * sizeof(double)}, count[2] = {sizeof(double), WORDS};
  double two = 2;
  for (int i = 0; i < WORDS; i++) ones[i] = 1;
  ARMCI_AccS(ARMCI_ACC_DBL, &two, ones, here_stride, there, there_stride, count, 1, proc);
}

static void add_list(double *there, int proc)
{
  double value = 3, one = 1;
  void *from[WORDS], *to[WORDS];
  for (int i = 0; i < WORDS; i++) {
    from[i] = &value;
    to[i] = &there[i * STEP];
  }
  ARMCI_AccV(ARMCI_ACC_DBL, &one, &(armci_giov_t){from, to, sizeof(double), WORDS}, 1, proc);
}

static void add_blocks(double *there, int proc)
{
  double value = 5, minus = -1;
  for (int i = 0; i < WORDS; i++) ARMCI_Acc(ARMCI_ACC_DBL, &minus, &value, &there[i * STEP], sizeof(double), proc);
}

/* A token goes round: a process that swaps it out swaps the next number in. Each number comes out once. */
static long swap_one(memory *there, int proc, long number)
{
  ARMCI_Rmw(ARMCI_SWAP_LONG, &number, &there->swapped, 0, proc);
  return number;
}

static void count_under_mutex(memory *there, int proc, int mutex)
{
  ARMCI_Lock(mutex, proc);
  long value = ARMCI_GetValueLong(&there->guarded[mutex], proc);
  ARMCI_PutValueLong(value + 1, &there->guarded[mutex], proc);
  ARMCI_Unlock(mutex, proc);
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 10, me, n;
  ARMCI_Init();
  me = armci_msg_me();
  n = armci_msg_nproc();
  memory **m = calloc((size_t)n, sizeof *m);
  REQUIRE(m);
  EXPECT(ARMCI_Malloc((void **)m, sizeof **m) == 0, "no memory");
  memset(m[me], 0, sizeof **m);
  ARMCI_Create_mutexes(MUTEXES);
  ARMCI_Barrier();
  long before = 0, swapped = 0, put = 0;
  int small = 0;
  for (int r = 0; r < rounds; r++)
    for (int q = 0; q < n; q++) {
      int proc = (me + q + r) % n;
      memory *there = m[proc];
      add_patch(there->sums, proc);
      add_list(there->sums, proc);
      add_blocks(there->sums, proc);
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, &there->counter, 7, proc);
      EXPECT(before >= 0 && before < 7L * rounds * n && before % 7 == 0, "a counter of sevens was %ld", before);
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &small, &there->small, -1, proc);
      EXPECT(small <= 0 && small > -rounds * n, "it was %d", small);
      long number = 1 + me + (long)n * r;
      put += number;
      swapped += swap_one(there, proc, number);
      count_under_mutex(there, proc, r % MUTEXES);
    }
  ARMCI_Barrier();
  memory *mine = m[me];
  for (int i = 0; i < WORDS; i++) EXPECT(mine->sums[i * STEP] == 0, "2 + 3 - 5 from all made %g", mine->sums[i * STEP]);
  EXPECT(mine->counter == 7L * rounds * n, "%ld", mine->counter);
  EXPECT(mine->small == -rounds * n, "%d", mine->small);
  EXPECT(mine->guarded[0] + mine->guarded[1] == (long)rounds * n, "%ld and %ld", mine->guarded[0], mine->guarded[1]);
  swapped += mine->swapped;
  armci_msg_lgop(&swapped, 1, "+");
  armci_msg_lgop(&put, 1, "+");
  EXPECT(swapped == put, "swapped out, or left, %ld of %ld", swapped, put);
  ARMCI_Destroy_mutexes();
  ARMCI_Free(m[me]);
  ARMCI_Finalize();
  free(m);
  return failures != 0;
}
