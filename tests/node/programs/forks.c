/* forks.c - tests a PE that starts processes of its own. usage: forks WHAT. It prints "good" or the error. */
#include <pthread.h>
#include <shmem.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int bad;
#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition) && !bad++) printf("PE %d, line %d: not so: %s\n", shmem_my_pe(), __LINE__, #condition);           \
  } while (0)

static long value = 1;
static char *words[3] = {"a", "b", "c"};
static volatile long progress[2];

static int status_of(pid_t child)
{
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

/* The child sees the variables as of the fork, and has them for itself. */
static void variables(void)
{
  int go[2], me = shmem_my_pe(), n = shmem_n_pes();
  char byte;
  if (pipe(go)) exit(9);
  value = 10 + me;
  shmem_barrier_all();
  pid_t child = fork();
  if (child == 0) {
    if (read(go[0], &byte, 1) != 1) _exit(8); /* until the parent and the others have changed theirs */
    int seen = value == 10 + me && strcmp(words[1], "b") == 0;
    value = -1;
    words[1] = "child";
    setenv("FROM_CHILD", "1", 1);
    unsetenv("PATH");
    _exit(seen ? 0 : 7);
  }
  value = 20 + me;
  shmem_barrier_all();
  shmem_long_p(&value, 30 + me, (me + 1) % n);
  shmem_barrier_all();
  if (write(go[1], "g", 1) != 1) exit(9);
  MUST(status_of(child) == 0);
  shmem_barrier_all();
  MUST(value == 30 + (me + n - 1) % n);
  MUST(strcmp(words[1], "b") == 0);
  MUST(getenv("PATH") && !getenv("FROM_CHILD") && environ[0]);
  MUST(setenv("FROM_PARENT", "1", 1) == 0 && getenv("FROM_PARENT"));
}

/* A child that ends, in any way, ends no other process. */
static void children_end(void)
{
  pid_t child;
  if ((child = fork()) == 0) exit(3); /* with all handlers of the parent */
  MUST(status_of(child) == 3);
  if ((child = fork()) == 0) exit(0);
  MUST(status_of(child) == 0);
  if ((child = fork()) == 0) abort();
  MUST(status_of(child) >= 1000);
  if ((child = fork()) == 0) {
    if ((child = fork()) == 0) exit(value == 1 ? 0 : 1); /* a grandchild */
    exit(status_of(child));
  }
  MUST(status_of(child) == 0);
}

static void commands(void)
{
  char line[64] = "";
  pid_t child;
  MUST(system("exit 4") == 4 << 8);
  FILE *f = popen("echo from popen", "r");
  MUST(f && fgets(line, sizeof line, f) && strcmp(line, "from popen\n") == 0 && pclose(f) == 0);
  MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, (char *[]){"sh", "-c", "exit 6", NULL}, environ) == 0 &&
       status_of(child) == 6);
  if ((child = vfork()) == 0) _exit(2);
  MUST(status_of(child) == 2);
  if ((child = fork()) == 0) execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
  MUST(status_of(child) == 5);
}

/* A child is no PE. */
static void calls_in_child(void)
{
  pid_t child = fork();
  if (child == 0) {
    shmem_barrier_all();
    _exit(0);
  }
  MUST(status_of(child) == 64);
  if ((child = fork()) == 0) {
    shmem_finalize();
    _exit(0);
  }
  MUST(status_of(child) == 64);
}

static void *fork_often(void *arg)
{
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0) _exit(value == 1 && words[2][0] == 'c' ? 0 : 1);
    MUST(status_of(child) == 0);
    progress[(size_t)arg]++;
  }
  return NULL;
}

static void threads(void)
{
  pthread_t other;
  pthread_create(&other, NULL, fork_often, (void *)1);
  fork_often((void *)0);
  pthread_join(other, NULL);
  MUST(progress[0] == 50 && progress[1] == 50);
}

/* A program's own handlers, set before shmem_init: the child's must touch the child's variables only. */
static long handled_in_child, handled_in_parent, locked;
static void prepare(void)
{
  locked = 1;
}
static void in_parent(void)
{
  locked = 0, handled_in_parent++;
}
static void in_child(void)
{
  handled_in_child = locked == 1 ? 1 : 2;
  locked = 0;
}

static void handlers(void)
{
  pid_t child = fork();
  if (child == 0) _exit(handled_in_child == 1 && locked == 0 ? 0 : (int)handled_in_child + 10);
  MUST(status_of(child) == 0);
  MUST(handled_in_child == 0 && handled_in_parent == 1 && locked == 0);
}

static void after_finalize(void)
{
  shmem_finalize();
  pid_t child = fork();
  if (child == 0) {
    value = 99;
    _exit(0);
  }
  if (status_of(child) != 0 || value != 1) bad = 1, puts("after finalize: WRONG");
}

int main(int argc, char **argv)
{
  const char *what = argv[1];
  if (strcmp(what, "handlers") == 0) pthread_atfork(prepare, in_parent, in_child);
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  int me = shmem_my_pe();
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(what, "variables") == 0) variables();
  if (strcmp(what, "children_end") == 0) children_end();
  if (strcmp(what, "commands") == 0) commands();
  if (strcmp(what, "calls_in_child") == 0) calls_in_child();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "handlers") == 0) handlers();
  if (strcmp(what, "after_finalize") == 0)
    after_finalize();
  else
    shmem_barrier_all(), shmem_finalize();
  if (!bad) printf("PE %d good\n", me);
  return bad != 0;
}
