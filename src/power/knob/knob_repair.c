/* knob_repair.c - restores clocks and power limits that killed jobs have left changed. */
#include "power/knob/knob_repair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/locale.h"
#include "power/knob/knob_kind.h"
#include "power/knob/knob_saved.h"

/*
 * Limits on the names and files examined in a folder. Of the files that are not trusted only the first one with a
 * change is reported.
 */
enum { MOST_NAMES = 10000, MOST_FILES = 256, MOST_UNTRUSTED = 8 };

typedef struct repair {
  const wtl_settings *settings;
  const wtl_knob_sys *os;
  bool limits; /* the folder is that of power limits */
  char folder_path[WTL_KNOB_STATE_PATH];
  int folder;
  wtl_knob_claims claims;
  size_t files, untrusted;    /* files examined in this folder; number of these that are not trusted */
  size_t n_restored;          /* number of restored files */
  char first[512];            /* path of the first restored file */
  char first_error[1024];     /* the first error; "": none */
  char first_untrusted[1024]; /* the first file of another user that would change a value; "": none */
} repair;

/* A file of the state folder. */
typedef struct saved_file {
  repair *r;
  const char *name;
  char distrust[160]; /* why it is not trusted; "" if it is */
  wtl_knob_saved *line;
  wtl_knob_file *file; /* one for each line */
  size_t n;
} saved_file;

static void report_error(repair *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report_error(repair *r, const char *format, ...)
{
  WTL_LOCALE_APART;
  va_list args;
  if (*r->first_error) return;
  va_start(args, format);
  vsnprintf(r->first_error, sizeof r->first_error, format, args);
  va_end(args);
}

static const char *kind_of(const repair *r)
{
  return r->limits ? "power limits" : "clocks";
}

/* ---- is the file trusted, and may this job restore it ---- */

static void check_owner(saved_file *q, const struct stat *st)
{
  if (st->st_uid != 0 && st->st_uid != geteuid())
    snprintf(q->distrust, sizeof q->distrust, "it belongs to user %ld, whose next job here restores its valid values",
             (long)st->st_uid);
  else if (st->st_mode & (S_IWGRP | S_IWOTH))
    snprintf(q->distrust, sizeof q->distrust, "other users than its owner may write to it");
  else if (st->st_nlink != 1)
    snprintf(q->distrust, sizeof q->distrust, "it has %ld names", (long)st->st_nlink);
}

/* May the knob of this job set these files? */
static bool is_allowed(const saved_file *q)
{
  long knob = q->r->settings->knob.number;
  if (q->r->limits && *q->r->settings->package_limit.text) return true;
  return knob == WTL_KNOB_POWERCAP || (!q->r->limits && (knob == WTL_KNOB_AUTO || knob == WTL_KNOB_CPUFREQ));
}

/* ---- the files of clocks and limits ---- */

static bool is_as_found(const saved_file *q, size_t i)
{
  const wtl_sys *sys = q->r->os->sys;
  char now[WTL_KNOB_VALUE];
  if (sys->read_file(sys->arg, q->file[i].path, now, sizeof now) < 0) return false;
  now[strcspn(now, "\n")] = '\0';
  return strcmp(now, q->line[i].value) == 0;
}

static bool is_all_as_found(const saved_file *q)
{
  for (size_t i = 0; i < q->n; i++)
    if (q->file[i].fd >= 0 && !is_as_found(q, i)) return false;
  return true;
}

/*
 * Opens a file. Returns false with a reported error if it cannot be opened. A file that does not exist, such as that of
 * a core that is offline, is no error.
 */
static bool open_clock(saved_file *q, size_t i)
{
  repair *r = q->r;
  wtl_knob_file *f = &q->file[i];
  char path[1024];
  if (!wtl_knob_place_path(r->os->sys, r->settings->sysfs.text, q->line[i].place, path, sizeof path)) return true;
  if (!(f->path = strdup(path))) return false;
  int fd = r->os->open(r->os->arg, path);
  f->fd = fd < 0 ? -1 : fd;
  if (fd >= 0 || fd == -ENOENT) return true;
  if (!*q->distrust && is_allowed(q))
    report_error(r, "a job that was killed has left %s changed, and they cannot be put back: %s: %s", kind_of(r), path,
                 strerror(-fd));
  return false;
}

/* Locks a file. Returns false if another job has it; then no file of this list may be changed. */
static bool lock_clock(saved_file *q, size_t i)
{
  repair *r = q->r;
  const wtl_knob_file *f = &q->file[i];
  if (f->fd < 0) return true;
  int claim = wtl_knob_claims_decide(&r->claims, f->fd) ? wtl_knob_claims_take(&r->claims, q->line[i].place) : ENOLCK;
  return claim == 0 || (claim != EBUSY && r->os->lock(r->os->arg, f->fd) == 0);
}

/* Are all values possible? One impossible value is a reason not to trust the others. */
static bool is_possible(saved_file *q)
{
  const repair *r = q->r;
  for (size_t i = 0; i < q->n; i++) {
    char why[300] = "";
    if (q->file[i].fd < 0 || is_as_found(q, i) ||
        wtl_knob_place_takes(r->os->sys, r->settings->sysfs.text, q->line[i].place, q->line[i].value, why, sizeof why))
      continue;
    report_error(q->r, "%s/%s is not trusted: %s of %d: %s %s", r->folder_path, q->name,
                 wtl_knob_attribute_name(q->line[i].place.attribute), q->line[i].place.of, q->line[i].value, why);
    return false;
  }
  return true;
}

/* Writes the values in two rounds. In the first round a lower limit may still be above the upper one. In the second one
 * a file may show another value than the one written, because the hardware rounds it or today's range is narrower. */
static bool restore_files(saved_file *q)
{
  repair *r = q->r;
  bool good = true;
  size_t n = 0;
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < q->n; i++) {
      if (q->file[i].fd < 0 || is_as_found(q, i)) continue;
      int error = -r->os->write(r->os->arg, q->file[i].fd, q->line[i].value);
      if (error && round == 1) {
        report_error(r, "a job that was killed has left %s changed, and they cannot be put back: %s: %s", kind_of(r),
                     q->file[i].path, strerror(error));
        good = false;
      }
      if (round == 0 && n++ == 0 && !r->n_restored) snprintf(r->first, sizeof r->first, "%.511s", q->file[i].path);
    }
  if (good) r->n_restored += n;
  return good;
}

