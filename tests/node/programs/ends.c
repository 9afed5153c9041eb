/* The ways in which a program may end. usage: ends WAY [PE that does it; default: all] */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long flag;

/* Goes on for a moment when the main thread has ended, and says so. */
static void *outlive(void *way)
{
  usleep(100000);
  printf("PE %d goes on\n", shmem_my_pe());
  if (strcmp(way, "thread_exit_6") == 0) exit(6);
  if (strcmp(way, "thread_finalizes") == 0) shmem_finalize();
  return NULL;
}

static void on_message(void *buf, size_t n, int pe, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)pe, (void)token;
}

static void end(const char *way)
{
  pthread_t thread;
  if (strcmp(way, "pthread_exit") == 0) pthread_exit(NULL);
  if (strcmp(way, "pthread_exit_with_agent") == 0) shmemx_am_attach(1, on_message), pthread_exit(NULL);
  if (strcmp(way, "pthread_exit_after_finalize") == 0) shmem_finalize(), pthread_exit(NULL);
  if (strncmp(way, "thread_", 7) == 0 && pthread_create(&thread, NULL, outlive, (void *)(uintptr_t)way) == 0)
    pthread_exit(NULL);
  if (strcmp(way, "global_exit_7") == 0) shmem_global_exit(7);
  if (strcmp(way, "global_exit_0") == 0) shmem_global_exit(0);
  if (strcmp(way, "global_exit_300") == 0) shmem_global_exit(300);
  if (strcmp(way, "exit_3") == 0) exit(3);
  if (strcmp(way, "exit_0") == 0) exit(0);
  if (strcmp(way, "_exit_0") == 0) _exit(0);
  if (strcmp(way, "_exit_4") == 0) _exit(4);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "segfault") == 0) *(volatile int *)8 = 1;
  if (strcmp(way, "fpe") == 0) raise(SIGFPE);
  if (strcmp(way, "finalize") == 0) shmem_finalize();
  if (strcmp(way, "finalize_5") == 0) {
    shmem_finalize();
    exit(5);
  }
}

int main(int argc, char **argv)
{
  const char *way = argv[1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strncmp(way, "thread_", 7) == 0)
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &(int){0});
  else
    shmem_init();
  int who = argc > 2 ? atoi(argv[2]) : -1;
  printf("PE %d of %d lives\n", shmem_my_pe(), shmem_n_pes());
  shmem_barrier_all();
  if (who < 0 || who == shmem_my_pe())
    end(way);
  else if (argc > 3 && strcmp(argv[3], "wait") == 0)
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  else
    shmem_barrier_all();
  return 0;
}
