/*
 * replies.c - tests that short requests with long replies need bounded memory on both sides.
 *
 * A PE that replies keeps only few replies that have not left. A PE that requests sends no more while it has many
 * replies to handle.
 *
 * usage: replies REQUESTS BYTES: number of requests of PE 0 to the last PE; length of each reply
 */
#include <sys/resource.h>

#include "am_tests.h"

enum { ASK = 1, ANSWER = 2, MOST_GROWTH_KIB = 64 << 10 };

/* By PE: in the threads build all are here. */
static size_t length[MOST_PES];
static unsigned char *answer_bytes[MOST_PES];
static long came[MOST_PES], wrong[MOST_PES];

static void on_ask(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from;
  shmemx_am_reply(ANSWER, answer_bytes[shmem_my_pe()], length[shmem_my_pe()], token);
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  int me = shmem_my_pe();
  (void)token;
  came[me]++;
  if (n != length[me] || !is_filled(buf, n, 0, from, 0)) wrong[me]++;
}

static long resident_kib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
  if (argc != 3) return 2;
  long requests = atol(argv[1]), before;
  bool good = true;
  shmem_init();
  int me = shmem_my_pe(), last = shmem_n_pes() - 1;
  length[me] = (size_t)atol(argv[2]);
  answer_bytes[me] = malloc(length[me]);
  fill(answer_bytes[me], length[me], 0, me, 0);
  shmemx_am_attach(ASK, on_ask);
  shmemx_am_attach(ANSWER, on_answer);
  shmem_barrier_all();
  before = resident_kib();
  for (long i = 0; me == 0 && i < requests; i++) shmemx_am_request(last, ASK, NULL, 0);
  shmemx_am_quiet();
  if (me == 0) good = came[me] == requests && wrong[me] == 0;
  shmem_barrier_all();
  long grown = resident_kib() - before;
  if (!good) printf("PE %d: %ld of %ld replies, %ld wrong\n", me, came[me], requests, wrong[me]);
  if (grown > MOST_GROWTH_KIB) printf("PE %d: grew by %ld KiB\n", me, grown), good = false;
  free(answer_bytes[me]);
  shmem_finalize();
  return good ? 0 : 1;
}
