/*
 * costs.c - times calls of the library by PE 0, each TIMES in a row. Prints "us" and the times.
 *
 * usage: costs polls|puts|requests|replies TIMES | costs busy TIMES SECONDS (PE 1 computes meanwhile, and prints)
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wattle_sim.h"

enum { COUNTS = 1, REPLIES, ANSWER };

static long word, counted;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void count(void *data, size_t n, int from, shmemx_am_token_t token)
{
  (void)data, (void)n, (void)from, (void)token;
  counted++;
}

static void reply(void *data, size_t n, int from, shmemx_am_token_t token)
{
  (void)from;
  shmemx_am_reply(ANSWER, data, n, token);
}

static void call(const char *what, long *value)
{
  if (!strcmp(what, "polls")) shmemx_am_poll();
  if (!strcmp(what, "puts") || !strcmp(what, "busy")) shmem_long_put_nbi(&word, value, 1, 1);
  if (!strcmp(what, "requests")) shmemx_am_request(1, COUNTS, value, sizeof *value);
  if (!strcmp(what, "replies")) shmemx_am_request(1, REPLIES, value, sizeof *value);
}

int main(int argc, char **argv)
{
  shmem_init();
  int times = argc > 2 ? atoi(argv[2]) : 1;
  bool is_busy = argc > 3;
  long value = 1;
  shmemx_am_attach(COUNTS, count);
  shmemx_am_attach(REPLIES, reply);
  shmemx_am_attach(ANSWER, count);
  shmem_barrier_all();
  double began = now();
  if (shmem_my_pe() == 0)
    for (int i = 0; i < times; i++) call(argv[1], &value);
  if (shmem_my_pe() == 1 && is_busy) wattle_sim_compute(atof(argv[3]));
  if (shmem_my_pe() == is_busy) printf("us %.9g\n", 1e6 * (now() - began));
  shmem_quiet();
  shmemx_am_quiet();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
