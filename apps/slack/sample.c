/* sample.c - the frame of a program of samples, see sample.h. */
#include "sample.h"

enum { EX_USAGE = 64 };

static bool any_wrong; /* on PE 0 */

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

static int parse_cases(char **words, int n, const sample_program *p, sample_case *cases)
{
  if (n > SAMPLE_MOST_CASES || n < 1)
    return options_complain("expected 1 to %d cases after the options", SAMPLE_MOST_CASES);
  for (int i = 0; i < n; i++)
    if (!parse(words[i], p->most_x, p->most_y, &cases[i]))
      return options_complain("'%s' is not a case; expected X or X:Y, above 0, X at most %g and Y at most %g", words[i],
                              p->most_x, p->most_y);
  const char *wrong = p->wrong ? p->wrong(cases, n) : NULL;
  return wrong ? options_complain("%s", wrong) : OPTIONS_GO;
}

int sample_main(int argc, char **argv, const sample_program *p)
{
  int n;
  sample_case cases[SAMPLE_MOST_CASES];
  job_begin(&argc, &argv);
  int code = options_parse(argc, argv, p->words, p->purpose, p->options, p->n_options, job_me() == 0, &n);
  if (code == OPTIONS_GO) code = parse_cases(argv + 1, n, p, cases);
  if (code == OPTIONS_GO) {
    if (p->begin) p->begin(cases, n);
    if (job_me() == 0) {
      measure_print_setup(p->name);
      if (p->print_setup) p->print_setup();
      end_line();
    }
    p->run(cases, n);
  }
  code = code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
  if (p->end) p->end(code);
  job_end();
  return code;
}

long sample_rounds(double each, double least)
{
  long rounds = each > 0 && least > each ? (long)ceil(least / each) : 1;
  job_broadcast(&rounds, sizeof rounds);
  return rounds;
}

bool sample_all(bool right)
{
  return job_sum(!right) == 0;
}

void sample_print(const char *name, const char *who, sample_case c, int repeat, const measured *m, bool verified)
{
  any_wrong |= !verified;
  printf("{\"kind\":\"sample\"");
  print_text("name", name);
  print_text("who", who);
  print_number("x", c.x);
  print_number("y", c.y);
  print_number("repeat", repeat);
  print_flag("verified", verified);
  measure_print(m);
}
