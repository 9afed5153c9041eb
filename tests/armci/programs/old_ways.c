/*
 * old_ways.c - uses the headers and the library as test programs of other ARMCIs do.
 *
 * It takes stdlib.h from our headers, defines macros after them, and includes MPI through mp3.h. It starts twice,
 * never frees some memory, accumulates unaligned integers and puts bytes beside those of others. It may end before
 * ARMCI does.
 *
 * usage: old_ways [early]. early: ends MPI and exits without ARMCI_Finalize.
 */
#include <stdio.h>
#include <string.h>

#include "mp3.h"
#include <armci.h>

#define ARMCI_MAX_STRIDE_LEVEL 6
#define ARMCI_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ARMCI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define ARMCI_ABS(a) ((a) < 0 ? -(a) : (a))

enum { PUT, GET, ACC };
enum { ROWS = 5, BYTES = 8, STRIDE = BYTES + 15 };

static int me, n;

static void need(int good, const char *what)
{
  if (!good) armci_die(what, 3);
}

static void *all[64];

static void rows_and_handles(void)
{
  int stride[ARMCI_MAX_STRIDE_LEVEL] = {STRIDE}, count[ARMCI_MAX_STRIDE_LEVEL + 1] = {BYTES, ROWS};
  int to = (me + 1) % n, from = (me + n - 1) % n, two = 2, ints[2] = {me + 1, 7};
  char *mine = all[me];
  armci_hdl_t handle;
  memset(mine, 0, ROWS * STRIDE);
  ARMCI_Barrier();
  for (int row = 0; row < ROWS; row++) {
    ARMCI_INIT_HANDLE(&handle);
    need(!ARMCI_NbAcc(ARMCI_ACC_INT, &two, ints, (char *)all[to] + row * STRIDE, sizeof ints, to, &handle), "NbAcc");
    need(!ARMCI_Wait(&handle), "Wait");
  }
  ARMCI_Barrier();
  for (int row = 0; row < ROWS; row++) {
    memcpy(ints, mine + row * STRIDE, sizeof ints);
    need(ints[0] == 2 * (from + 1) && ints[1] == 14, "askew integers are not what was added");
  }
  char *back = malloc(ROWS * STRIDE);
  need(!ARMCI_GetS(all[to], stride, back, stride, count, 1, to), "GetS");
  memcpy(ints, back + (ROWS - 1) * STRIDE, sizeof ints);
  need(ints[0] == 2 * (me + 1) && ints[1] == 14, "a row that was got is another");
  free(back);
  need(!ARMCI_NbPutS(ints, NULL, all[to], NULL, count, 0, to, NULL) && !ARMCI_WaitAll(), "a patch without strides");
  ARMCI_Barrier();
}

/* Two write to the same word of a third, each to a byte. */
static void bytes_beside_each_other(void)
{
  unsigned char one = (unsigned char)(me + 1), seen = 0;
  ARMCI_Put(&one, (char *)all[0] + me, 1, 0);
  ARMCI_Barrier();
  for (int p = 0; p < n; p++) {
    ARMCI_Get((char *)all[0] + p, &seen, 1, 0);
    need(seen == p + 1, "a byte is not what its process put");
  }
  ARMCI_Barrier();
}

int main(int argc, char **argv)
{
  MP_INIT(argc, argv);
  ARMCI_INIT(argc, argv);
  ARMCI_Init_args(&argc, &argv);
  MP_PROCS(&n);
  MP_MYID(&me);
  double begun = MP_TIMER();
  for (int round = 0; round < 3; round++) { /* the first two are never freed */
    need(!ARMCI_Malloc(all, 4096) && all[me], "Malloc");
    rows_and_handles();
    bytes_beside_each_other();
  }
  MP_BARRIER();
  if (me == 0 && MP_TIMER() >= begun) printf("%d\n", ARMCI_MAX(PUT, ARMCI_MIN(GET, ARMCI_ABS(-ACC))));
  fflush(stdout);
  if (argc > 1) {
    ARMCI_Barrier();
    MP_FINALIZE();
    exit(0);
  }
  ARMCI_Free(all[me]);
  ARMCI_Finalize();
  ARMCI_Finalize();
  MP_FINALIZE();
  return 0;
}
