/* am_update.c - adds to blocks of the next PE: gets a block, adds to it and puts it back. */
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>

enum { BLOCKS = 512, LENGTH = 8, ROUNDS = 40, ADD = 1 };
static double block[BLOCKS][LENGTH];

typedef struct update {
  unsigned at;
  double amounts[LENGTH];
} update;

#ifdef MENDED
static void add(void *payload, size_t bytes, int pe, shmemx_am_token_t token)
{
  const update *u = payload;
  (void)bytes, (void)pe, (void)token;
  for (int j = 0; j < LENGTH; j++) block[u->at][j] += u->amounts[j];
}
#endif

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  update u = {.amounts = {1, 2, 3}};
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
#ifdef MENDED
  shmemx_am_attach(ADD, add);
#endif
  shmem_barrier_all();
  for (int round = 0; round < rounds; round++) {
    for (unsigned k = 0; k < BLOCKS; k++) {
      u.at = k * 1657u % BLOCKS;
#ifdef MENDED
      shmemx_am_request(right, ADD, &u, sizeof u);
#else
      double copy[LENGTH];
      shmem_double_get(copy, block[u.at], LENGTH, right); /* flaw */
      for (int j = 0; j < LENGTH; j++) copy[j] += u.amounts[j];
      shmem_double_put(block[u.at], copy, LENGTH, right);
#endif
    }
#ifdef MENDED
    shmemx_am_quiet();
#endif
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
