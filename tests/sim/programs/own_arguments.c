/* Each PE spoils its arguments; every one finds them as they were given. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  shmem_init();
  for (int turn = 0; turn < shmem_n_pes(); turn++) {
    shmem_barrier_all();
    if (turn != shmem_my_pe()) continue;
    printf("%s\n", argc == 3 && !strcmp(argv[1], "one") && !strcmp(argv[2], "two") ? "mine" : "spoilt");
    argv[1][0] = 'x';
    argv[2] = argv[1];
  }
  shmem_finalize();
  return 0;
}