/* ---- the files of the state folder ---- */

static bool may_restore(saved_file *q)
{
  repair *r = q->r;
  if (*q->distrust && !*r->first_untrusted)
    snprintf(r->first_untrusted, sizeof r->first_untrusted,
             "%.400s/%.255s claims that a killed job has left %s changed, which is not trusted: %s", r->folder_path,
             q->name, kind_of(r), q->distrust);
  if (*q->distrust) return false;
  if (!is_allowed(q))
    report_error(r, "%s that a killed job had left changed are not restored: a job with WATTLE_KNOB=%s restores them",
                 kind_of(r), r->limits ? "powercap or WATTLE_PACKAGE_LIMIT" : "auto");
  else
    return is_possible(q);
  return false;
}

static void remove_file(const saved_file *q, int fd)
{
  (void)!ftruncate(fd, 0); /* fails for a file of root that another user has opened for reading */
  if (unlinkat(q->r->folder, q->name, 0) != 0 && errno != ENOENT)
    report_error(q->r, "%s/%s, of a killed job, cannot be removed: %s", q->r->folder_path, q->name, strerror(errno));
}

/* Called with all files open and locked. */
static void repair_locked(saved_file *q, int fd)
{
  bool as_found = is_all_as_found(q);
  if (as_found ? !*q->distrust && is_allowed(q) : may_restore(q) && restore_files(q)) remove_file(q, fd);
}

