/* A GiB of variables of which hardly any is touched costs next to nothing, at start, at fork and at the end. Says its
 * peak in KiB. */
#include <shmem.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char huge[1ul << 30];
static char initialised[1 << 16] = {1};

int main(void)
{
  struct rusage usage;
  huge[0] = 1;
  huge[sizeof huge / 2] = 2;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_char_p((char *)&huge[sizeof huge - 1], (char)(3 + me), (me + 1) % n);
  shmem_barrier_all();
  int good = huge[0] == 1 && huge[sizeof huge / 2] == 2 && huge[sizeof huge - 1] == 3 + (me + n - 1) % n &&
             initialised[0] == 1;
  pid_t child = fork();
  if (child == 0) _exit(huge[sizeof huge / 2] == 2 && huge[sizeof huge - 1] == 3 + (me + n - 1) % n ? 0 : 1);
  int status;
  waitpid(child, &status, 0);
  shmem_finalize();
  good = good && status == 0 && huge[sizeof huge / 2] == 2;
  getrusage(RUSAGE_SELF, &usage);
  printf("PE %d %s peak %ld KiB\n", me, good ? "good" : "WRONG", usage.ru_maxrss);
  return good ? 0 : 1;
}
