/* readings.h - files of a made-up tree, and the figures of an interval between two marks of a meter. */
#ifndef WTL_TESTS_READINGS_H
#define WTL_TESTS_READINGS_H

#include "check.h"
#include "tree.h"

static inline void put(const tree *t, const char *file, const char *format, ...)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->root, file);
  for (char *slash = strchr(path + strlen(t->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  unlink(path); /* a file system writes a file that was emptied to the disk at once */
  FILE *f = fopen(path, "w");
  va_list args;
  if (!f) {
    perror(path);
    exit(2);
  }
  va_start(args, format);
  vfprintf(f, format, args);
  va_end(args);
  fclose(f);
}

static inline void drop(const tree *t, const char *file)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->root, file);
  remove(path);
}

typedef struct interval {
  wtl_mark a, b;
  wattle_joules_t f[WTL_MAX_DOMAINS];
  size_t n;
} interval;

static inline void begin(wtl_meter *m, interval *i)
{
  wtl_meter_mark(m, &i->a);
}

static inline void end(wtl_meter *m, interval *i)
{
  double random[WTL_MAX_DOMAINS];
  wtl_meter_mark(m, &i->b);
  i->n = wtl_meter_between(m, &i->a, &i->b, 0, i->f, random);
}

static inline const wattle_joules_t *get(const interval *i, const char *domain)
{
  static const wattle_joules_t missing = {.domain = "MISSING", .joules = NAN, .uncertainty = NAN, .covered_s = NAN};
  for (size_t d = 0; d < i->n; d++)
    if (strcmp(i->f[d].domain, domain) == 0) return &i->f[d];
  fprintf(stderr, "no domain %s\n", domain);
  return &missing;
}

#endif
