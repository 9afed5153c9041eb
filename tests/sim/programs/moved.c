/* Each PE computes 10 ms, or, with an argument, moves so many bytes through memory. */
#include <shmem.h>
#include <stdlib.h>
#include <wattle_sim.h>

int main(int argc, char **argv)
{
  shmem_init();
  if (argc > 1)
    wattle_sim_move(strtoul(argv[1], NULL, 10));
  else
    wattle_sim_compute(10e-3);
  shmem_finalize();
  return 0;
}
