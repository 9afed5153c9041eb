/*
 * MPI and OpenSHMEM in one program, in the order its argument gives:
 *   M MPI_Init_thread   m MPI_Finalize   S shmem_init   s shmem_finalize   d check both, where they are up
 *   n says which PEs' memory it reaches directly: those of its node
 *   x PE 1 calls shmem_global_exit(7), the others wait   t says "there" and waits to be killed
 */
#include <mpi.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long from_left, never;
static bool mpi, shmem;

static bool shmem_works(void)
{
  int me = shmem_my_pe(), n = shmem_n_pes();
  long *heap = shmem_malloc(sizeof *heap);
  *heap = from_left = -1;
  shmem_barrier_all();
  shmem_long_p(&from_left, me, (me + 1) % n);
  shmem_long_p(heap, me, (me + 1) % n);
  shmem_barrier_all();
  bool good = from_left == (me + n - 1) % n && *heap == from_left;
  shmem_free(heap);
  return good;
}

static bool mpi_works(void)
{
  int me, n, from = -1, sum = 0, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &from, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return from == (me + n - 1) % n && sum == n && (!shmem || (me == shmem_my_pe() && n == shmem_n_pes()));
}

static void say_node(void)
{
  char line[256];
  int length = snprintf(line, sizeof line, "PE %d reaches", shmem_my_pe());
  for (int pe = 0; pe < shmem_n_pes(); pe++)
    if (shmem_ptr(&from_left, pe)) length += snprintf(line + length, sizeof line - (size_t)length, " %d", pe);
  puts(line);
}

static void init_mpi(void)
{
  int level;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  mpi = true;
}

static void leave(void)
{
  if (shmem_my_pe() == 1) shmem_global_exit(7);
  shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
}

static void stay(void)
{
  puts("there");
  for (;;) pause();
}

int main(int argc, char **argv)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (const char *step = argc > 1 ? argv[1] : ""; *step; step++) {
    if (*step == 'M') init_mpi();
    if (*step == 'm') MPI_Finalize(), mpi = false;
    if (*step == 'S') shmem_init(), shmem = true;
    if (*step == 's') shmem_finalize(), shmem = false;
    if (*step == 'd' && mpi) printf("MPI %s\n", mpi_works() ? "good" : "WRONG");
    if (*step == 'd' && shmem)
      printf("PE %d of %d %s\n", shmem_my_pe(), shmem_n_pes(), shmem_works() ? "good" : "WRONG");
    if (*step == 'n') say_node();
    if (*step == 'x') leave();
    if (*step == 't') stay();
  }
  return 0;
}
