/* PE i computes ARG[i] milliseconds, and all meet; ARG[n] times, 1 if not given. Says what its meter saw of it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wattle.h>
#include <wattle_sim.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print(const wattle_joules_t *j, int n)
{
  for (int d = 0; d < n; d++)
    printf(" %s %.9g %.9g %s", j[d].domain, j[d].joules, j[d].uncertainty, wattle_provenance_name(j[d].provenance));
}

int main(int argc, char **argv)
{
  wattle_joules_t j[32];
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), times = argc > n + 1 ? atoi(argv[n + 1]) : 1;
  double work = argc > n ? 1e-3 * atof(argv[1 + me]) : 0;
  wattle_energy_t *e = wattle_energy_open(NULL);
  shmem_barrier_all();
  double begin = now();
  wattle_region_begin(e, "all");
  for (int i = 0; i < times; i++) {
    wattle_sim_compute(work);
    shmem_barrier_all();
  }
  wattle_region_end(e, "all");
  double took = now() - begin;
  int domains = wattle_region_joules(e, "all", j, 32);
  for (int pe = 0; pe < n; pe++) {
    shmem_barrier_all();
    if (pe != me) continue;
    printf("pe %d s %.9g", me, took);
    print(j, domains);
    printf("\n");
    fflush(stdout);
  }
  wattle_energy_close(e);
  shmem_finalize();
  return 0;
}
