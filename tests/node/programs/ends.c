/* The ways in which a program may end. usage: ends WAY [PE that does it; default: all] */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long flag;

static void end(const char *way)
{
  if (strcmp(way, "global_exit_7") == 0) shmem_global_exit(7);
  if (strcmp(way, "global_exit_0") == 0) shmem_global_exit(0);
  if (strcmp(way, "global_exit_300") == 0) shmem_global_exit(300);
  if (strcmp(way, "exit_3") == 0) exit(3);
  if (strcmp(way, "exit_0") == 0) exit(0);
  if (strcmp(way, "_exit_0") == 0) _exit(0);
  if (strcmp(way, "_exit_4") == 0) _exit(4);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "segfault") == 0) *(volatile int *)8 = 1;
  if (strcmp(way, "fpe") == 0) raise(SIGFPE);
  if (strcmp(way, "finalize") == 0) shmem_finalize();
  if (strcmp(way, "finalize_5") == 0) {
    shmem_finalize();
    exit(5);
  }
}

int main(int argc, char **argv)
{
  const char *way = argv[1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  shmem_init();
  int who = argc > 2 ? atoi(argv[2]) : -1;
  printf("PE %d of %d lives\n", shmem_my_pe(), shmem_n_pes());
  shmem_barrier_all();
  if (who < 0 || who == shmem_my_pe())
    end(way);
  else if (argc > 3 && strcmp(argv[3], "wait") == 0)
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  else
    shmem_barrier_all();
  return 0;
}