static void repair_lines(saved_file *q, int fd)
{
  bool open = true, all_locked = true;
  for (size_t i = 0; i < q->n; i++) q->file[i].fd = -1;
  for (size_t i = 0; i < q->n; i++) open &= open_clock(q, i);
  for (size_t i = 0; i < q->n && all_locked; i++) all_locked = lock_clock(q, i);
  if (open && all_locked) repair_locked(q, fd);
  for (size_t i = 0; i < q->n; i++) {
    if (q->file[i].fd >= 0) close(q->file[i].fd);
    free(q->file[i].path);
    if (q->r->claims.file >= 0) wtl_knob_claims_drop(&q->r->claims, q->line[i].place);
  }
}

static int open_saved(const repair *r, const char *name)
{
  int fd = wtl_knob_state_open_file(r->folder, name, O_RDWR);
  return fd == -EACCES ? wtl_knob_state_open_file(r->folder, name, O_RDONLY) : fd;
}

static void repair_file(repair *r, const char *name)
{
  saved_file q = {.r = r, .name = name};
  struct stat st;
  int fd = open_saved(r, name);
  if (fd < 0) return;
  if (fstat(fd, &st) == 0) {
    check_owner(&q, &st);
    bool examine = !*q.distrust || r->untrusted++ < MOST_UNTRUSTED;
    if (examine) q.line = wtl_knob_saved_read(fd, r->settings->sysfs.text, r->limits, &q.n);
    q.file = q.n ? calloc(q.n, sizeof *q.file) : NULL;
    if (q.file) wtl_knob_claims_open(&r->claims, r->folder);
    if (q.file) repair_lines(&q, fd);
  }
  free(q.line);
  free(q.file);
  close(fd);
}

/* Is this a name START-BOOT-XXXXXXXX with hexadecimal digits? Messages may print the name on a terminal. */
static bool is_saved(const char *name, const char *start)
{
  size_t n = strlen(start);
  return strncmp(name, start, n) == 0 && name[n] == '-' && strlen(name) == n + 9 &&
         strspn(name + n + 1, "0123456789abcdef") == 8;
}

static void repair_all(repair *r, DIR *folder)
{
  char start[WTL_KNOB_STATE_NAME];
  const struct dirent *e;
  size_t names = 0;
  if (!wtl_knob_state_name(r->limits ? WTL_KNOB_SAVED_LIMITS : WTL_KNOB_SAVED_CLOCKS, start)) return;
  while ((e = readdir(folder)) && names++ < MOST_NAMES && r->files < MOST_FILES) {
    if (!is_saved(e->d_name, start)) continue;
    r->files++;
    repair_file(r, e->d_name);
  }
  if (e)
    report_error(
        r, "%s has too many files, so some values of killed jobs were not examined: remove the files of other users",
        r->folder_path);
}

/* Repairs one folder. An unused folder for power limits is reported only to jobs that set power limits. */
static void repair_folder(repair *r)
{
  const wtl_settings *s = r->settings;
  r->folder =
      wtl_knob_state_open(s->clock_state.text, r->limits, false, r->folder_path, r->first_error, sizeof r->first_error);
  if (r->folder < 0 && r->limits && s->knob.number != WTL_KNOB_POWERCAP && !*s->package_limit.text)
    *r->first_error = '\0';
  DIR *folder = r->folder >= 0 ? fdopendir(r->folder) : NULL;
  if (!folder) return;
  repair_all(r, folder);
  closedir(folder);
  wtl_knob_claims_close(&r->claims);
}

static void append_report(char *report, size_t size, const char *part)
{
  size_t n = strlen(report);
  if (*part) snprintf(report + n, size - n, "%s%s", n ? "; " : "", part);
}

bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *report, size_t size)
{
  *report = '\0';
  for (int limits = 0; limits < 2; limits++) {
    repair r = {.settings = settings, .os = os, .limits = limits, .claims = {.file = -1}};
    char restored[1024] = "";
    repair_folder(&r);
    if (r.n_restored)
      snprintf(restored, sizeof restored, "%s that a killed job had left changed are put back: %zu files, %s the first",
               kind_of(&r), r.n_restored, r.first);
    append_report(report, size, r.first_error);
    append_report(report, size, r.first_untrusted);
    append_report(report, size, restored);
  }
  return *report;
}
