/* A program whose calls are known, for written_profile.py: each site is one line, so each line is one site. */
#include <shmem.h>

#include "pes.h"

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  static const int many = 5000;
  shmem_init();
  int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
  char *block = shmem_calloc(1, 65536), local[65536] = "";
  long *word = shmem_calloc(1, sizeof *word);
  for (int i = 0; i < many; i++) shmem_long_p(word, i, right);
  for (int i = 0; i < 7; i++) shmem_putmem(block, local, 65536, right);
  for (int i = 0; i < 3; i++) shmem_getmem(local, block, 100, right);
  shmem_getmem(local, block, 100, right);
  for (int i = 0; i < 11; i++) shmem_long_atomic_inc(word, right);
  for (int i = 0; i < 5; i++) shmem_quiet();
  for (int i = 0; i < 4; i++) shmem_barrier_all();
  shmem_free(word);
  shmem_free(block);
  shmem_finalize();
  return failures != 0;
}
