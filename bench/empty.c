/* empty.c - an OpenSHMEM program that only starts and finishes. See empty.h. */
#include <shmem.h>

#include "empty.h"

int main(int argc, char **argv)
{
  double began = now(), ready, leaving;
  shmem_init();
  ready = now();
  int me = shmem_my_pe();
  if (argc == 3 && strcmp(argv[1], "hold") == 0) {
    shmem_barrier_all();
    hold(me, argv[2]);
  }
  leaving = now();
  shmem_finalize();
  if (argc == 1) tell_times(me, began, ready, leaving, now());
  return 0;
}
