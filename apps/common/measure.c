/* measure.c - measures a section, see measure.h. */
#include "measure.h"

#include "job.h"

static struct {
  wattle_energy_t *meter; /* NULL while no section is open */
  double start, cpu_start;
  double seconds, cpu_seconds; /* of the pieces that have ended */
  block_time when;             /* of the last piece */
  long pieces;
} current;

static const char section[] = "section";

void measure_prepare(void)
{
  current.meter = open_meter("measure", job_abort);
  current.seconds = current.cpu_seconds = 0;
  current.pieces = 0;
}

void measure_resume(void)
{
  if (!current.meter) return;
  current.cpu_start = cpu_seconds();
  wattle_region_begin(current.meter, section);
  current.when.begin = time_of_day();
  current.start = now();
}

void measure_pause(void)
{
  if (!current.meter) return;
  current.seconds += now() - current.start;
  current.when.end = time_of_day();
  current.pieces++;
  wattle_region_end(current.meter, section);
  current.cpu_seconds += cpu_seconds() - current.cpu_start;
}

static void take_joules(const char *name, measured *mine)
{
  int n = wattle_region_joules(current.meter, name, mine->joules, MEASURE_DOMAINS);
  mine->n_domains = n < 0 ? 0 : n < MEASURE_DOMAINS ? n : MEASURE_DOMAINS;
}

void measure_part_begin(const char *name)
{
  if (current.meter) wattle_region_begin(current.meter, name);
}

void measure_part_end(const char *name)
{
  if (current.meter) wattle_region_end(current.meter, name);
}

void measure_part(const char *name, measured *mine)
{
  *mine = (measured){0};
  if (!current.meter) return;
  take_joules(name, mine);
  for (int d = 0; d < mine->n_domains; d++)
    if (mine->joules[d].provenance == WATTLE_MEASURED) mine->n_domains = 0;
}

void measure_own(measured *mine)
{
  *mine = (measured){.seconds = current.seconds, .cpu_seconds = current.cpu_seconds, .share = 1};
  mine->pieces = current.pieces;
  mine->when = current.when;
  take_joules(section, mine);
  wattle_energy_close(current.meter);
  current.meter = NULL;
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
  measured *all = job_me() == 0 ? job_calloc((size_t)job_n_pes(), sizeof *all) : NULL;
  job_gather(&mine, sizeof mine, all);
  *m = mine;
  for (int pe = 1; all && pe < job_n_pes(); pe++) add(m, &all[pe]);
  free(all);
}

void measure_print_setup(const char *program)
{
  wattle_energy_t *meter = open_meter("measure", job_abort);
  printf("{\"kind\":\"setup\",\"program\":\"%s\",\"pes\":%d", program, job_n_pes());
  print_meter(meter);
  wattle_energy_close(meter);
}

void measure_print(const measured *m)
{
  print_number("seconds", m->seconds);
  print_number("cpu_s", m->cpu_seconds);
  printf(",\"energy\":");
  print_figures(m->joules, m->n_domains, 1);
  if (m->pieces == 1)
    print_spans(m->when, m->share, m->when, 0);
  else
    printf(",\"spans\":null");
}
