/* A job that stays in one place until it is killed. usage: victim PLACE; says "there" when a PE is about to be in
 * PLACE. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long flag, lock;

static void there(void)
{
  puts("there");
  fflush(stdout);
}

static void compute(void)
{
  for (volatile long i = 0;; i++) continue;
}

int main(int argc, char **argv)
{
  const char *place = argc > 1 ? argv[1] : "compute";
  if (strcmp(place, "before") == 0) there(), sleep(1000);
  shmem_init();
  int last = shmem_my_pe() == shmem_n_pes() - 1;
  if (strcmp(place, "compute") == 0) there(), compute();
  if (strcmp(place, "barrier") == 0) {
    there();
    if (last) compute();
    shmem_barrier_all();
  }
  if (strcmp(place, "wait") == 0) there(), shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  if (strcmp(place, "lock") == 0) {
    if (last) shmem_set_lock(&lock);
    shmem_barrier_all();
    there();
    if (last) compute();
    shmem_set_lock(&lock);
  }
  if (strcmp(place, "finalize") == 0) {
    there();
    if (last) compute();
    shmem_finalize();
  }
  if (strcmp(place, "after") == 0) {
    shmem_finalize();
    there();
    sleep(1000);
  }
  if (strcmp(place, "busy") == 0)
    for (there();; flag++) {
      shmem_barrier_all();
      shmem_long_atomic_inc(&flag, (shmem_my_pe() + 1) % shmem_n_pes());
    }
  return 0;
}
