/* Says who it is, and that its neighbour can be reached. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long from_left = -1;

int main(int argc, char **argv)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  long *heap = shmem_malloc(sizeof *heap);
  char line[256] = "";
  *heap = -1;
  shmem_barrier_all();
  shmem_long_p(&from_left, me, (me + 1) % n);
  shmem_long_p(heap, me, (me + 1) % n);
  shmem_barrier_all();
  int good = from_left == (me + n - 1) % n && *heap == from_left;
  if (me == 0 && fgets(line, sizeof line, stdin)) line[strcspn(line, "\n")] = '\0';
  printf("PE %d of %d %s stdin=%s FOO=%s arg=%s\n", me, n, good ? "good" : "WRONG", line,
         getenv("FOO") ? getenv("FOO") : "-", argc > 1 ? argv[1] : "-");
  shmem_free(heap);
  shmem_finalize();
  return good ? 0 : 1;
}
