/*
 * A program that does one odd thing to its process, before or after it starts, makes calls and ends. With -DUSE_MPI it
 * is an MPI program, otherwise one of OpenSHMEM. Its last word is "end".
 * usage: odd WAY [early|first|twice]; early: before the start; first: before any other call; twice: early and later
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef USE_MPI
#include <mpi.h>
#else
#include <shmem.h>
#endif

extern char **environ;
static int me, n;

/* --- the program's own work, in either interface --- */

#ifdef USE_MPI
static void start(void)
{
  int level;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
}

static void work(void)
{
  int one = 1, sum = 0, got = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &got, 1, MPI_INT, (me + n - 1) % n, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (sum != n || got != (me + n - 1) % n) abort();
}

static void arrive(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

static void finish(void)
{
  MPI_Finalize();
}
#else
static long flag, word, sum, one = 1;

static void start(void)
{
  int level;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
  me = shmem_my_pe();
  n = shmem_n_pes();
}

static void work(void)
{
  static long rounds;
  shmem_long_p(&flag, ++rounds, (me + 1) % n);
  shmem_long_wait_until(&flag, SHMEM_CMP_GE, rounds);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
  shmem_long_atomic_inc(&word, 0);
  shmem_barrier_all();
  if (sum != n || (me == 0 && word % n != 0)) abort();
  shmem_barrier_all();
}

static void arrive(void)
{
  shmem_barrier_all();
}

static void finish(void)
{
  shmem_finalize();
}
#endif

/* --- the odd things --- */

static void deny_files(void)
{
  umask(0777);
}

static void close_streams(void)
{
  for (int fd = 0; fd <= 2; fd++) close(fd);
}

static void replace_environ(void)
{
  static char *own[] = {"ONLY=this", NULL};
  environ = own;
}

static void clear_environ(void)
{
  clearenv();
}

static void leave_folder(void)
{
  if (chdir("/")) abort();
}

static void lose_folder(void)
{
  char name[] = "/tmp/wtl-odd-XXXXXX";
  if (!mkdtemp(name) || chdir(name) || rmdir(name)) abort();
}

static void limit_files(void)
{
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
}

static void limit_descriptors(void)
{
  struct rlimit few = {3, 3};
  setrlimit(RLIMIT_NOFILE, &few);
}

static void block_signals(void)
{
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

static void ignore_signals(void)
{
  for (int s = 1; s < NSIG; s++) signal(s, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
}

static void become_daemon(void)
{
  if (daemon(1, 1)) abort();
}

/* A child that closes everything and lives on while the job ends. */
static void child_closes(void)
{
  pid_t child = fork();
  if (child > 0) return;
  close_range(0, ~0U, 0);
  sleep(8);
  _exit(0);
}

static void child_exits(void)
{
  pid_t child = fork();
  int status;
  if (child == 0) {
    close_range(3, ~0U, 0);
    exit(3);
  }
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3) abort();
}

static void vfork_execs(void)
{
  char *words[] = {"/bin/true", NULL};
  int status;
  pid_t child = vfork();
  if (child == 0) {
    execv(words[0], words);
    _exit(1);
  }
  if (waitpid(child, &status, 0) != child || status != 0) abort();
  child = vfork();
  if (child == 0) _exit(4);
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 4) abort();
}

static void *arrives(void *arg)
{
  arrive();
  *(int *)arg = 1;
  return NULL;
}

/* The call of a cancelled thread has its effect all the same. */
static void cancel(void)
{
  pthread_t thread;
  int has_left = 0;
  if (me > 0) {
    usleep(300000);
    arrive();
    return;
  }
  pthread_create(&thread, NULL, arrives, &has_left);
  usleep(100000);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  if (!has_left) abort();
}

static void *works(void *arg)
{
  (void)arg;
  for (int i = 0; i < 20; i++) work();
  return NULL;
}

static void on_small_stack(void *(*run)(void *))
{
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  if (pthread_attr_setstacksize(&attr, 16384)) abort();
  if (pthread_create(&thread, &attr, run, NULL)) abort();
  pthread_join(thread, NULL);
}

static void small_stack(void)
{
  on_small_stack(works);
}

static void *finishes(void *arg)
{
  (void)arg;
  finish();
  return NULL;
}

static void small_finish(void)
{
  on_small_stack(finishes);
}

static void *exits(void *arg)
{
  (void)arg;
  exit(0);
}

static void small_exit(void)
{
  on_small_stack(exits);
}

/* Where a library then may not read the memory of this process, as under another user. */
static void deny_reading(void)
{
  prctl(PR_SET_DUMPABLE, 0);
  if (getuid() == 0 && (setgid(65534) || setuid(65534))) abort();
}

static void close_all(void)
{
  for (int fd = 3; fd < 900; fd++) close(fd);
}

static void close_epolls(void)
{
  for (int fd = 3; fd < 900; fd++) {
    char path[32], name[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof name - 1) > 0 && strstr(name, "eventpoll")) close(fd);
  }
}

static void nothing(void) {}

static const struct way {
  const char *name;
  void (*run)(void);
} ways[] = {{"nothing", nothing},
            {"umask", deny_files},
            {"streams", close_streams},
            {"environ", replace_environ},
            {"clearenv", clear_environ},
            {"folder", leave_folder},
            {"no_folder", lose_folder},
            {"file_size", limit_files},
            {"descriptors", limit_descriptors},
            {"blocked", block_signals},
            {"ignored", ignore_signals},
            {"daemon", become_daemon},
            {"child_closes", child_closes},
            {"child_exits", child_exits},
            {"vfork", vfork_execs},
            {"cancel", cancel},
            {"stack", small_stack},
            {"stack_exit", small_exit},
            {"stack_finish", small_finish},
            {"user", deny_reading},
            {"closes", close_all},
            {"closes_epolls", close_epolls}};

int main(int argc, char **argv)
{
  const char *when = argc > 2 ? argv[2] : "";
  const bool early = !strcmp(when, "early"), first = !strcmp(when, "first"), twice = !strcmp(when, "twice");
  int out;
  void (*odd)(void) = NULL;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (argc > 1 && !strcmp(argv[1], ways[i].name)) odd = ways[i].run;
  if (!odd) return 64;
  out = fcntl(1, F_DUPFD, 900);
  if (early || twice) odd();
  start();
  if (!first) work();
  if (!early) odd();
  if (odd != small_finish) {
    work();
    finish();
  }
  (void)!dprintf(out, "end\n");
  return 0;
}
