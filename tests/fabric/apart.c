/*
 * apart.c - tests that a quiet for one PE does not wait for operations on another. usage: net_apart
 *
 * PE 0 stops the last PE by a signal; they share a machine, if not a node. It begins operations on the stopped PE and
 * on PE 1, which is on another node. It then completes those on PE 1, on the default context and on one of its own. If
 * it waited for the stopped PE, the job would end because the heartbeat is missing.
 */
#include <dirent.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pes.h"

enum { LARGE = 1 << 20 };
static long stopped, last_pid;
static char large[LARGE];

/* All threads of the process have stopped. */
static int has_stopped(pid_t pid)
{
  char path[64], file[512], state;
  int all = 1;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *threads = opendir(path);
  for (const struct dirent *e; threads && (e = readdir(threads)) != NULL;) {
    snprintf(file, sizeof file, "%s/%s/stat", path, e->d_name);
    FILE *f = e->d_name[0] == '.' ? NULL : fopen(file, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state != 'T') all = 0;
    if (f) fclose(f);
  }
  if (threads) closedir(threads);
  return threads && all;
}

/* An operation of each kind on PE `pe`, none of which waits for its end. */
static void begin(shmem_ctx_t ctx, int pe, const char *from, long *fetched)
{
  shmem_ctx_long_atomic_fetch_add_nbi(ctx, fetched, &stopped, 1, pe);
  shmem_ctx_putmem_nbi(ctx, large, from, LARGE, pe);
  shmem_ctx_long_atomic_inc(ctx, &stopped, pe);
}

static void complete_one(shmem_ctx_t ctx, int last, char *from, char fill)
{
  static long numbers[2][2]; /* the last PE's number comes later, when this function has returned */
  static int call;
  long *fetched = numbers[call++];
  char back = 0;
  fetched[0] = fetched[1] = -1;
  memset(from, fill, LARGE);
  begin(ctx, last, from, fetched);
  begin(ctx, 1, from, fetched + 1);
  shmem_ctx_pe_quiet(ctx, (int[]){1, 0}, 2);
  EXPECT(fetched[1] >= 0, "the number has not come");
  EXPECT(shmem_long_g(&stopped, 1) == fetched[1] + 2, "not all is counted");
  shmem_getmem(&back, large + LARGE - 1, 1, 1);
  EXPECT(back == fill, "the data are not all there");
  EXPECT(fetched[0] == -1, "the last PE is not stopped");
}

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), last = shmem_n_pes() - 1;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  char *from = malloc(LARGE);
  EXPECT(shmem_ctx_create(0, &ctx) == 0, "a context");
  if (me == last) shmem_long_p(&last_pid, getpid(), 0);
  shmem_barrier_all();
  if (me == 0) {
    shmem_long_get(&(long){0}, &stopped, 1, last); /* the connections are there */
    kill((pid_t)last_pid, SIGSTOP);
    while (!has_stopped((pid_t)last_pid)) usleep(1000);
    complete_one(SHMEM_CTX_DEFAULT, last, from, 'a');
    complete_one(ctx, last, from, 'b');
    kill((pid_t)last_pid, SIGCONT);
    shmem_ctx_quiet(ctx);
    shmem_quiet();
    EXPECT(shmem_long_g(&stopped, last) == 4, "the last PE has gone on");
  }
  shmem_barrier_all();
  free(from);
  shmem_finalize();
  return failures != 0;
}
