/*
 * looks.c - polls memory in a loop of the program, without calls, and sends messages of all sizes.
 *
 * PE 1 polls its own memory until PE 0 has written there, after 1 ms of sleep. Then messages of all sizes go from PE 0
 * to PE 1. The last word of each must not arrive before its data. The sizes use both models of the network
 * alternately.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 18, ROUNDS = 40 };

static volatile long written;
static uint64_t told;
static unsigned char room[MOST];

int main(int argc, char **argv)
{
  unsigned char *data = malloc(MOST);
  shmem_init();
  int me = shmem_my_pe();
  shmem_barrier_all();
  if (me == 0) {
    usleep(1000);
    shmem_long_p((long *)&written, 7, 1);
  }
  while (me == 1 && written != 7) continue;
  shmem_barrier_all();
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    size_t n = (size_t)1 << (round * 7 % 19);
    if (me == 0) {
      memset(data, (int)round, n);
      shmem_putmem_nbi(room, data, n, 1);
      shmem_fence();
      shmem_uint64_p(&told, round, 1);
      shmem_quiet();
    } else if (me == 1) {
      shmem_uint64_wait_until(&told, SHMEM_CMP_GE, round);
      if (room[0] != round || room[n - 1] != round) {
        fprintf(stderr, "%zu bytes came after what was sent after them\n", n);
        return 1;
      }
    }
    shmem_barrier_all();
  }
  if (me == 1) printf("saw it\n");
  shmem_finalize();
  free(data);
  return 0;
}
