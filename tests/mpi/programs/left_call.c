/*
 * left_call.c - an error handler leaves the call that failed.
 *
 *   jump       by longjmp; a deeper function then makes CALLS barriers, for which rank 0 comes late
 *   finalize   by MPI_Finalize and exit code 3
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 20, NO_RANK = 99, EXIT_CODE = 3, DEEP = 4096 };

static jmp_buf before;
static bool finalizes;

static void leave(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  (void)code;
  if (!finalizes) longjmp(before, 1);
  MPI_Finalize();
  exit(EXIT_CODE);
}

__attribute__((noinline)) static void barriers(int me)
{
  volatile char deep[DEEP];
  memset((char *)deep, me, sizeof deep);
  for (int i = 0; i < CALLS; i++) {
    if (me == 0) usleep(10000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv)
{
  int me, word = 0;
  MPI_Errhandler handler;
  finalizes = argc > 1 && strcmp(argv[1], "finalize") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (!setjmp(before)) MPI_Send(&word, 1, MPI_INT, NO_RANK, 0, MPI_COMM_WORLD);
  barriers(me);
  MPI_Finalize();
  return 0;
}
