/*
 * tree.h - a made-up powercap tree in a temporary directory, with a clock the test moves and faults it plants.
 */
#ifndef WTL_TESTS_TREE_H
#define WTL_TESTS_TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/meter.h"

typedef struct tree {
  char root[128];
  double now;                                       /* s */
  void (*on_sleep)(struct tree *t, double seconds); /* changes the sensors while the meter sleeps */
  struct {
    char zone[48]; /* reading this zone's energy ... */
    int error;     /* ... gives this errno; 0: no fault */
  } fault[8];
  atomic_int reads;
  wtl_sys sys;
  uint64_t watch[4]; /* free for on_sleep */
} tree;

static inline double tree_now(void *arg)
{
  return ((tree *)arg)->now;
}

static inline void tree_sleep(void *arg, double seconds)
{
  tree *t = arg;
  t->now += seconds;
  if (t->on_sleep) t->on_sleep(t, seconds);
}

static inline int tree_read(void *arg, const char *path, char *buf, size_t size)
{
  tree *t = arg;
  atomic_fetch_add(&t->reads, 1);
  for (size_t i = 0; i < 8; i++) {
    char tail[80];
    snprintf(tail, sizeof tail, "/%s/energy_uj", t->fault[i].zone);
    if (t->fault[i].error && strstr(path, tail)) return -t->fault[i].error;
  }
  return wtl_sys_real.read_file(wtl_sys_real.arg, path, buf, size);
}

static inline void tree_fault(tree *t, const char *zone, int error)
{
  for (size_t i = 0; i < 8; i++) {
    if (t->fault[i].zone[0] && strcmp(t->fault[i].zone, zone) != 0) continue;
    snprintf(t->fault[i].zone, sizeof t->fault[i].zone, "%s", zone);
    t->fault[i].error = error;
    return;
  }
}

/* A text that is not shorter replaces the old one in place: ext4 writes a file that was emptied to the disk at once,
 * which takes long beside other work. */
static inline void tree_put(const tree *t, const char *zone, const char *file, const char *format, ...)
{
  char path[512], text[512];
  struct stat old;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  snprintf(path, sizeof path, "%s/class/powercap/%s/%s", t->root, zone, file);
  bool in_place = stat(path, &old) == 0 && old.st_size <= length;
  FILE *f = length < (int)sizeof text ? fopen(path, in_place ? "r+" : "w") : NULL;
  if (!f) {
    perror(path);
    exit(2);
  }
  fputs(text, f);
  fclose(f);
}

static inline void tree_energy(const tree *t, const char *zone, unsigned long long uj)
{
  tree_put(t, zone, "energy_uj", "%llu\n", uj);
}

static inline void tree_zone(const tree *t, const char *zone, const char *name, unsigned long long uj,
                             unsigned long long range)
{
  char path[512];
  snprintf(path, sizeof path, "%s/class/powercap/%s", t->root, zone);
  if (mkdir(path, 0755) != 0) perror(path);
  tree_put(t, zone, "name", "%s\n", name);
  tree_put(t, zone, "max_energy_range_uj", "%llu\n", range);
  tree_energy(t, zone, uj);
}

static inline tree *tree_new(void)
{
  tree *t = calloc(1, sizeof *t);
  if (!t) exit(2);
  const char *tmp = getenv("TMPDIR");
  snprintf(t->root, sizeof t->root, "%.90s/wattle-sys-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(t->root)) {
    perror(t->root);
    exit(2);
  }
  char path[256];
  snprintf(path, sizeof path, "%s/class", t->root);
  mkdir(path, 0755);
  snprintf(path, sizeof path, "%s/class/powercap", t->root);
  mkdir(path, 0755);
  chmod(t->root, 0755);
  t->now = 1000;
  t->sys = (wtl_sys){.arg = t, .now = tree_now, .sleep = tree_sleep, .read_file = tree_read, .background = false};
  return t;
}

static inline int tree_unlink(const char *path, const struct stat *s, int type, struct FTW *f)
{
  (void)s;
  (void)type;
  (void)f;
  return remove(path);
}

static inline void tree_remove(const tree *t, const char *zone)
{
  char path[512];
  snprintf(path, sizeof path, "%s/class/powercap/%s", t->root, zone);
  nftw(path, tree_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_free(tree *t)
{
  nftw(t->root, tree_unlink, 8, FTW_DEPTH | FTW_PHYS);
  free(t);
}

/* Settings as a program would have them, with this tree's sensors. */
static inline wtl_settings tree_settings(const tree *t, int meter)
{
  wtl_settings s;
  char errors[1024] = "";
  if (wtl_settings_parse(&s, errors, sizeof errors) != 0) {
    fputs(errors, stderr);
    exit(2);
  }
  s.meter.number = meter;
  s.sysfs.text = t->root;
  s.machine.text = "sandybridge-e5-2670";
  return s;
}

static inline wtl_meter *tree_open(tree *t, int meter)
{
  char error[512] = "";
  wtl_settings s = tree_settings(t, meter);
  wtl_meter *m = wtl_meter_open_with(&s, &t->sys, error, sizeof error);
  if (!m) {
    fputs(error, stderr);
    exit(2);
  }
  return m;
}

#endif
