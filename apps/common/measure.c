/* measure.c - measures a section, see measure.h. */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clocks.h"
#include "job.h"

static struct {
  wattle_energy_t *meter; /* NULL while no section is open */
  double start, cpu_start;
  double seconds, cpu_seconds; /* of the pieces that have ended */
  double begin, end;           /* of the last piece, by the time of day */
  long pieces;
} now;

static const char section[] = "section";

static wattle_energy_t *open_meter(void)
{
  wattle_energy_t *meter = wattle_energy_open(NULL);
  if (meter) return meter;
  fprintf(stderr, "PE %d: %s\n", job_me(), wattle_last_error());
  job_abort(1);
}

void measure_prepare(void)
{
  now.meter = open_meter();
  now.seconds = now.cpu_seconds = 0;
  now.pieces = 0;
}

void measure_resume(void)
{
  if (!now.meter) return;
  now.cpu_start = cpu_seconds_now();
  wattle_region_begin(now.meter, section);
  now.begin = time_of_day();
  now.start = seconds_now();
}

void measure_pause(void)
{
  if (!now.meter) return;
  now.seconds += seconds_now() - now.start;
  now.end = time_of_day();
  now.pieces++;
  wattle_region_end(now.meter, section);
  now.cpu_seconds += cpu_seconds_now() - now.cpu_start;
}

static void take_joules(const char *name, measured *mine)
{
  int n = wattle_region_joules(now.meter, name, mine->joules, MEASURE_DOMAINS);
  mine->n_domains = n < 0 ? 0 : n < MEASURE_DOMAINS ? n : MEASURE_DOMAINS;
}

void measure_part_begin(const char *name)
{
  if (now.meter) wattle_region_begin(now.meter, name);
}

void measure_part_end(const char *name)
{
  if (now.meter) wattle_region_end(now.meter, name);
}

void measure_part(const char *name, measured *mine)
{
  *mine = (measured){0};
  if (!now.meter) return;
  take_joules(name, mine);
  for (int d = 0; d < mine->n_domains; d++)
    if (mine->joules[d].provenance == WATTLE_MEASURED) mine->n_domains = 0;
}

void measure_own(measured *mine)
{
  *mine = (measured){.seconds = now.seconds, .cpu_seconds = now.cpu_seconds, .share = 1};
  mine->begin = now.pieces == 1 ? now.begin : (double)NAN;
  mine->end = now.pieces == 1 ? now.end : (double)NAN;
  take_joules(section, mine);
  wattle_energy_close(now.meter);
  now.meter = NULL;
}

void measure_begin(void)
{
  measure_prepare();
  job_barrier();
  measure_resume();
}

void measure_divide(measured *m, double rounds)
{
  m->seconds /= rounds;
  m->cpu_seconds /= rounds;
  m->share /= rounds;
  for (int d = 0; d < m->n_domains; d++) {
    wattle_joules_t *j = &m->joules[d];
    j->joules /= rounds;
    j->uncertainty /= rounds;
    j->interval_s /= rounds;
    j->covered_s /= rounds;
  }
}

static void add(measured *all, const measured *one)
{
  all->cpu_seconds += one->cpu_seconds;
  for (int d = 0; d < all->n_domains; d++) {
    wattle_joules_t parts[2] = {all->joules[d], one->joules[d]};
    if (parts[0].scope != WATTLE_SCOPE_PROCESS) continue;
    wattle_joules_t sum = parts[0];
    wattle_joules_sum(parts, 2, &sum);
    memcpy(sum.domain, parts[0].domain, sizeof sum.domain);
    memcpy(sum.source, parts[0].source, sizeof sum.source);
    sum.interval_s = parts[0].interval_s;
    sum.covered_s = fmin(parts[0].covered_s, parts[1].covered_s);
    sum.scope = parts[0].scope;
    all->joules[d] = sum;
  }
}

void measure_end(measured *m)
{
  measured mine;
  job_barrier();
  measure_pause();
  measure_own(&mine);
  measured *all = job_me() == 0 ? calloc((size_t)job_n_pes(), sizeof *all) : NULL;
  if (job_me() == 0 && !all) {
    fprintf(stderr, "PE 0: no memory for the measurements of %d PEs\n", job_n_pes());
    job_abort(1);
  }
  job_gather(&mine, sizeof mine, all);
  *m = mine;
  for (int pe = 1; all && pe < job_n_pes(); pe++) add(m, &all[pe]);
  free(all);
}

void json_number(const char *name, double value)
{
  if (isfinite(value))
    printf("\"%s\":%.9g", name, value);
  else
    printf("\"%s\":null", name);
}

void json_text(const char *name, const char *text)
{
  printf("\"%s\":\"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else
      putchar((unsigned char)*text < ' ' ? ' ' : *text);
  putchar('"');
}

void measure_print_meter(void)
{
  wattle_energy_t *meter = open_meter();
  json_text("meter", wattle_energy_meter(meter));
  putchar(',');
  json_text("meter_why", wattle_energy_why(meter));
  wattle_energy_close(meter);
}

static void print_figure(const wattle_joules_t *j)
{
  bool known = j->provenance != WATTLE_UNAVAILABLE;
  putchar('{');
  json_text("domain", j->domain);
  putchar(',');
  json_text("source", j->source);
  printf(",\"provenance\":\"%s\",\"scope\":\"%s\",", wattle_provenance_name(j->provenance),
         wattle_scope_name(j->scope));
  json_number("joules", known ? j->joules : (double)NAN);
  putchar(',');
  json_number("uncertainty", known ? j->uncertainty : (double)NAN);
  putchar(',');
  json_number("interval_s", j->interval_s);
  putchar(',');
  json_number("covered_s", j->covered_s);
  putchar('}');
}

void measure_print_energy(const measured *m)
{
  if (m->n_domains == 0) {
    printf("\"energy\":null");
    return;
  }
  printf("\"energy\":[");
  for (int d = 0; d < m->n_domains; d++) {
    if (d) putchar(',');
    print_figure(&m->joules[d]);
  }
  putchar(']');
}

void measure_print_spans(const measured *m)
{
  if (isfinite(m->begin))
    printf("\"spans\":[{\"begin_s\":%.6f,\"end_s\":%.6f,\"share\":%.9g}]", m->begin, m->end, m->share);
  else
    printf("\"spans\":null");
}
