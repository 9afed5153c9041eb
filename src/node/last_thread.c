/* last_thread.c - ends a process whose main thread has ended by pthread_exit, after the last thread of the program. */
#include "node/last_thread.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"

/* A process has one main thread, so this state does not belong to a PE. */
enum { MOST = 1024 };
typedef struct threads {
  int n;
  pid_t id[MOST];
} threads;

static threads before, skipped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `skipped` */
static pthread_key_t key;
static _Atomic bool started;

/* Returns the number of the calling thread in /proc, which may be that of another PID namespace; 0 if it has none. */
static pid_t this_thread(void)
{
  char path[64] = ""; /* PID/task/TID */
  if (readlink("/proc/thread-self", path, sizeof path - 1) <= 0) return 0;
  return (pid_t)atoi(strrchr(path, '/') + 1);
}

static bool has(const threads *t, pid_t id)
{
  for (int i = 0; i < t->n; i++)
    if (t->id[i] == id) return true;
  return false;
}

static void add(threads *t, pid_t id)
{
  if (t->n < MOST && !has(t, id)) t->id[t->n++] = id;
}

/* Returns this process's threads; none if the kernel does not list them. */
static threads now(void)
{
  threads t = {0};
  DIR *folder = opendir("/proc/self/task");
  for (const struct dirent *e; folder && (e = readdir(folder)) != NULL;)
    if (e->d_name[0] != '.') add(&t, (pid_t)atoi(e->d_name));
  if (folder) closedir(folder);
  return t;
}

void wtl_last_thread_libraries_start(void)
{
  started = true;
  before = now();
}

void wtl_last_thread_libraries_started(void)
{
  const threads after = now();
  pthread_mutex_lock(&lock);
  for (int i = 0; i < after.n; i++)
    if (!has(&before, after.id[i])) add(&skipped, after.id[i]);
  pthread_mutex_unlock(&lock);
}

void wtl_last_thread_skip_this(void)
{
  pthread_mutex_lock(&lock);
  add(&skipped, this_thread());
  pthread_mutex_unlock(&lock);
}

/* Returns whether the calling thread is the last one that counts. */
static bool is_last(void)
{
  const threads all = now();
  const pid_t me = this_thread();
  bool is = true;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < all.n; i++) is &= all.id[i] == me || has(&skipped, all.id[i]);
  pthread_mutex_unlock(&lock);
  return is && all.n > 0 && all.n < MOST;
}

/* The end of another thread causes no event, so this one polls, at growing intervals. */
static void wait_for_others(void *unused)
{
  enum { FIRST_US = 500, MOST_US = 50000 };
  (void)unused;
  if (!started) return; /* no thread of a library keeps the process alive */
  for (useconds_t us = FIRST_US; !is_last(); us = us < MOST_US ? 2 * us : us) usleep(us);
  exit(0);
}

/* A key's destructor runs when its thread ends by pthread_exit, after the thread's cleanup handlers. It does not run
 * when the process ends. */
__attribute__((constructor)) static void watch_main_thread(void)
{
  if (!WTL_OS_PES_ARE_PROCESSES) return;
  if (gettid() == getpid() && pthread_key_create(&key, wait_for_others) == 0) pthread_setspecific(key, &key);
}
