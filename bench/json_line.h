/* json_line.h - members of a JSON line: numbers, words and joules. An unknown value is null. Units: seconds, joules. */
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
