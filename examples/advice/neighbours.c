/* neighbours.c - exchanges borders with both neighbours, and waits for all PEs before and after that. One PE in four
 * has more work in each round, another one each time. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

enum { LENGTH = 256, WORK = 20000, ROUNDS = 300 };
static double border[2][2][LENGTH], mine[2][LENGTH];
#ifdef MENDED
static uint64_t arrived[2];
#endif

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), to[2] = {(me + n - 1) % n, (me + 1) % n};
  volatile double sum = 0;
  for (int round = 1; round <= rounds; round++) {
    int work = (me + round) % 4 == 0 ? 2 * WORK : WORK;
    for (int i = 0; i < work; i++) sum += i * 0.5;
    mine[0][round % LENGTH] = mine[1][round % LENGTH] = sum;
#ifdef MENDED
    for (int side = 0; side < 2; side++)
      shmem_double_put_signal(border[round % 2][!side], mine[side], LENGTH, &arrived[!side], 1, SHMEM_SIGNAL_ADD,
                              to[side]);
    for (int side = 0; side < 2; side++) shmem_signal_wait_until(&arrived[side], SHMEM_CMP_GE, (uint64_t)round);
#else
    for (int side = 0; side < 2; side++) shmem_double_put(border[round % 2][!side], mine[side], LENGTH, to[side]);
    shmem_barrier_all(); /* flaw */
#endif
    sum += border[round % 2][0][0] + border[round % 2][1][0];
  }
  shmem_finalize();
  return 0;
}
