/* PE 1 leaves with exit code 3 and PE 2 with 0, where the others wait for them; with an argument PE 1 breaks. */
#include <shmem.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  (void)argv;
  shmem_init();
  int me = shmem_my_pe(), status = -1;
  if (me == 1 && argc > 1) *(volatile int *)8 = 1;
  if (me == 1) exit(3);
  if (me == 2) _exit(0);
  pid_t child = fork(); /* which is no PE */
  if (child == 0) _exit(5);
  if (waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5) shmem_barrier_all();
}
