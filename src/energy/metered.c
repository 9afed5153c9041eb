/* metered.c - the meter of `wattle energy` and of `import wattle`. */
#include "energy/metered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/settings.h"
#include "os/floats.h"
#include "os/locale.h"
#include "os/os.h"
#include "power/figure.h"
#include "power/node_split.h"

struct wtl_metered {
  wtl_meter *meter;
  double begun, ended;                     /* s; of the interval and its last end */
  double machine_begun_s, machine_ended_s; /* CPU seconds of all programs of the machine at these moments */
  wtl_node_joules node;
};

/* The metered processes of an interval, and what each of them caused. */
typedef struct processes {
  wtl_activity *did;
  wattle_joules_t *part;
  size_t n;
} processes;

static double now_s(void)
{
  return (double)wtl_clock_ns() * 1e-9;
}

wtl_metered *wtl_metered_open(char *error, size_t size)
{
  WTL_FLOATS_APART;
  wtl_settings settings;
  if (wtl_settings_parse(&settings, error, size) != 0) return NULL;
  wtl_metered *m = calloc(1, sizeof *m);
  if (!m) snprintf(error, size, "out of memory");
  if (m && !(m->meter = wtl_meter_open(&settings, error, size))) {
    free(m);
    m = NULL;
  }
  if (m) wtl_metered_begin(m);
  return m;
}

void wtl_metered_close(wtl_metered *m)
{
  if (!m) return;
  wtl_meter_close(m->meter);
  free(m);
}

const char *wtl_metered_name(const wtl_metered *m)
{
  return wtl_meter_name(m->meter);
}

void wtl_metered_begin(wtl_metered *m)
{
  WTL_FLOATS_APART;
  m->begun = now_s();
  m->machine_begun_s = wtl_os_machine_cpu_seconds();
  wtl_meter_start(m->meter);
}

void wtl_metered_next(wtl_metered *m)
{
  m->begun = m->ended;
  m->machine_begun_s = m->machine_ended_s;
  wtl_meter_start_next(m->meter);
}

static void put_list(FILE *out, const char *key, const wattle_joules_t *list, size_t n)
{
  wtl_json_key(out, key, 0);
  wtl_figures_json(out, list, n);
}

/*
 * The model needs the bytes that a program moves, but those of this program are not counted. So modelled
 * joules of memory beyond idle are not known, and neither are those of the node.
 */
static void leave_out_bytes(wtl_node_joules *node, wattle_joules_t *part, size_t domains)
{
  for (size_t d = 0; d < domains; d++) {
    if (strcmp(part[d].domain, "dram") != 0 || part[d].provenance != WATTLE_MODELLED) continue;
    wtl_figure_none(&part[d], "dram", part[d].scope, part[d].interval_s);
    wtl_figure_none(&node->total[d], "dram", node->total[d].scope, node->total[d].interval_s);
  }
}

static void print_joules(FILE *out, wtl_metered *m, const processes *all, size_t domains)
{
  const wtl_node_joules *node = &m->node;
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  putc('{', out);
  wtl_json_text_field(out, "meter", wtl_meter_name(m->meter), 1);
  wtl_json_text_field(out, "why", wtl_meter_why(m->meter), 0);
  wtl_json_number_field(out, "interval_s", all->did[0].wall_s, 0);
  wtl_json_number_field(out, "others_cpu_s", node->others_cpu_s, 0);
  wtl_json_key(out, "parts", 0);
  for (size_t i = 0; i < all->n; i++) {
    fputs(i ? ",{\"figures\":" : "[{\"figures\":", out);
    wtl_figures_json(out, all->part + i * domains, domains);
    putc('}', out);
  }
  putc(']', out);
  put_list(out, "others", node->others, node->others_cpu_s > 0 ? domains : 0);
  put_list(out, "idle", node->idle, domains);
  put_list(out, "node", node->total, domains);
  put_list(out, "nested", nested, wtl_meter_nested(m->meter, nested));
  fputs("}\n", out);
}

/* Reads one process. Returns its end; NULL for any other text. */
static const char *read_one(const char *text, double wall_s, wtl_activity *did)
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
static bool read_processes(const char *line, double wall_s, processes *all)
{
  const char *at = line;
  all->did = calloc(strlen(line) / 2 + 1, sizeof *all->did);
  while (all->did && *at && *at != '\n') {
    if (!(at = read_one(at, wall_s, &all->did[all->n]))) return false;
    all->n++;
    at += *at == ' ';
  }
  all->part = all->n ? calloc(all->n * WTL_MAX_DOMAINS, sizeof *all->part) : NULL;
  return all->part;
}

bool wtl_metered_end(wtl_metered *m, const char *line, FILE *out)
{
  WTL_FLOATS_APART;
  processes all = {0};
  m->ended = now_s();
  bool good = read_processes(line, m->ended - m->begun, &all);
  if (good) {
    size_t domains = wtl_split_node(m->meter, m->machine_begun_s, all.did, all.n, &m->node, all.part);
    m->machine_ended_s = wtl_os_machine_cpu_seconds();
    for (size_t i = 0; i < all.n; i++) leave_out_bytes(&m->node, all.part + i * domains, domains);
    print_joules(out, m, &all, domains);
  }
  free(all.did);
  free(all.part);
  return good;
}

size_t wtl_metered_read(wtl_metered *m, const char *line, char *text, size_t size)
{
  char *made = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&made, &length);
  if (!out) return 0;
  bool good = wtl_metered_end(m, line, out);
  good = fclose(out) == 0 && good;
  if (good && length < size) memcpy(text, made, length + 1);
  free(made);
  return good ? length : 0;
}
