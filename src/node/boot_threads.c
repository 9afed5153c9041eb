/*
 * boot_threads.c - boot of PEs that are threads of one process, so that ThreadSanitizer sees every race. The main of a
 * test starts the threads (tests/threads_main.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/boot.h"
#include "node/boot_threads.h"

enum { MOST_PUBLISHED = 256 };

typedef struct thread_job {
  int n, n_nodes;
  pthread_barrier_t barrier;
  struct {
    int pe;
    char key[32], value[256];
  } published[MOST_PUBLISHED];
  int n_published;
  pthread_mutex_t mutex;
} thread_job;

static thread_job job; /* one job for a process */
static _Thread_local int rank = -1;

void wtl_threads_begin(int n, int n_nodes)
{
  memset(&job, 0, sizeof job);
  job.n = n;
  job.n_nodes = n_nodes;
  pthread_barrier_init(&job.barrier, NULL, (unsigned)n);
  pthread_mutex_init(&job.mutex, NULL);
}

void wtl_threads_join(int pe)
{
  rank = pe;
}

static bool offered(void)
{
  return rank >= 0;
}

static int node_of(int pe)
{
  return (int)((long)pe * job.n_nodes / job.n);
}

static int start(wtl_boot *b, char *error, size_t size)
{
  b->pe = rank;
  b->n_pes = job.n;
  b->node = node_of(rank);
  b->n_nodes = job.n_nodes;
  b->local_pe = calloc((size_t)job.n, sizeof *b->local_pe);
  b->leader_pe = calloc((size_t)job.n_nodes, sizeof *b->leader_pe);
  for (int pe = job.n - 1; pe >= 0; pe--) b->leader_pe[node_of(pe)] = pe;
  for (int pe = 0; pe < job.n; pe++) {
    if (node_of(pe) != b->node) continue;
    if (pe == rank) b->local_rank = b->n_local;
    b->local_pe[b->n_local++] = pe;
  }
  return 0;
}

static int publish(wtl_boot *b, const char *key, const char *value)
{
  pthread_mutex_lock(&job.mutex);
  int at = job.n_published < MOST_PUBLISHED ? job.n_published++ : -1;
  if (at >= 0) {
    job.published[at].pe = b->pe;
    snprintf(job.published[at].key, sizeof job.published[at].key, "%s", key);
    snprintf(job.published[at].value, sizeof job.published[at].value, "%s", value);
  }
  pthread_mutex_unlock(&job.mutex);
  return at < 0;
}

static int fence(wtl_boot *b)
{
  pthread_barrier_wait(&job.barrier);
  return 0;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  int found = -1;
  pthread_mutex_lock(&job.mutex);
  for (int i = 0; i < job.n_published; i++)
    if (job.published[i].pe == pe && strcmp(job.published[i].key, key) == 0) found = i;
  if (found >= 0) snprintf(value, size, "%s", job.published[found].value);
  pthread_mutex_unlock(&job.mutex);
  return found < 0;
}

static void stop(wtl_boot *b)
{
  pthread_barrier_wait(&job.barrier);
  free(b->local_pe);
  free(b->leader_pe);
}

static const wtl_boot_ops boot_threads = {.name = "threads",
                                          .offered = offered,
                                          .start = start,
                                          .publish = publish,
                                          .fence = fence,
                                          .lookup = lookup,
                                          .stop = stop};

const wtl_boot_ops *const wtl_boot_kinds[] = {&boot_threads, &wtl_boot_single, NULL};
