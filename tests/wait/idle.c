/*
 * A waiting PE must leave the core alone: PE 0 comes 3 s late to a wait_until and to a barrier, and no other PE may use
 * more than 0.05 s of CPU time in either. It is CPU time, so a busy machine changes nothing.
 */
#include <shmem.h>

#include <unistd.h>

#include "pes.h"

enum { LATE_S = 3 };
static const double most_cpu_s = 0.05;

static double cpu_seconds(void)
{
  struct timespec t;
#ifdef WTL_THREADS
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
#else
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
#endif
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  long *flag = shmem_calloc(1, sizeof *flag);
  double began = cpu_seconds(), waited;
  if (me == 0) {
    sleep(LATE_S);
    for (int pe = 1; pe < n; pe++) shmem_long_p(flag, 1, pe);
  } else {
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
  }
  waited = cpu_seconds();
  EXPECT(me == 0 || waited - began <= most_cpu_s, "%.3f s of CPU in wait_until", waited - began);
  if (me == 0) sleep(LATE_S);
  shmem_barrier_all();
  EXPECT(me == 0 || cpu_seconds() - waited <= most_cpu_s, "%.3f s of CPU in a barrier", cpu_seconds() - waited);
  if (me == 1) printf("CPU of %d s of waiting: %.4f s, %.4f s\n", LATE_S, waited - began, cpu_seconds() - waited);
  shmem_free(flag);
  shmem_finalize();
  return failures != 0;
}
