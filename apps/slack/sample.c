/* sample.c - prints samples and parses cases, see sample.h. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/job.h"

static bool parse(const char *text, double most_x, double most_y, sample_case *c)
{
  char *end;
  *c = (sample_case){.x = strtod(text, &end)};
  if (end == text || !(c->x > 0 && c->x <= most_x)) return false;
  if (*end == ':') {
    const char *second = end + 1;
    c->y = strtod(second, &end);
    if (end == second || !(c->y >= 0 && c->y <= most_y)) return false;
  }
  return !*end;
}

int sample_cases(int argc, char **argv, int words, double most_x, double most_y, bool speaks, sample_case *cases)
{
  const char *wrong = NULL;
  if (words > SAMPLE_MOST_CASES || words < 1) {
    if (speaks) fprintf(stderr, "%s: expected 1 to %d cases after the options\n", argv[0], SAMPLE_MOST_CASES);
    return -1;
  }
  for (int i = 0; i < words && !wrong; i++)
    if (!parse(argv[1 + i], most_x, most_y, &cases[i])) wrong = argv[1 + i];
  if (!wrong) return words;
  if (speaks)
    fprintf(stderr, "%s: '%s' is not a case; expected X or X:Y, above 0, X at most %g and Y at most %g\n", argv[0],
            wrong, most_x, most_y);
  return -1;
}

long sample_rounds(double each, double least)
{
  return each > 0 && least > each ? (long)ceil(least / each) : 1;
}

void sample_print_setup(const char *program)
{
  printf("{\"kind\":\"setup\",");
  json_text("program", program);
  printf(",\"pes\":%d,", job_n_pes());
  measure_print_meter();
}

void sample_print(const char *name, const char *who, sample_case c, int repeat, const measured *m, bool verified)
{
  printf("{\"kind\":\"sample\",");
  json_text("name", name);
  putchar(',');
  json_text("who", who);
  putchar(',');
  json_number("x", c.x);
  putchar(',');
  json_number("y", c.y);
  printf(",\"repeat\":%d,\"verified\":%s,", repeat, verified ? "true" : "false");
  json_number("seconds", m->seconds);
  putchar(',');
  json_number("cpu_s", m->cpu_seconds);
  putchar(',');
  measure_print_energy(m);
  putchar(',');
  measure_print_spans(m);
}

void sample_print_list(const char *name, const double *v, int n)
{
  printf(",\"%s\":[", name);
  for (int i = 0; i < n; i++)
    if (isfinite(v[i]))
      printf("%s%.9g", i ? "," : "", v[i]);
    else
      printf("%snull", i ? "," : "");
  putchar(']');
}
