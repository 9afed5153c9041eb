/*
 * wattle_calibrate.c - the program wattle-calibrate, which measures the costs of waiting on this machine and prints
 * JSON.
 *
 *   wattle-calibrate [--progress] [--budget MS]    measures; with --progress, lines "3 of 28: NAME" on standard error
 *   wattle-calibrate watts [...]                   measures the power of this node by state and clock (watts.h)
 *   wattle-calibrate where                         prints this machine's key, its file of prices, and the prices in it
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sigpipe.h"
#include "calibrate/load.h"
#include "calibrate/measure.h"
#include "calibrate/watts.h"
#include "os/os.h"

typedef struct options {
  bool where, watts, progress;
  double budget_s;
} options;

static const char usage[] =
    "usage: wattle-calibrate [watts] [--progress] [--budget MS] | where\n"
    "Measures what ways of waiting cost on this machine; prints JSON. MS, 1 to 10000: time for each price.\n";

/* Returns false if the arguments are wrong. */
static bool read_options(int argc, char **argv, options *o)
{
  *o = (options){.budget_s = 0.15};
  if (argc > 1 && strcmp(argv[1], "watts") == 0) {
    *o = (options){.watts = true, .budget_s = 2};
    argc--;
    argv++;
  }
  if (argc == 2 && strcmp(argv[1], "where") == 0) return o->where = true;
  for (int i = 1; i < argc; i++) {
    char *end;
    if (strcmp(argv[i], "--progress") == 0) {
      o->progress = true;
    } else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc) {
      long ms = strtol(argv[++i], &end, 10);
      if (end == argv[i] || *end || ms < 1 || ms > 10000) return false;
      o->budget_s = (double)ms * 1e-3;
    } else {
      return false;
    }
  }
  return true;
}

/* ---- output ---- */

static wtl_prices_machine print_machine(void)
{
  wtl_prices_machine m;
  char file[512], why[256];
  wtl_prices_this_machine(&m);
  fputs("\"machine\":{", stdout);
  wtl_json_text_field(stdout, "host", m.host, 1);
  wtl_json_text_field(stdout, "cpu", m.cpu, 0);
  wtl_json_text_field(stdout, "kernel", m.kernel, 0);
  wtl_json_number_field(stdout, "cores", m.cores, 0);
  putchar('}');
  bool good = wtl_prices_file(&m, file, sizeof file, why, sizeof why);
  wtl_json_text_field(stdout, "file", good ? file : NULL, 0);
  wtl_json_text_field(stdout, "no_file", good ? NULL : why, 0);
  return m;
}

static void print_where(const wtl_settings *settings)
{
  static wtl_prices p;
  wtl_prices_read(settings, &p);
  putchar('{');
  print_machine();
  fputs(",\"read\":{", stdout);
  wtl_json_text_field(stdout, "from", p.file[0] ? p.file : NULL, 1);
  printf(",\"known\":%s", p.known ? "true" : "false");
  wtl_json_text_field(stdout, "why", p.why, 0);
  wtl_json_number_field(stdout, "wake_s", wtl_prices_wake(&p, false, false), 0);
  fputs("}}\n", stdout);
}

static void print_samples(samples *s, bool applies, const char *name)
{
  wtl_json_key(stdout, name, 0);
  printf("{\"applies\":%s", applies ? "true" : "false");
  if (s->n) {
    summary sum = samples_summary(s);
    wtl_json_number_field(stdout, "median_s", sum.median, 0);
    wtl_json_number_field(stdout, "quarter_s", sum.quarter, 0);
    wtl_json_number_field(stdout, "three_quarters_s", sum.three_quarters, 0);
    wtl_json_number_field(stdout, "least_s", sum.least, 0);
    wtl_json_number_field(stdout, "samples", (double)s->n, 0);
  }
  wtl_json_text_field(stdout, "why", s->why[0] ? s->why : NULL, 0);
  putchar('}');
}

/* ---- measuring ---- */

/* Returns the reason why this price cannot be measured here, or NULL. */
static const char *missing(const bench *b, const measurement *m, enum wtl_price_beside beside)
{
  if (b->other < 0 && (m->two_cores || beside == WTL_BESIDE_PEER)) return "this process may use one core only";
  return NULL;
}

static void measure_one(const bench *b, const measurement *m, enum wtl_price_beside beside, samples *out)
{
  const char *lack = missing(b, m, beside);
  out->n = 0;
  out->why[0] = '\0';
  if (lack) {
    samples_lack(out, lack);
    return;
  }
  pid_t peer = beside == WTL_BESIDE_PEER && !m->own_peer ? bench_help(b, b->other, bench_compute, NULL) : 0;
  m->run(b, beside, out);
  if (peer) bench_end(peer);
  if (out->n == 0 && !out->why[0]) samples_lack(out, "its time was used up by other prices");
}

