/* sequence_file.c - writes the noted steps between call sites into a profile. */
#include "record/sequence_file.h"

#include <stdlib.h>

#include "base/json.h"
#include "os/locale.h"

static int by_place(const wtl_site *x, uint64_t addr, uint32_t call, uint32_t path)
{
  if (x->addr != addr) return x->addr < addr ? -1 : 1;
  if (x->call != call) return x->call < call ? -1 : 1;
  return (x->path > path) - (x->path < path);
}

static int compare(const void *a, const void *b)
{
  const wtl_site *y = *(const wtl_site *const *)b;
  return by_place(*(const wtl_site *const *)a, y->addr, y->call, y->path);
}

static int is_end(const void *key, const void *site)
{
  const wtl_step_end *end = key;
  return -by_place(*(const wtl_site *const *)site, end->addr, end->call, end->path);
}

/* The place of a site in the file; -1: none. */
static long place_of(const wtl_step_end *end, const wtl_site *sites, const wtl_site **sorted, uint64_t n)
{
  const wtl_site **found = bsearch(end, sorted, n, sizeof *sorted, is_end);
  return found ? (long)(*found - sites) : -1;
}

static void write_step(FILE *out, const wtl_step *s, const long ends[2], double seconds_per_tick)
{
  WTL_LOCALE_APART;
  fprintf(out, "[%ld,%ld", ends[0], ends[1]);
#define WRITE_COUNT(name) fprintf(out, ",%ju", (uintmax_t)s->name);
  WTL_STEP_COUNTS(WRITE_COUNT)
  fprintf(out, ",%.9g,%ju,%d,%ju,%ju", (double)s->ticks * seconds_per_tick, (uintmax_t)s->bytes, s->area,
          (uintmax_t)s->low, (uintmax_t)s->high);
  WTL_STEP_LATER_COUNTS(WRITE_COUNT)
  fprintf(out, ",%.9g]", (double)s->gap_ticks * seconds_per_tick);
}

void wtl_record_write_sequence(FILE *out, const wtl_profile *p, const wtl_site *sites, uint64_t n,
                               const wtl_sequence_clock *clock)
{
  wtl_sequence all = {0};
  const wtl_site **sorted = malloc((n + 1) * sizeof *sorted);
  const char *comma = "";
  if (sorted) wtl_profile_sequence(p, &all);
  for (uint64_t i = 0; sorted && i < n; i++) sorted[i] = &sites[i];
  if (sorted) qsort(sorted, n, sizeof *sorted, compare);
  wtl_json(out, "{'noted':%ju,'lost':%ju,'timer_s':%g", all.noted, all.lost, clock->reading_s);
#define COUNT_NAME(name) "'" #name "',"
  wtl_json(out, ",'columns':['from','to'," WTL_STEP_COUNTS(COUNT_NAME) "'time_s','bytes','area','low','high',"
                WTL_STEP_LATER_COUNTS(COUNT_NAME) "'gap_s'],'steps':[");
  for (uint32_t i = 0; i < all.used; i++) {
    const wtl_step *s = wtl_sequence_step(&all, i);
    long ends[] = {place_of(&s->from, sites, sorted, n), place_of(&s->to, sites, sorted, n)};
    if (ends[0] < 0 || ends[1] < 0) continue;
    fputs(comma, out);
    write_step(out, s, ends, clock->seconds_per_tick);
    comma = ",\n";
  }
  fputs("]}", out);
  wtl_sequence_free(&all);
  free(sorted);
}
