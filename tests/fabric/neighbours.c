/*
 * Says where it runs, and that addresses reach exactly the PEs of the same node: shmem_ptr gives what the neighbour
 * has, and calls reach all. By the names of hosts, which is not how the library knows.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, NAME = 64 };
static char names[MOST][NAME]; /* by PE */
static long number, sum;

static int is_wrong_about(int pe, const char *here)
{
  const long *there = shmem_ptr(&number, pe);
  int neighbour = strcmp(names[pe], here) == 0, wrong = (there != NULL) != neighbour;
  if (there && *there != 1000 + pe) wrong = 1;
  if (shmem_long_g(&number, pe) != 1000 + pe || !shmem_addr_accessible(&number, pe)) wrong = 1;
  if (wrong) fprintf(stderr, "PE %d is wrong about PE %d on %s\n", shmem_my_pe(), pe, names[pe]);
  return wrong;
}

int main(void)
{
  char here[NAME] = "";
  int wrong = 0;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  gethostname(here, NAME - 1);
  number = 1000 + me;
  for (int pe = 0; pe < n; pe++) shmem_putmem(names[me], here, NAME, pe);
  shmem_barrier_all();
  for (int pe = 0; pe < n; pe++) wrong |= is_wrong_about(pe, here);
  for (int pe = 0; pe < n; pe++) shmem_long_atomic_add(&sum, me + 1, pe);
  shmem_barrier_all();
  wrong |= sum != (long)n * (n + 1) / 2;
  for (int pe = 0; pe < n && me == 0; pe++) printf("%s ", names[pe]);
  if (me == 0) putchar('\n');
  shmem_finalize();
  return wrong;
}
