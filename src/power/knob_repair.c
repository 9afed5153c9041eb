#include "power/knob_repair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power/knob_kind.h"
#include "power/knob_saved.h"
#include "power/knob_state.h"

/* Of a folder; no more are looked at. Of files that are not believed only the first that says something counts. */
enum { MOST_NAMES = 10000, MOST_FILES = 256, MOST_STRANGERS = 8 };

typedef struct repair {
  const wtl_settings *settings;
  const wtl_knob_sys *os;
  bool limits; /* the folder is that of power limits */
  char folder_path[WTL_KNOB_STATE_PATH];
  int folder;
  wtl_knob_claims claims;
  size_t files, strangers; /* of the folder that were looked at; those of them that are not believed */
  size_t put_back;         /* clocks' files */
  char first[512];         /* of those */
  char trouble[1024];      /* what went wrong first; "" for nothing */
  char disbelief[1024];    /* the first file of somebody else that would have changed something; "" for none */
} repair;

/* A file of the state folder. */
typedef struct kept {
  repair *r;
  const char *name;
  char stranger[160]; /* why it is not believed; "" where it is */
  wtl_knob_saved *line;
  wtl_knob_file *file; /* by line */
  size_t n;
} kept;

static void trouble(repair *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void trouble(repair *r, const char *format, ...)
{
  va_list args;
  if (*r->trouble) return;
  va_start(args, format);
  vsnprintf(r->trouble, sizeof r->trouble, format, args);
  va_end(args);
}

static const char *kind_of(const repair *r)
{
  return r->limits ? "power limits" : "clocks";
}

/* ---- is it believed, and may this job do it ---- */

static void judge(kept *q, const struct stat *st)
{
  if (st->st_uid != 0 && st->st_uid != geteuid())
    snprintf(q->stranger, sizeof q->stranger,
             "it belongs to user %ld, whose next job here puts back what is true of it", (long)st->st_uid);
  else if (st->st_mode & (S_IWGRP | S_IWOTH))
    snprintf(q->stranger, sizeof q->stranger, "others than its owner may write to it");
  else if (st->st_nlink != 1)
    snprintf(q->stranger, sizeof q->stranger, "it has %ld names", (long)st->st_nlink);
}

/* What the knob of this job may set. */
static bool is_allowed(const kept *q)
{
  long knob = q->r->settings->knob.number;
  return knob == WTL_KNOB_POWERCAP || (!q->r->limits && (knob == WTL_KNOB_AUTO || knob == WTL_KNOB_CPUFREQ));
}

/* ---- the clocks' files ---- */

static bool is_as_found(const kept *q, size_t i)
{
  const wtl_sys *sys = q->r->os->sys;
  char now[WTL_KNOB_VALUE];
  if (sys->read_file(sys->arg, q->file[i].path, now, sizeof now) < 0) return false;
  now[strcspn(now, "\n")] = '\0';
  return strcmp(now, q->line[i].value) == 0;
}

static bool is_all_as_found(const kept *q)
{
  for (size_t i = 0; i < q->n; i++)
    if (q->file[i].fd >= 0 && !is_as_found(q, i)) return false;
  return true;
}

/* False where it cannot be opened, which is said. What is not there is no trouble: a core that was taken off. */
static bool open_clock(kept *q, size_t i)
{
  repair *r = q->r;
  wtl_knob_file *f = &q->file[i];
  char path[1024];
  if (!wtl_knob_place_path(r->os->sys, r->settings->sysfs.text, q->line[i].place, path, sizeof path)) return true;
  if (!(f->path = strdup(path))) return false;
  int fd = r->os->open(r->os->arg, path);
  f->fd = fd < 0 ? -1 : fd;
  if (fd >= 0 || fd == -ENOENT) return true;
  if (!*q->stranger && is_allowed(q))
    trouble(r, "a job that was killed has left %s changed, and they cannot be put back: %s: %s", kind_of(r), path,
            strerror(-fd));
  return false;
}

/* False: somebody has one of them, so it is not ours to touch any. */
static bool lock_clock(kept *q, size_t i)
{
  repair *r = q->r;
  const wtl_knob_file *f = &q->file[i];
  if (f->fd < 0) return true;
  int claim = wtl_knob_claims_decide(&r->claims, f->fd) ? wtl_knob_claims_take(&r->claims, q->line[i].place) : ENOLCK;
  return claim == 0 || (claim != EBUSY && r->os->lock(r->os->arg, f->fd) == 0);
}

/* One that cannot have been found is no reason to believe the others. */
static bool is_possible(kept *q)
{
  const repair *r = q->r;
  for (size_t i = 0; i < q->n; i++) {
    char why[300] = "";
    if (q->file[i].fd < 0 || is_as_found(q, i) ||
        wtl_knob_place_takes(r->os->sys, r->settings->sysfs.text, q->line[i].place, q->line[i].value, why, sizeof why))
      continue;
    trouble(q->r, "%s/%s is not believed: %s of %d: %s %s", r->folder_path, q->name,
            wtl_knob_attribute_name(q->line[i].place.attribute), q->line[i].place.of, q->line[i].value, why);
    return false;
  }
  return true;
}

/* Twice: the first round may find a lower limit still above the upper one. */
static bool put_back(kept *q)
{
  repair *r = q->r;
  bool good = true;
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < q->n; i++) {
      if (q->file[i].fd < 0 || is_as_found(q, i)) continue;
      int error = -r->os->write(r->os->arg, q->file[i].fd, q->line[i].value);
      if (error && round == 1) {
        trouble(r, "a job that was killed has left %s changed, and they cannot be put back: %s: %s", kind_of(r),
                q->file[i].path, strerror(error));
        good = false;
      }
      if (!error && !r->put_back++) snprintf(r->first, sizeof r->first, "%.511s", q->file[i].path);
    }
  return good;
}

