/*
 * yields.c - tests whether rank 0 yields its core while it waits for rank 1 in a call without a counterpart.
 *
 * Its system calls go through functions of this file, because the program's names come first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long yields;

long syscall(long number, ...)
{
  static long (*next)(long, ...);
  long word[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) word[i] = va_arg(list, long);
  va_end(list);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_sched_yield) atomic_fetch_add(&yields, 1);
  return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

int main(int argc, char **argv)
{
  int me;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 1) usleep(100000);
  atomic_store(&yields, 0);
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &part);
  if (me == 0) printf("%s\n", atomic_load(&yields) > 0 ? "gives" : "keeps");
  MPI_Finalize();
  return 0;
}
