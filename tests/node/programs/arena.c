/* Looks at the memory this job shares: says for each mapping and descriptor of it what the kernel knows. usage: arena
 * [rounds [nested starts]] */
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_descriptors(void)
{
  char path[64], target[256];
  for (int fd = 0; fd < 256; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) continue;
    target[n] = '\0';
    if (!strstr(target, "wattle-arena")) continue;
    int seals = fcntl(fd, F_GET_SEALS);
    printf("arena fd: sealed against shrinking %d growing %d unsealing %d, close-on-exec %d, truncation %s\n",
           !!(seals & F_SEAL_SHRINK), !!(seals & F_SEAL_GROW), !!(seals & F_SEAL_SEAL), fcntl(fd, F_GETFD) & FD_CLOEXEC,
           ftruncate(fd, 0) == 0 ? "ALLOWED" : "refused");
  }
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  int nested = argc > 2 ? atoi(argv[2]) : 1;
  for (int k = 0; k < rounds; k++) {
    for (int i = 0; i < nested; i++) shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *p = shmem_malloc(sizeof *p);
    *p = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) shmem_long_atomic_add(p, me + k, pe);
    shmem_barrier_all();
    printf("round %d PE %d: %s\n", k, me, *p == n * (n - 1) / 2 + (long)n * k ? "good" : "WRONG");
    if (k == 0) show_descriptors();
    for (int i = 0; i < nested; i++) shmem_finalize();
  }
  return 0;
}
