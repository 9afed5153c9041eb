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

/* The bytes of the arena that a core file holds. */
static size_t dumped(void)
{
  char line[512], flags[512];
  unsigned long from, to;
  size_t length = 0, sum = 0;
  FILE *f = fopen("/proc/self/smaps", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%lx-%lx ", &from, &to) == 2) length = strstr(line, "wattle-arena") ? to - from : 0;
    if (sscanf(line, "VmFlags: %511[^\n]", flags) == 1 && !strstr(flags, "dd")) sum += length;
  }
  if (f) fclose(f);
  return sum;
}

static void show_dumped(void)
{
  enum { ALLOCATED = 1 << 20, PAGES = 1 << 17, REST = 1 << 26 };
  size_t before = dumped();
  char *p = shmem_malloc(ALLOCATED);
  size_t more = dumped() - before;
  printf("a core file holds %s\n", before < REST && more >= ALLOCATED - PAGES && more <= ALLOCATED + PAGES
                                       ? "what is allocated"
                                       : "ANYTHING ELSE");
  shmem_free(p);
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
    if (k == 0) show_descriptors(), show_dumped();
    for (int i = 0; i < nested; i++) shmem_finalize();
  }
  return 0;
}
