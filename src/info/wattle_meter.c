/*
 * wattle_meter.c - the program wattle-meter, which meters another program for `wattle energy`.
 *
 * It opens the node's meter, starts an interval and prints a line with the name of the meter. When it then reads a line
 * with the CPU time of the metered program in seconds, it ends the interval and prints the joules as JSON. If standard
 * input ends before, it exits with code 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/sigpipe.h"
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

/*
 * The model needs the bytes that a program moves, but those of this program are not counted. So its memory joules
 * beyond idle are not known, and neither are those of the node.
 */
static void leave_out_bytes(wtl_node_joules *node, wattle_joules_t *part, size_t domains)
{
  for (size_t d = 0; d < domains; d++) {
    if (strcmp(part[d].domain, "dram") != 0) continue;
    wtl_figure_none(&part[d], "dram", part[d].scope, part[d].interval_s);
    wtl_figure_none(&node->total[d], "dram", node->total[d].scope, node->total[d].interval_s);
  }
}

static void print_joules(wtl_meter *meter, const wtl_node_joules *node, const wattle_joules_t *part, size_t domains)
{
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  putchar('{');
  wtl_json_text_field(stdout, "meter", wtl_meter_name(meter), 1);
  wtl_json_text_field(stdout, "why", wtl_meter_why(meter), 0);
  wtl_json_number_field(stdout, "others_cpu_s", node->others_cpu_s, 0);
  put_list("program", part, domains);
  put_list("others", node->others, node->others_cpu_s > 0 ? domains : 0);
  put_list("idle", node->idle, domains);
  put_list("node", node->total, domains);
  put_list("nested", nested, wtl_meter_nested(meter, nested));
  puts("}");
}

/* Reads the CPU time of the metered program. Returns NaN at the end of standard input, or for any other text. */
static double read_cpu_s(void)
{
  char line[64], *end;
  if (!fgets(line, sizeof line, stdin)) return NAN;
  double seconds = strtod(line, &end);
  return *end == '\n' && seconds >= 0 ? seconds : NAN;
}

int main(void)
{
  wtl_settings settings;
  char error[4096];
  wtl_sigpipe_outlive();
  if (wtl_settings_parse(&settings, error, sizeof error) != 0) {
    fprintf(stderr, "%s\n", error);
    return WTL_EXIT_CONFIG;
  }
  wtl_record record = {.meter = wtl_meter_open(&settings, error, sizeof error)};
  wtl_node_joules *node = calloc(1, sizeof *node);
  wattle_joules_t *part = calloc(WTL_MAX_DOMAINS, sizeof *part);
  if (!record.meter || !node || !part) {
    fprintf(stderr, "%s\n", record.meter ? "out of memory" : error);
    return WTL_EXIT_CONFIG;
  }
  double began = now_s();
  record.start_machine_s = wtl_os_machine_cpu_seconds();
  wtl_meter_start(record.meter);
  puts(wtl_meter_name(record.meter));
  fflush(stdout);
  double cpu_s = read_cpu_s();
  if (isnan(cpu_s)) return 1;
  double wall_s = now_s() - began;
  wtl_activity did = {.wall_s = wall_s, .active_s = cpu_s, .asleep_s = fmax(0, wall_s - cpu_s)};
  size_t domains = wtl_record_split_node(&record, &did, 1, node, part);
  if (!wtl_meter_measures(record.meter)) leave_out_bytes(node, part, domains);
  print_joules(record.meter, node, part, domains);
  wtl_meter_close(record.meter);
  free(node);
  free(part);
  return 0;
}
