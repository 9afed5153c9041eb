/*
 * transfers.c - long transfers between the first and the last process, whose order is that of ARMCI without fences.
 *
 * In each round a process puts a block, gets it back, adds 1 to each of its elements and gets these, and does the same
 * for a patch with long rows. The memory here is from ARMCI_Malloc_local and from malloc in turn.
 *
 * usage: transfers BYTES ROUNDS
 */
#include "armci_tests.h"

typedef struct block {
  double *here, *got, *there;
  size_t n; /* elements */
  int to;
} block;

static void expect_all(const block *b, size_t n, double value, const char *what)
{
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) wrong += b->got[i] != value;
  EXPECT(!wrong, "%s: %zu of %zu elements are not %g", what, wrong, n, value);
}

static void transfer_block(block *b, double value)
{
  double one = 1;
  int bytes = (int)(b->n * sizeof(double));
  for (size_t i = 0; i < b->n; i++) b->here[i] = value;
  ARMCI_Put(b->here, b->there, bytes, b->to);
  ARMCI_Get(b->there, b->got, bytes, b->to);
  expect_all(b, b->n, value, "a get behind a put");
  for (size_t i = 0; i < b->n; i++) b->here[i] = 1;
  ARMCI_Acc(ARMCI_ACC_DBL, &one, b->here, b->there, bytes, b->to);
  ARMCI_Get(b->there, b->got, bytes, b->to);
  expect_all(b, b->n, value + 1, "a get behind an accumulate");
  b->here[0] = value + 2;
  ARMCI_Put(b->here, b->there, sizeof(double), b->to);
  ARMCI_Get(b->there, b->got, bytes, b->to);
  EXPECT(b->got[0] == value + 2, "a get behind a put of one element");
  ARMCI_PutValueDouble(value + 3, b->there, b->to);
  for (size_t i = 0; i < b->n; i++) b->here[i] = value + 4;
  ARMCI_Put(b->here, b->there, bytes, b->to);
  EXPECT(ARMCI_GetValueDouble(b->there, b->to) == value + 4, "a put behind a value");
}

/* Every second row of the block. */
static void transfer_patch(block *b, double value)
{
  int row = (int)(b->n / 4 * sizeof(double)), steps[] = {2 * row}, dense[] = {row}, count[] = {row, 2};
  for (size_t i = 0; i < b->n; i++) b->here[i] = value;
  ARMCI_PutS(b->here, dense, b->there, steps, count, 1, b->to);
  ARMCI_GetS(b->there, steps, b->got, dense, count, 1, b->to);
  expect_all(b, b->n / 2, value, "a patch");
}

int main(int argc, char **argv)
{
  block b = {.n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 262144) / sizeof(double)};
  int rounds = argc > 2 ? atoi(argv[2]) : 1;
  armci_size_t bytes = (armci_size_t)(b.n * sizeof(double));
  ARMCI_Init();
  int me = armci_msg_me(), n = armci_msg_nproc();
  void *all[n];
  ARMCI_Malloc(all, bytes);
  double *local = ARMCI_Malloc_local(bytes), *own = malloc((size_t)bytes);
  REQUIRE(local && own && (b.got = malloc((size_t)bytes)));
  b.to = n - 1 - me;
  b.there = all[b.to];
  ARMCI_Barrier();
  ARMCI_GetValueDouble(b.there, b.to); /* requests the keys of that memory */
  for (int round = 0; round < rounds && (me == 0 || me == n - 1); round++) {
    b.here = round % 2 ? local : own;
    transfer_block(&b, 10 * round);
    transfer_patch(&b, 10 * round + 5);
    ARMCI_Fence(b.to);
  }
  ARMCI_Barrier();
  ARMCI_Free_local(local);
  ARMCI_Free(all[me]);
  ARMCI_Finalize();
  free(own);
  free(b.got);
  return failures != 0;
}
