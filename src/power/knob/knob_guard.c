/*
 * knob_guard.c - starts wattle-clock-guard (src/guard), which outlives this process and restores the clocks.
 *
 * The guard is a program of its own and not a fork, so it keeps no memory of this process. It daemonizes itself, so a
 * wait() of the program never returns its status. It reports that it is ready before any clock is set.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "power/knob/knob_kind.h"
#include "power/knob/knob_saved.h"

/* The guard is installed relative to the library: PREFIX/lib/libwattle.so, PREFIX/bin/wattle-clock-guard. */
static bool guard_path(char *path, size_t size)
{
  static const char marker;
  char library[PATH_MAX];
  Dl_info here;
  if (!dladdr(&marker, &here) || !here.dli_fname || !realpath(here.dli_fname, library)) return false;
  int n = snprintf(path, size, "%.*s/../bin/wattle-clock-guard", (int)(strrchr(library, '/') - library), library);
  return n > 0 && (size_t)n < size;
}

/* The arguments of the guard: the processes to wait for, then the files and the values to restore. */
typedef struct words {
  char **word;
  size_t n, capacity;
  bool failed;
} words;

static void add_word(words *w, const char *format, long number, const char *text)
{
  char word[4200];
  snprintf(word, sizeof word, format, number, text);
  if (w->n + 2 > w->capacity) {
    size_t capacity = w->capacity ? 2 * w->capacity : 64;
    char **grown = realloc(w->word, capacity * sizeof *grown);
    if (!grown) {
      w->failed = true;
      return;
    }
    w->word = grown;
    w->capacity = capacity;
  }
  if (!(w->word[w->n] = strdup(word))) w->failed = true;
  w->word[w->failed ? w->n : ++w->n] = NULL;
}

static void free_words(words *w)
{
  for (size_t i = 0; i < w->n; i++) free(w->word[i]);
  free(w->word);
}

/*
 * Starts the guard and waits until it is ready. Our copy of its pipe end is closed first, so reading ends if the guard
 * dies.
 */
static int start(const char *path, words *w, posix_spawn_file_actions_t *files, int ready[2])
{
  static char *const environment[] = {NULL};
  pid_t pid;
  char message = 0;
  int status, error = posix_spawn(&pid, path, files, NULL, w->word, environment);
  if (error) return error;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {} /* it has put itself into the background */
  close(ready[1]);
  ready[1] = -1;
  ssize_t n = read(ready[0], &message, 1);
  return n == 1 && message == 'r' ? 0 : ECHILD;
}

/* Prepares the arguments: the processes, the files, and the guard's ends of the two pipes. */
static void prepare(const wtl_knob *k, const pid_t *pids, size_t n, int stop, int ready, words *w,
                    posix_spawn_file_actions_t *files)
{
  posix_spawn_file_actions_init(files);
  posix_spawn_file_actions_adddup2(files, stop, stop); /* dup2 onto itself keeps it open in the guard */
  posix_spawn_file_actions_adddup2(files, ready, ready);
  add_word(w, "wattle-clock-guard%.0ld%s", 0, "");
  add_word(w, "%ld%s", stop, "");
  add_word(w, "%ld%s", ready, "");
  for (size_t i = 0; i < n; i++) add_word(w, "pid=%ld%s", (long)pids[i], "");
  if (k->saved) {
    add_word(w, "saved=%.0ld%s", 0, k->saved);
    add_word(w, "saved-file=%ld%s", k->saved_fd, "");
    posix_spawn_file_actions_adddup2(files, k->saved_fd, k->saved_fd);
  }
  if (k->claims.file >= 0) {
    add_word(w, "claims=%ld%s", k->claims.file, "");
    posix_spawn_file_actions_adddup2(files, k->claims.file, k->claims.file);
  }
  for (size_t d = 0; d < k->n_domains; d++) {
    const wtl_knob_unit *domain = &k->domain[d];
    for (size_t i = 0; i < domain->n_files && domain->claimed; i++) {
      posix_spawn_file_actions_adddup2(files, domain->file[i].fd, domain->file[i].fd);
      add_word(w, "%ld=%s", domain->file[i].fd, domain->file[i].found);
    }
  }
}

int wtl_knob_guard(wtl_knob *k, const pid_t *pids, size_t n)
{
  char path[4096];
  words w = {0};
  int stop[2] = {-1, -1}, ready[2] = {-1, -1}, error = 0;
  posix_spawn_file_actions_t files;
  if (!k->kind->acts || !k->kind->value) return 0; /* it changes no file that outlives the process */
  if (!guard_path(path, sizeof path)) return ENOENT;
  wtl_knob_save(k);
  if (pipe2(stop, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0) error = errno;
  if (!error) {
    prepare(k, pids, n, stop[0], ready[1], &w, &files);
    error = w.failed ? ENOMEM : start(path, &w, &files, ready);
    posix_spawn_file_actions_destroy(&files);
  }
  free_words(&w);
  k->guard = error ? -1 : stop[1];
  const int ends[] = {stop[0], error ? stop[1] : -1, ready[0], ready[1]};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (ends[i] >= 0) close(ends[i]);
  if (error)
    snprintf(k->why, sizeof k->why, "the guard that restores clocks (%.300s) does not start: %s", path,
             strerror(error));
  return error;
}
