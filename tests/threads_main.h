/*
 * threads_main.h - lets one test source be a program of processes and, in the threads build, a program of threads.
 *
 * Include it after <shmem.h> and write `int main(int argc, char **argv)` as usual, without static state that PEs must
 * not share. The threads build runs it on WTL_TEST_PES threads (environment, default 2), one PE each, of WTL_TEST_NODES
 * nodes (default 1).
 */
#ifndef WTL_TESTS_THREADS_MAIN_H
#define WTL_TESTS_THREADS_MAIN_H

#ifdef WTL_THREADS
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "node/boot_threads.h"

int test_main(int argc, char **argv);

static int test_argc;
static char **test_argv;

static void *run_pe(void *arg)
{
  wtl_threads_join((int)(intptr_t)arg);
  return (void *)(intptr_t)test_main(test_argc, test_argv);
}

int main(int argc, char **argv)
{
  int n = getenv("WTL_TEST_PES") ? atoi(getenv("WTL_TEST_PES")) : 2, worst = 0;
  pthread_t *threads = calloc((size_t)n, sizeof *threads);
  test_argc = argc;
  test_argv = argv;
  wtl_threads_begin(n, getenv("WTL_TEST_NODES") ? atoi(getenv("WTL_TEST_NODES")) : 1);
  for (int pe = 0; pe < n; pe++) pthread_create(&threads[pe], NULL, run_pe, (void *)(intptr_t)pe);
  for (int pe = 0; pe < n; pe++) {
    void *result;
    pthread_join(threads[pe], &result);
    if ((int)(intptr_t)result > worst) worst = (int)(intptr_t)result;
  }
  free(threads);
  return worst;
}

#define main test_main
#endif

#endif
