/*
 * wattle_clock_guard.c - the program wattle-clock-guard, which restores the clocks when the processes of a job have
 * ended.
 *
 *   wattle-clock-guard STOP READY pid=N... [saved=FILE saved-file=FD] [claims=FD] FD=TEXT...
 *
 * src/power/knob/knob_guard.c starts it; it is not meant for users. The arguments:
 *   STOP        a pipe. The job writes "done" to it when it has restored everything itself.
 *   READY       a pipe. The guard writes "r" to it when it watches the processes.
 *   pid         the processes of the job
 *   FD=TEXT     an open file that is locked for the job, and the text to restore
 *   saved       a file with the same texts, in case that the guard is killed. The guard empties and removes it.
 *   claims      the file with the job's claims, which last as long as it is open
 *
 * The guard holds nothing else of the job: no memory, no other file, no terminal, no directory.
 */
#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/sigpipe.h"

typedef struct guarded {
  int fd;
  const char *text;
} guarded;

/*
 * Writes the text to an attribute of sysfs, or to an ordinary file of a tree made for tests. An ordinary file keeps the
 * end of a longer text, so this is cut off afterwards. A test that reads meanwhile may see both texts mixed, once.
 */
static int restore(const guarded *g)
{
  struct statfs fs;
  size_t n = strlen(g->text);
  if (pwrite(g->fd, g->text, n, 0) < 0) return -1;
  return fstatfs(g->fd, &fs) == 0 && fs.f_type != SYSFS_MAGIC ? ftruncate(g->fd, (off_t)n) : 0;
}

static int restore_files(const guarded *g, size_t n)
{
  int failed = 0;
  for (int round = 0; round < 2; round++) /* in the first round a lower limit may still be above the upper one */
    for (size_t i = 0; i < n; i++)        /* if one write fails, the other files can still be restored */
      if (restore(&g[i]) != 0 && round == 1) failed++;
  return failed;
}

static void into_background(void)
{
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
  if (fork() > 0) _exit(0);
  setsid(); /* launchers end their jobs by session or group */
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) signal(ends[i], SIG_IGN);
  if (chdir("/") != 0) _exit(1);
}

/* Closes all descriptors from 3 on except those in `keep`. */
static void close_others(const char *keep, int most)
{
  for (int fd = 3; fd <= most; fd++)
    if (!keep[fd]) close(fd);
  syscall(SYS_close_range, (unsigned)most + 1, ~0u, 0);
}

/*
 * Waits until all processes have ended, and returns 0 then. Returns 1 if the pipe reports that everything is restored.
 */
static int wait_for_the_end(struct pollfd *watch, size_t n)
{
  size_t left = n - 1;
  char word[8];
  while (left > 0) {
    if (poll(watch, n, -1) < 0 && errno != EINTR) return 0;
    if (watch[0].revents) {
      if (read(watch[0].fd, word, sizeof word) > 0) return 1;
      watch[0].fd = -1; /* closed without a message: the processes are ending */
    }
    for (size_t i = 1; i < n; i++)
      if (watch[i].fd >= 0 && watch[i].revents) {
        watch[i].fd = -1;
        left--;
      }
  }
  return 0;
}

typedef struct arguments {
  struct pollfd *watch; /* the pipe STOP, then the processes */
  guarded *g;
  size_t n_watch, n;
  const char *saved;
  int ready, saved_file, claims; /* -1: none */
} arguments;

/* Reads one argument. Returns 0 or an exit code. */
static int read_word(arguments *a, const char *name, const char *value)
{
  if (strcmp(name, "saved") == 0)
    a->saved = value;
  else if (strcmp(name, "saved-file") == 0)
    a->saved_file = atoi(value);
  else if (strcmp(name, "claims") == 0)
    a->claims = atoi(value);
  else if (strcmp(name, "pid") != 0)
    a->g[a->n++] = (guarded){atoi(name), value};
  else {
    int fd = (int)syscall(SYS_pidfd_open, atoi(value), 0);
    if (fd < 0 && errno != ESRCH) return 71; /* the guard does not report ready, so no clock is set */
    if (fd >= 0) a->watch[a->n_watch++] = (struct pollfd){.fd = fd, .events = POLLIN};
  }
  return 0;
}

/* Closes all files except those of the arguments. Returns 0 or an exit code. */
static int keep_only(const arguments *a, char *keep)
{
  const int others[] = {a->ready, a->saved_file, a->claims};
  size_t n_others = sizeof others / sizeof others[0];
  int most = 3;
  for (size_t i = 0; i < a->n + a->n_watch + n_others; i++) {
    int fd = i < a->n ? a->g[i].fd : i < a->n + a->n_watch ? a->watch[i - a->n].fd : others[i - a->n - a->n_watch];
    if (fd < 0 && i >= a->n + a->n_watch) continue;
    if (fd < 0 || fd >= 1 << 16) return 71;
    keep[fd] = 1;
    if (fd > most) most = fd;
  }
  close_others(keep, most);
  return 0;
}

int main(int argc, char **argv)
{
  arguments a = {.saved_file = -1, .claims = -1, .n_watch = 1};
  char *keep = calloc(1u << 16, 1);
  int error = 0;
  a.watch = calloc((size_t)argc, sizeof *a.watch);
  a.g = calloc((size_t)argc, sizeof *a.g);
  if (argc < 3 || !a.watch || !a.g || !keep) return 64;
  a.watch[0] = (struct pollfd){.fd = atoi(argv[1]), .events = POLLIN};
  a.ready = atoi(argv[2]);
  into_background();
  for (int i = 3; i < argc && !error; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) return 64;
    *value++ = '\0';
    error = read_word(&a, argv[i], value);
  }
  if (!error) error = keep_only(&a, keep);
  if (error) return error;
  if (wtl_write(a.ready, "r", 1) != 1) return 71;
  close(a.ready);
  if (wait_for_the_end(a.watch, a.n_watch) || restore_files(a.g, a.n) != 0 || !a.saved) return 0;
  (void)!ftruncate(a.saved_file, 0);
  return unlink(a.saved) != 0;
}
