/* late_flag.c - the PE in the middle waits for flags that PE 0 puts after long pauses, and checks the data before them. */
#include <shmem.h>
#include <unistd.h>

enum { ROUNDS = 4, PAUSE_US = 400000 };
enum { WORDS = 2048 }; /* more than a message takes in passing */
static long data[WORDS], source[WORDS], flag;

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), target = shmem_n_pes() / 2;
  shmem_long_p(data, 0, target); /* the first put requests the key */
  shmem_barrier_all();
  for (long round = 1; round <= ROUNDS; round++) {
    if (me == 0) {
      usleep(PAUSE_US);
      source[WORDS - 1] = round;
      shmem_long_put(data, source, WORDS, target);
      shmem_fence();
      shmem_long_p(&flag, round, target);
    } else if (me == target) {
      shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
      if (data[WORDS - 1] != round) shmem_global_exit(1);
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
