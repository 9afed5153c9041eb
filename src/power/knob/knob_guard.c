/*
 * knob_guard.c - starts wattle-clock-guard (src/guard), which outlives this process and restores the clocks.
 *
 * The guard reports that it is ready before any clock is set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/helper_program.h"
#include "os/locale.h"
#include "power/knob/knob_kind.h"
#include "power/knob/knob_saved.h"

/* The guard's arguments, each ended by NUL, and the descriptors that it inherits. */
typedef struct arguments {
  FILE *f;
  char *text;
  size_t length, n_words;
  int *kept;
  size_t n_kept;
} arguments;

/* Adds one argument, with the descriptor that it names (-1: none). */
static void add(arguments *a, int fd, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(arguments *a, int fd, const char *format, ...)
{
  WTL_LOCALE_APART;
  va_list words;
  va_start(words, format);
  vfprintf(a->f, format, words);
  va_end(words);
  fputc('\0', a->f);
  a->n_words++;
  if (fd >= 0) a->kept[a->n_kept++] = fd;
}

/* The processes, the files, and the guard's ends of the two pipes. */
static bool make_arguments(arguments *a, const char *path, const wtl_knob *k, const pid_t *pids, size_t n, int stop,
                           int ready)
{
  size_t most = 4; /* the pipes, the saved file and the claims */
  for (size_t d = 0; d < k->n_domains; d++) most += k->domain[d].n_files;
  a->kept = malloc(most * sizeof *a->kept);
  a->f = open_memstream(&a->text, &a->length);
  if (!a->kept || !a->f) return false;
  add(a, -1, "%s", path);
  add(a, stop, "%d", stop);
  add(a, ready, "%d", ready);
  for (size_t i = 0; i < n; i++) add(a, -1, "pid=%ld", (long)pids[i]);
  if (k->saved) add(a, -1, "saved=%s", k->saved);
  if (k->saved) add(a, k->saved_fd, "saved-file=%d", k->saved_fd);
  if (k->claims.file >= 0) add(a, k->claims.file, "claims=%d", k->claims.file);
  for (size_t d = 0; d < k->n_domains; d++)
    for (size_t i = 0; i < k->domain[d].n_files && k->domain[d].claimed; i++)
      add(a, k->domain[d].file[i].fd, "%d=%s", k->domain[d].file[i].fd, k->domain[d].file[i].found);
  return fflush(a->f) == 0 && !ferror(a->f);
}

static int start(const arguments *a)
{
  static char *const environment[] = {NULL};
  char **words = malloc((a->n_words + 1) * sizeof *words), *at = a->text;
  if (!words) return ENOMEM;
  for (size_t i = 0; i < a->n_words; i++, at += strlen(at) + 1) words[i] = at;
  words[a->n_words] = NULL;
  int error = wtl_helper_start(words, environment, a->kept, a->n_kept);
  free(words);
  return error;
}

/* Starts the guard and waits until it is ready. Our copy of its end is closed first, so reading ends if it dies. */
static int start_ready(const arguments *a, int ready[2])
{
  char message = 0;
  int error = start(a);
  close(ready[1]);
  ready[1] = -1;
  while (!error && read(ready[0], &message, 1) < 0 && errno == EINTR) {}
  return error || message == 'r' ? error : ECHILD;
}

int wtl_knob_guard(wtl_knob *k, const pid_t *pids, size_t n)
{
  char path[WTL_HELPER_PATH];
  arguments a = {0};
  int stop[2] = {-1, -1}, ready[2] = {-1, -1}, error = 0;
  if (!k->kind->acts || !k->kind->value) return 0; /* it changes no file that outlives the process */
  wtl_helper_path("wattle-clock-guard", path);
  wtl_knob_save(k);
  if (pipe2(stop, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
    error = errno;
  else
    error = make_arguments(&a, path, k, pids, n, stop[0], ready[1]) ? start_ready(&a, ready) : ENOMEM;
  if (a.f) fclose(a.f);
  free(a.text);
  free(a.kept);
  k->guard = error ? -1 : stop[1];
  const int ends[] = {stop[0], error ? stop[1] : -1, ready[0], ready[1]};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (ends[i] >= 0) close(ends[i]);
  if (error)
    snprintf(k->why, sizeof k->why, "the guard that restores clocks (%.300s) does not start: %s", path,
             strerror(error));
  return error;
}