/* `known` receives the medians. */
static void measure_and_print(const bench *b, const options *o, wtl_prices *known)
{
  static samples out;
  int done = 0;
  fputs(",\"prices\":{", stdout);
  for (int i = 0; i < WTL_PRICES; i++) {
    const measurement *m = &measurements[i];
    const char *name = wtl_price_names[m->price];
    fputs(i ? ",\n " : "\n ", stdout);
    wtl_json_key(stdout, name, 1);
    putchar('{');
    wtl_json_text_field(stdout, "what", m->what, 1);
    for (int beside = 0; beside < WTL_BESIDES; beside++) {
      if (o->progress) fprintf(stderr, "%d of %d: %s\n", done++, WTL_PRICES * WTL_BESIDES, name);
      bool applies = beside == WTL_BESIDE_PEER ? !m->no_peer : !m->no_idle;
      if (applies)
        measure_one(b, m, (enum wtl_price_beside)beside, &out);
      else
        out.n = 0, out.why[0] = '\0';
      print_samples(&out, applies, wtl_price_besides[beside]);
      known->median_s[m->price][beside] = out.n ? samples_summary(&out).median : NAN;
    }
    putchar('}');
  }
  putchar('}');
}

static void print_how(const bench *b)
{
  fputs(",\"how\":{\"cores\":[", stdout);
  printf(b->other < 0 ? "%d" : "%d,%d", b->core, b->other);
  printf("],\"threads_of_one_core\":%s", b->one_physical ? "true" : "false");
  wtl_json_text_field(stdout, "lowpower", wtl_lowpower_name(b->lowpower), 0);
  wtl_json_text_field(stdout, "no_lowpower", b->no_lowpower, 0);
  wtl_json_number_field(stdout, "budget_s", b->budget_s, 0);
  putchar('}');
}

static void print_load(const load *before, const load *after)
{
  fputs(",\n\"load\":{", stdout);
  wtl_json_number_field(stdout, "wall_s", after->wall_s - before->wall_s, 1);
  wtl_json_number_field(stdout, "others_cores", load_others(before, after), 0);
  wtl_json_number_field(stdout, "stolen_cores", load_stolen(before, after), 0);
  putchar('}');
}

static void measure_all(bench *b, const options *o)
{
  load before = load_now(), after;
  wtl_prices known;
  printf("{\"schema\":%d,\"kind\":\"prices\",", WTL_PRICES_SCHEMA);
  wtl_prices_machine machine = print_machine();
  print_how(b);
  measure_and_print(b, o, &known);
  after = load_now();
  print_load(&before, &after);
  fputs(",\n", stdout);
  wtl_prices_print(stdout, &known, &machine);
  fputs("}\n", stdout);
}

static void took_too_long(int number)
{
  static const char text[] = "wattle-calibrate: stopped, as it took more than four times as long as planned; "
                             "is this machine overloaded?\n";
  (void)number;
  if (wtl_write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(WTL_EXIT_OSERR);
  _exit(WTL_EXIT_UNAVAILABLE);
}

static void watch_the_time(double planned_s)
{
  struct sigaction action = {.sa_handler = took_too_long};
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  alarm((unsigned)ceil(10 + 4 * planned_s));
}

int main(int argc, char **argv)
{
  options o;
  wtl_settings settings;
  char errors[4096], why[256];
  bench b = {0};
  wtl_sigpipe_outlive();
  if (!read_options(argc, argv, &o)) return fputs(usage, stderr), WTL_EXIT_USAGE;
  if (wtl_settings_parse(&settings, errors, sizeof errors) != 0) return fputs(errors, stderr), WTL_EXIT_CONFIG;
  if (o.where) return print_where(&settings), fflush(stdout) == 0 ? 0 : WTL_EXIT_OSERR;
  if (o.watts) return watts_here(&settings, o.budget_s, o.progress);
  if (!wtl_lowpower_choose(settings.lowpower.number, &b.lowpower, why, sizeof why))
    return fprintf(stderr, "%s\n", why), WTL_EXIT_CONFIG;
  if (b.lowpower == WTL_LOWPOWER_NONE)
    b.no_lowpower = "this CPU has no instruction for a low-power wait, or it is turned off";
  b.budget_s = o.budget_s;
  watch_the_time(o.budget_s * WTL_PRICES * WTL_BESIDES);
  bench_start(&b);
  measure_all(&b, &o);
  return ferror(stdout) || fflush(stdout) != 0 ? WTL_EXIT_OSERR : 0;
}