/* ---- the files of the folder ---- */

static bool may_put_back(kept *q)
{
  repair *r = q->r;
  if (*q->stranger && !*r->disbelief)
    snprintf(r->disbelief, sizeof r->disbelief,
             "%.400s/%.255s claims that a killed job has left %s changed, which is not believed: %s", r->folder_path,
             q->name, kind_of(r), q->stranger);
  if (*q->stranger) return false;
  if (!is_allowed(q))
    trouble(r, "%s that a killed job had left changed stay as they are: a job with WATTLE_KNOB=%s puts them back",
            kind_of(r), r->limits ? "powercap" : "auto");
  else
    return is_possible(q);
  return false;
}

static void remove_file(const kept *q, int fd)
{
  (void)!ftruncate(fd, 0); /* refused for root's, opened for reading by another user */
  if (unlinkat(q->r->folder, q->name, 0) != 0 && errno != ENOENT)
    trouble(q->r, "%s/%s, of a killed job, cannot be removed: %s", q->r->folder_path, q->name, strerror(errno));
}

/* All clocks' files are open and locked here. */
static void repair_locked(kept *q, int fd)
{
  bool as_found = is_all_as_found(q);
  if (as_found ? !*q->stranger && is_allowed(q) : may_put_back(q) && put_back(q)) remove_file(q, fd);
}

static void repair_lines(kept *q, int fd)
{
  bool open = true, free_of_others = true;
  for (size_t i = 0; i < q->n; i++) q->file[i].fd = -1;
  for (size_t i = 0; i < q->n; i++) open &= open_clock(q, i);
  for (size_t i = 0; i < q->n && free_of_others; i++) free_of_others = lock_clock(q, i);
  if (open && free_of_others) repair_locked(q, fd);
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
  kept q = {.r = r, .name = name};
  struct stat st;
  int fd = open_saved(r, name);
  if (fd < 0) return;
  if (fstat(fd, &st) == 0) {
    judge(&q, &st);
    bool look = !*q.stranger || r->strangers++ < MOST_STRANGERS;
    if (look) q.line = wtl_knob_saved_read(fd, r->settings->sysfs.text, r->limits, &q.n);
    q.file = q.n ? calloc(q.n, sizeof *q.file) : NULL;
    if (q.file) wtl_knob_claims_open(&r->claims, r->folder);
    if (q.file) repair_lines(&q, fd);
  }
  free(q.line);
  free(q.file);
  close(fd);
}

/* START-BOOT-XXXXXXXX, with hexadecimal digits: what is said may name it on a terminal. */
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
    trouble(r,
            "%s has too many files, so not all were looked at for what killed jobs have left: remove those of others",
            r->folder_path);
}

/* A folder for power limits that is not used matters to jobs that set these only. */
static void repair_folder(repair *r)
{
  const wtl_settings *s = r->settings;
  r->folder = wtl_knob_state_open(s->clock_state.text, r->limits, false, r->folder_path, r->trouble, sizeof r->trouble);
  if (r->folder < 0 && r->limits && s->knob.number != WTL_KNOB_POWERCAP) *r->trouble = '\0';
  DIR *folder = r->folder >= 0 ? fdopendir(r->folder) : NULL;
  if (!folder) return;
  repair_all(r, folder);
  closedir(folder);
  wtl_knob_claims_close(&r->claims);
}

static void add_words(char *said, size_t size, const char *words)
{
  size_t n = strlen(said);
  if (*words) snprintf(said + n, size - n, "%s%s", n ? "; " : "", words);
}

bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *said, size_t size)
{
  *said = '\0';
  for (int limits = 0; limits < 2; limits++) {
    repair r = {.settings = settings, .os = os, .limits = limits, .claims = {.file = -1}};
    char done[1024] = "";
    repair_folder(&r);
    if (r.put_back)
      snprintf(done, sizeof done, "%s that a killed job had left changed are put back: %zu files, %s the first",
               kind_of(&r), r.put_back, r.first);
    add_words(said, size, r.trouble);
    add_words(said, size, r.disbelief);
    add_words(said, size, done);
  }
  return *said;
}
