/*
 * shared_clock.c - tests two cores of one clock domain.
 *
 * Both request the lowest clock. PE 0 does work of 10 ms while PE 1, 5 ms later, requests the base clock. It calls the
 * simulator's functions, which no program does, because the requests of a governor are not known so exactly.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <wattle_sim.h>

bool wtl_sim_set_clock(int slot, size_t clock);
void wtl_sim_pause(double seconds);
size_t wtl_sim_base_clock(void);
double wtl_sim_now(void);

int main(void)
{
  shmem_init();
  wtl_sim_set_clock(0, 0);
  shmem_barrier_all();
  double begin = wtl_sim_now();
  if (shmem_my_pe() == 0) {
    wattle_sim_compute(10e-3);
    printf("computed %.9f\n", wtl_sim_now() - begin);
  } else {
    wtl_sim_pause(5e-3);
    wtl_sim_set_clock(0, wtl_sim_base_clock());
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
