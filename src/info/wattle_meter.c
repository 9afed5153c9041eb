/*
 * wattle_meter.c - the program wattle-meter, which meters other programs for `wattle energy` and for `--stream`.
 *
 * It opens the node's meter, starts an interval and prints a line with the name of the meter. When it then reads a
 * line, it ends the interval and prints the joules as one line of JSON. The line has the CPU time in the interval of
 * each metered process or program: SECONDS, SECONDS~SWITCHES or SECONDS@PID, with spaces between them. SWITCHES are its
 * voluntary context switches. With a PID a process also gets the joules of the accelerators that it uses.
 *
 * With the argument `intervals` each line ends an interval and begins the next. Without it there is one. If standard
 * input ends before the first line, it exits with code 1.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/sigpipe.h"
#include "os/locale.h"
#include "os/os.h"
#include "power/figure.h"
#include "record/node_split.h"

static double now_s(void)
{
  return (double)wtl_clock_ns() * 1e-9;
}

static void put_list(const char *key, const wattle_joules_t *list, size_t n)
{
  wtl_json_key(stdout, key, 0);
  wtl_figures_json(stdout, list, n);
}

static void leave_out(wattle_joules_t *figure)
{
  wtl_figure_none(figure, "dram", figure->scope, figure->interval_s);
}

/*
 * The model needs the bytes that a program moves, but those of this program are not counted. So modelled
 * joules of memory beyond idle are not known, and neither are those of the node.
 */
static void leave_out_bytes(wtl_node_joules *node, wattle_joules_t *part, size_t domains)
{
  for (size_t d = 0; d < domains; d++) {
    if (strcmp(part[d].domain, "dram") != 0 || part[d].provenance != WATTLE_MODELLED) continue;
    leave_out(&part[d]);
    leave_out(&node->total[d]);
  }
}

/* The metered processes of an interval, and what each of them caused. */
typedef struct metered {
  wtl_activity *did;
  wattle_joules_t *part;
  size_t n;
} metered;

static void print_joules(wtl_meter *meter, const wtl_node_joules *node, const metered *all, size_t domains)
{
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  putchar('{');
  wtl_json_text_field(stdout, "meter", wtl_meter_name(meter), 1);
  wtl_json_text_field(stdout, "why", wtl_meter_why(meter), 0);
  wtl_json_number_field(stdout, "interval_s", all->did[0].wall_s, 0);
  wtl_json_number_field(stdout, "others_cpu_s", node->others_cpu_s, 0);
  wtl_json_key(stdout, "parts", 0);
  for (size_t i = 0; i < all->n; i++) {
    fputs(i ? ",{\"figures\":" : "[{\"figures\":", stdout);
    wtl_figures_json(stdout, all->part + i * domains, domains);
    putchar('}');
  }
  putchar(']');
  put_list("others", node->others, node->others_cpu_s > 0 ? domains : 0);
  put_list("idle", node->idle, domains);
  put_list("node", node->total, domains);
  put_list("nested", nested, wtl_meter_nested(meter, nested));
  puts("}");
  fflush(stdout);
}

/* Reads one SECONDS, SECONDS~SWITCHES or SECONDS@PID. Returns its end; NULL for any other text. */
static char *read_one(char *text, double wall_s, wtl_activity *did)
{
  WTL_LOCALE_APART;
  char *end;
  double seconds = strtod(text, &end), switches = 0;
  long pid = 0;
  if (end == text || !(seconds >= 0)) return NULL;
  if (*end == '~' && (switches = strtod(end + 1, &end)) < 0) return NULL;
  if (*end == '@' && (pid = strtol(end + 1, &end, 10)) <= 0) return NULL;
  *did = (wtl_activity){.wall_s = wall_s,
                        .active_s = seconds,
                        .asleep_s = fmax(0, wall_s - seconds),
                        .pid = (int64_t)pid,
                        .wake_ups = switches};
  return *end == ' ' || *end == '\n' || !*end ? end : NULL;
}

/* Reads the processes of a line. Returns false without memory, or for any other text. */
static bool read_processes(char *line, double wall_s, metered *all)
{
  char *at = line;
  all->did = calloc(strlen(line) / 2 + 1, sizeof *all->did);
  while (all->did && *at && *at != '\n') {
    if (!(at = read_one(at, wall_s, &all->did[all->n]))) return false;
    all->n++;
    at += *at == ' ';
  }
  all->part = all->n ? calloc(all->n * WTL_MAX_DOMAINS, sizeof *all->part) : NULL;
  return all->part;
}

static bool end_interval(wtl_record *record, char *line, double wall_s, wtl_node_joules *node)
{
  metered all = {0};
  bool good = read_processes(line, wall_s, &all);
  if (good) {
    size_t domains = wtl_record_split_node(record, all.did, all.n, node, all.part);
    for (size_t i = 0; i < all.n; i++) leave_out_bytes(node, all.part + i * domains, domains);
    print_joules(record->meter, node, &all, domains);
  }
  free(all.did);
  free(all.part);
  return good;
}

/* Answers each line, or the first one. Returns the exit code. */
static int answer(wtl_record *record, wtl_node_joules *node, bool intervals)
{
  char *line = NULL;
  size_t size = 0;
  bool more = true, good = false;
  double began = now_s();
  record->start_machine_s = wtl_os_machine_cpu_seconds();
  wtl_meter_start(record->meter);
  puts(wtl_meter_name(record->meter));
  fflush(stdout);
  while (more && getline(&line, &size, stdin) > 0) {
    double now = now_s();
    good = end_interval(record, line, now - began, node);
    more = good && intervals;
    began = now;
    record->start_machine_s = wtl_os_machine_cpu_seconds();
    wtl_meter_start_next(record->meter);
  }
  free(line);
  return good ? 0 : 1;
}

int main(int argc, char **argv)
{
  wtl_settings settings;
  char error[4096];
  bool intervals = argc == 2 && strcmp(argv[1], "intervals") == 0;
  wtl_sigpipe_outlive();
  if (argc > 1 + intervals) {
    fprintf(stderr, "wattle-meter: %s: expected intervals or nothing\n", argv[1 + intervals]);
    return WTL_EXIT_CONFIG;
  }
  if (wtl_settings_parse(&settings, error, sizeof error) != 0) {
    fprintf(stderr, "%s\n", error);
    return WTL_EXIT_CONFIG;
  }
  wtl_record record = {.meter = wtl_meter_open(&settings, error, sizeof error)};
  wtl_node_joules *node = calloc(1, sizeof *node);
  if (!record.meter || !node) {
    fprintf(stderr, "%s\n", record.meter ? "out of memory" : error);
    return WTL_EXIT_CONFIG;
  }
  int code = answer(&record, node, intervals);
  wtl_meter_close(record.meter);
  free(node);
  return code;
}
