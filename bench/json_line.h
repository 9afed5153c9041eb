/* json_line.h - members of a JSON line: numbers, words, spans of time and joules. An unknown value is null. Units: seconds, joules. */
#ifndef BENCH_JSON_LINE_H
#define BENCH_JSON_LINE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static inline void print_number(const char *name, double v)
{
  if (isfinite(v))
    printf("\"%s\":%.9g", name, v);
  else
    printf("\"%s\":null", name);
}

/* Seconds since 1970, as logs of external power meters have them. */
static inline double time_of_day(void)
{
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Begin and end of a block, by the time of day. */
typedef struct block_time {
  double begin, end;
} block_time;

static inline void print_span(block_time block, double share)
{
  printf("{\"begin_s\":%.6f,\"end_s\":%.6f,\"share\":%.9g}", block.begin, block.end, share);
}

/* Prints "spans":[{begin, end, share}, ...] with a comma after it. The joules of a sample are those of each span, times
 * its share. A second span without a share is left out. */
static inline void print_spans(block_time block, double share, block_time other, double other_share)
{
  printf("\"spans\":[");
  print_span(block, share);
  if (other_share != 0) {
    printf(",");
    print_span(other, other_share);
  }
  printf("],");
}

static inline void print_text(const char *name, const char *text)
{
  printf("\"%s\":\"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else
      putchar((unsigned char)*text < ' ' ? ' ' : *text);
  putchar('"');
}

#if defined(USE_WATTLE)
#include <wattle.h>

enum { JOULES_DOMAINS = 32 };
static const double joules_sensor_s = 1e-3; /* interval between updates of a sensor, see wattle.h */

/* Prints the joules of `n` domains, divided by `share`. Where `n`, the result of wattle_region_joules(), is not
 * positive, it prints the reason. */
static inline void print_joules(const wattle_joules_t *found, int n, double share)
{
  if (n <= 0) {
    printf("\"energy\":null,\"energy_why\":\"%s\"", n < 0 ? "the meter failed" : "the meter is none");
    return;
  }
  printf("\"energy_why\":null,\"energy\":[");
  for (const wattle_joules_t *f = found; f < found + n && f < found + JOULES_DOMAINS; f++) {
    bool known = f->provenance != WATTLE_UNAVAILABLE;
    printf("%s{\"domain\":\"%s\",\"source\":\"%s\",\"provenance\":\"%s\",\"scope\":\"%s\",", f > found ? "," : "",
           f->domain, f->source, wattle_provenance_name(f->provenance), wattle_scope_name(f->scope));
    print_number("joules", known ? f->joules / share : (double)NAN);
    printf(",");
    print_number("uncertainty", known ? f->uncertainty / share : (double)NAN);
    printf(",");
    print_number("interval_s", f->interval_s);
    printf(",");
    print_number("covered_s", f->covered_s);
    printf("}");
  }
  printf("]");
}

/* Prints the joules that are used while this process sleeps for 0.2 s, as a line of its own. */
static inline void print_floor(wattle_energy_t *meter)
{
  const struct timespec a_while = {.tv_nsec = 200 * 1000 * 1000};
  wattle_joules_t drawn[JOULES_DOMAINS];
  wattle_region_begin(meter, "floor");
  nanosleep(&a_while, NULL);
  wattle_region_end(meter, "floor");
  int n = wattle_region_joules(meter, "floor", drawn, JOULES_DOMAINS);
  printf("{\"kind\":\"floor\",");
  print_joules(drawn, n, 1);
  printf("}\n");
}

static inline void print_meter(const wattle_energy_t *meter)
{
  print_text("meter", wattle_energy_meter(meter));
  printf(",");
  print_text("meter_why", wattle_energy_why(meter));
}
#endif

#endif
