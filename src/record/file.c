/* file.c - writes a process's profile as JSON. */
#include "record/file.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/new_file.h"
#include "os/floats.h"
#include "os/locale.h"
#include "os/os.h"
#include "power/figure.h"
#include "profile/call_path.h"
#include "profile/kept.h"
#include "profile/modules.h"
#include "profile/python_code.h"
#include "profile/user_region.h"
#include "record/caller_list.h"
#include "record/job_folder.h"
#include "record/recorded.h"
#include "record/power_file.h"
#include "record/sequence_file.h"
#include "record/served_file.h"
#include "record/timeline_file.h"

static const char *const stage_names[WTL_N_STAGES] = {"spin", "yield", "asleep"};

typedef struct writer {
  FILE *f;
  wtl_record *self;
  const wtl_activity *states;
  const wtl_share *share;      /* NULL: the joules are not known */
  const wtl_node_joules *node; /* NULL except on the reader */
  double seconds_per_tick;
  double reading;    /* ticks_of_reading */
  double on_core;    /* the share of the time outside waits that the PE had a core */
  double transfer_s; /* in the calls of all sites, without waiting */
  double scale;      /* corrects the sites' estimated times, whose sum cannot exceed the PE's active time; 0: unknown */
  wtl_served served; /* requests of others */
  double agents_s;   /* CPU time of the library's own threads; 0: none, or not known */
  double waits_own_s, handlers_s; /* time in calls that are no transfers, and of it that of handlers for others */
  wtl_site *sites;
  uint64_t n_sites;
  wtl_module *modules;
  size_t n_modules;
} writer;

/* Returns the module of an address; -1: none. Only the process itself can look for further ones. */
static int module_of(writer *w, uintptr_t addr)
{
  if (!w->self->past) return wtl_module_of(addr, &w->modules, &w->n_modules);
  for (size_t i = 0; i < w->n_modules; i++)
    if (addr >= w->modules[i].low && addr < w->modules[i].high) return (int)i;
  return -1;
}

/* Writes the place of an address: its module and the offset in that. */
static void write_place(writer *w, uintptr_t addr, int module)
{
  uintptr_t base = module >= 0 ? w->modules[module].base : 0;
  fprintf(w->f, "\"addr\":\"0x%jx\",\"module\":%d,\"offset\":\"0x%jx\"", (uintmax_t)addr, module,
          (uintmax_t)(addr - base - 1));
}

static double site_wait_s(const writer *w, const wtl_site *s)
{
  return (double)wtl_site_waited(s) * w->seconds_per_tick;
}

/* The ticks that reading the clock adds to each timed call: the shortest of some readings in a row. */
static double ticks_of_reading(void)
{
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 64; i++) {
    uint64_t start = wtl_ticks(), ticks = wtl_ticks() - start;
    if (ticks < least) least = ticks;
  }
  return (double)least;
}

/* Seconds on a core in the calls of a site, without waiting and as estimated. A sampled call had its core throughout
 * (WTL_HELD_UP). The calls that are always timed lost the same share of their time as the PE, as far as is known.
 * Reading the clock overlaps with a short call, so at most three quarters of it are taken off. */
static double site_on_core_s(const writer *w, const wtl_site *s)
{
  double ticks = wtl_site_ticks(s), timed = s->sampled_calls ? (double)s->exact_ticks : ticks;
  double on_core = ticks - timed * (1 - w->on_core), readings = w->reading * (double)s->calls;
  return (on_core - fmin(readings, on_core * 3 / 4)) * w->seconds_per_tick;
}

/* The same, corrected. */
static double site_own_s(const writer *w, const wtl_site *s)
{
  return site_on_core_s(w, s) * w->scale;
}

/* The PE's joules of a part of its activity, by the model. */
static double joules_of(const writer *w, const wtl_activity *part, int domain)
{
  wtl_activity all = *w->states;
  all.active_s += w->agents_s; /* beside the thread that the states describe */
  double pe = wtl_record_modelled(w->share, domain, &all), share = wtl_record_share(w->share, domain);
  return pe > 0 ? share * wtl_record_modelled(w->share, domain, part) / pe : share == 0 ? 0 : NAN;
}

/* Handlers that the program's threads run are a part of calls that wait or poll, but others pay for them. */
static double part_without_handlers(const writer *w, const wtl_site *s)
{
  if (wtl_record_call(w->self, s->call)->kind == WTL_CALL_TRANSFER || !(w->waits_own_s > 0)) return 1;
  return 1 - w->handlers_s / w->waits_own_s;
}

static double site_joules(const writer *w, const wtl_site *s, int domain)
{
  double own_s = site_own_s(w, s) * part_without_handlers(w, s);
  wtl_activity a = {
      .active_s = isfinite(own_s) ? own_s : 0,
      .spin_s = (double)s->wait_ticks[WTL_STAGE_SPIN] * w->seconds_per_tick,
      .yield_s = (double)s->wait_ticks[WTL_STAGE_YIELD] * w->seconds_per_tick,
      .asleep_s = (double)s->wait_ticks[WTL_STAGE_ASLEEP] * w->seconds_per_tick,
      .bytes = (double)s->bytes,
  };
  return joules_of(w, &a, domain);
}

static wtl_path_node node_of(const writer *w, uint32_t number)
{
  return w->self->past ? w->self->past->nodes[number] : wtl_path_node_of(number);
}

/* The index of the file of a node, which may be unloaded by now; -1: no memory. */
static int module_of_node(writer *w, const wtl_path_node *node)
{
  if (w->self->past) return node->module < (int)w->n_modules ? node->module : -1;
  const wtl_module *m = wtl_path_module(node->module);
  wtl_module *grown;
  for (size_t i = 0; i < w->n_modules; i++)
    if (w->modules[i].base == m->base && strcmp(w->modules[i].path, m->path) == 0) return (int)i;
  if (!(grown = realloc(w->modules, (w->n_modules + 1) * sizeof *grown))) return -1;
  w->modules = grown;
  grown[w->n_modules] = *m;
  return (int)w->n_modules++;
}

/* Writes the nodes that sites refer to, each after its parent. */
static void write_paths(writer *w)
{
  fputs("],\"paths\":[", w->f);
  for (uint32_t i = 0; i < w->self->callers.n; i++) {
    wtl_path_node node = node_of(w, w->self->callers.node[i]);
    fputs(i ? ",\n" : "\n", w->f);
    if (w->self->callers.node[i] < WTL_N_PATH_MARKS) {
      fprintf(w->f, "[-1,%d,0]", -2 - (int)w->self->callers.node[i]);
      continue;
    }
    if (node.module < -1) {
      fprintf(w->f, "[%ld,%d,%ju]", wtl_caller_list_place(&w->self->callers, node.parent), node.module,
              (uintmax_t)node.addr - 1);
      continue;
    }
    int module = node.module < 0 ? -1 : module_of_node(w, &node);
    uintptr_t base = module >= 0 ? w->modules[module].base : 0;
    fprintf(w->f, "[%ld,%d,%ju]", wtl_caller_list_place(&w->self->callers, node.parent), module,
            (uintmax_t)(node.addr - base - 1));
  }
}

/* Writes the places of Python frames, if there are any. */
static void write_python(const writer *w)
{
  const wtl_past *past = w->self->past;
  uint32_t n = past ? past->n_places : wtl_python_places();
  while (past && n && !past->places[n - 1].file) n--;
  for (uint32_t i = 0; i < n; i++) {
    const wtl_python_place *p = past ? &past->places[i] : wtl_python_place_of(i);
    fputs(i ? ",\n{" : "],\"python\":[\n{", w->f);
    wtl_json_text_field(w->f, "file", p->file ? p->file : "", 1);
    wtl_json_text_field(w->f, "function", p->function ? p->function : "", 0);
    fprintf(w->f, ",\"line\":%d}", p->line);
  }
}

/* Writes the regions that the program marked, if there are any. */
static void write_regions(const writer *w)
{
  const wtl_past *past = w->self->past;
  uint32_t n = past ? past->n_regions : wtl_user_regions();
  while (past && n && !past->regions[n - 1].name) n--;
  for (uint32_t i = 0; i < n; i++) {
    const wtl_user_region *r = past ? NULL : wtl_user_region_of(i);
    const char *name = past ? past->regions[i].name : r->name;
    uint32_t outer = past ? past->regions[i].outer : r->outer;
    fputs(i ? ",\n{" : "],\"regions\":[\n{", w->f);
    wtl_json_text_field(w->f, "name", name ? name : "", 1);
    wtl_json_number_field(w->f, "outer", name && outer != WTL_NO_REGION ? (double)outer : -1, 0);
    wtl_json_number_field(w->f, "times", past ? NAN : (double)r->times, 0);
    wtl_json_number_field(w->f, "time_s", past ? NAN : (double)r->ticks * w->seconds_per_tick, 0);
    putc('}', w->f);
  }
}

/* Writes the calls of a site by the time that each waited. Those that never waited belong to the first class. */
static void write_waited(FILE *f, const wtl_site *s)
{
  uint64_t longer = 0;
  int last = WTL_WAITED_CLASSES - 1;
  while (last > 0 && !s->waited.count[last]) last--;
  for (int k = 1; k <= last; k++) longer += s->waited.count[k];
  if (!wtl_site_waited(s)) return;
  fprintf(f, ",\"waited\":[%ju", (uintmax_t)(s->calls > longer ? s->calls - longer : 0));
  for (int k = 1; k <= last; k++) fprintf(f, ",%u", s->waited.count[k]);
  putc(']', f);
}

static void write_site(writer *w, const wtl_site *s)
{
  static const char *const kinds[] = {"transfer", "wait", "other"};
  const wtl_call_info *call = wtl_record_call(w->self, s->call);
  FILE *f = w->f;
  wtl_path_node node = s->path == WTL_NO_PATH ? (wtl_path_node){s->addr, WTL_NO_PATH, -1} : node_of(w, s->path);
  putc('{', f);
  write_place(w, s->addr, node.module >= 0 ? module_of_node(w, &node) : module_of(w, s->addr));
  fprintf(f, ",\"path\":%ld,\"mark\":%d", wtl_caller_list_place(&w->self->callers, node.parent), wtl_site_mark(s));
  wtl_json_text_field(f, "call", call->name, 0);
  wtl_json_text_field(f, "kind", kinds[call->kind], 0);
  wtl_json_number_field(f, "calls", (double)s->calls, 0);
  wtl_json_number_field(f, "bytes", (double)s->bytes, 0);
  wtl_json_number_field(f, "timed_calls", (double)(s->exact_calls + s->sampled_calls), 0);
  double time_s = site_own_s(w, s) + site_wait_s(w, s);
  wtl_json_number_field(f, "time_s", w->scale > 0 || time_s > 0 ? time_s : NAN, 0);
  wtl_json_number_field(f, "waits", (double)s->waits, 0);
  fputs(",\"wait_s\":{", f);
  for (int k = 0; k < WTL_N_STAGES; k++) {
    wtl_json_number_field(f, stage_names[k], (double)s->wait_ticks[k] * w->seconds_per_tick, k == 0);
  }
  putc('}', f);
  write_waited(f, s);
  fputs(",\"joules\":{", f);
  wtl_json_number_field(f, "cpu", w->share ? site_joules(w, s, 0) : NAN, 1);
  wtl_json_number_field(f, "dram", w->share ? site_joules(w, s, 1) : NAN, 0);
  fputs("}}", f);
}

static void write_times(const writer *w)
{
  const wtl_activity *a = w->states;
  double transfer = fmin(w->transfer_s, a->active_s), wait = a->spin_s + a->yield_s + a->asleep_s, bytes[4] = {0};
  double no_core_s = w->self->past && isnan(w->self->past->no_core.until_s) ? NAN : a->no_core_s;
  FILE *f = w->f;
  for (uint64_t i = 0; i < w->n_sites; i++) {
    const wtl_call_info *call = wtl_record_call(w->self, w->sites[i].call);
    bytes[call->direction] += (double)w->sites[i].bytes;
  }
  wtl_json_number_field(f, "wall_s", a->wall_s, 0);
  double cpu_s = w->self->past ? w->self->past->cpu_s : wtl_os_cpu_seconds() - w->self->start_cpu_s;
  wtl_json_number_field(f, "cpu_s", cpu_s, 0);
  wtl_json_number_field(f, "cpu_init_s", w->self->start_cpu_s, 0);
  wtl_json_number_field(f, "wake_s", w->share ? w->share->wake_s : NAN, 0);
  wtl_json_number_field(f, "second_s", w->share ? w->share->second_s : NAN, 0);
  fputs(",\"state_s\":{", f);
  wtl_json_number_field(f, "active", a->active_s, 1);
  wtl_json_number_field(f, "spin", a->spin_s, 0);
  wtl_json_number_field(f, "yield", a->yield_s, 0);
  wtl_json_number_field(f, "asleep", a->asleep_s, 0);
  wtl_json_number_field(f, "no_core", no_core_s, 0);
  fputs("},\"time_s\":{", f);
  double compute = a->active_s - transfer; /* rounding may leave a rest, or make it negative */
  wtl_json_number_field(f, "compute", w->sites ? (compute > 1e-12 * a->wall_s ? compute : 0) : NAN, 1);
  wtl_json_number_field(f, "transfer", w->sites ? transfer : NAN, 0);
  wtl_json_number_field(f, "wait", wait, 0);
  wtl_json_number_field(f, "no_core", no_core_s, 0);
  fputs("},\"bytes\":{", f);
  wtl_json_number_field(f, "put", w->sites ? bytes[WTL_DIR_PUT] : NAN, 1);
  wtl_json_number_field(f, "get", w->sites ? bytes[WTL_DIR_GET] : NAN, 0);
  wtl_json_number_field(f, "amo", w->sites ? bytes[WTL_DIR_AMO] : NAN, 0);
  putc('}', f);
  wtl_json_number_field(f, "sleeps", (double)w->self->door->sleeps, 0);
  wtl_json_number_field(f, "rings", (double)w->self->door->rings, 0);
  wtl_json_number_field(f, "rescues", (double)w->self->door->rescues, 0);
  wtl_json_number_field(f, "handled", w->self->past ? NAN : (double)w->self->door->handled, 0);
  wtl_json_number_field(f, "wake_price_s", w->self->door->stages.learns ? w->self->door->stages.price_s : NAN, 0);
}

static void write_cores(const writer *w)
{
  const wtl_past *past = w->self->past;
  wtl_json_key(w->f, "no_core", 0);
  if (past)
    wtl_record_cores_write_past(&past->no_core, w->f);
  else
    wtl_record_cores_write(&w->self->cores, &w->self->door->no_core, w->states->wall_s, w->f);
}

/* The PE's joules while it waited, cpu and dram. */
static void write_wait_joules(const writer *w)
{
  wtl_activity waits = *w->states;
  waits.active_s = waits.bytes = 0;
  wtl_json_key(w->f, "wait_joules", 0);
  putc('{', w->f);
  wtl_json_number_field(w->f, "cpu", w->share ? joules_of(w, &waits, 0) : NAN, 1);
  wtl_json_number_field(w->f, "dram", w->share ? joules_of(w, &waits, 1) : NAN, 0);
  putc('}', w->f);
}

static void write_pe_joules(const writer *w)
{
  const wtl_record *self = w->self;
  size_t d = w->share ? w->share->n_domains : 0;
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  wtl_json_key(w->f, "joules", 0);
  wtl_figures_json(w->f, d ? w->share->mine : NULL, d);
  write_wait_joules(w);
  wtl_json_key(w->f, "node", 0);
  if (!w->node) {
    fputs("null", w->f);
    return;
  }
  fputs("{\"joules\":", w->f);
  wtl_figures_json(w->f, w->node->total, d);
  fputs(",\"idle\":", w->f);
  wtl_figures_json(w->f, w->node->idle, d);
  fputs(",\"nested\":", w->f);
  wtl_figures_json(w->f, nested, self->meter ? wtl_meter_nested(self->meter, nested) : 0);
  fputs(",\"others\":", w->f);
  wtl_figures_json(w->f, w->node->others, w->node->others_cpu_s > 0 ? d : 0);
  wtl_json_number_field(w->f, "others_cpu_s", w->node->others_cpu_s, 0);
  fputs("},\"meter\":{", w->f);
  wtl_json_text_field(w->f, "name", self->past ? self->past->meter : wtl_meter_name(self->meter), 1);
  wtl_json_text_field(w->f, "why", self->past ? "the job was ended" : wtl_meter_why(self->meter), 0);
  putc('}', w->f);
}

/* The boot id is the machine's. It prevents that one sensor of a machine is counted for each of its nodes. */
static void write_identity(writer *w)
{
  const wtl_record *self = w->self;
  char host[256] = "", program[4096], id[40];
  const wtl_past here = {.pid = (long)getpid(), .host = host, .boot_id = id, .program = program}, *p = self->past;
  const char *build_id = p ? p->build_id : "";
  if (!p) {
    int exe = module_of(w, getauxval(AT_PHDR)); /* by the program headers that the kernel states */
    if (exe >= 0) build_id = w->modules[exe].build_id;
    gethostname(host, sizeof host - 1);
    wtl_os_program(program, sizeof program);
    wtl_os_machine_id(id, sizeof id);
    p = &here;
  }
  fprintf(w->f, "{\"schema\":4,\"pe\":%d,\"n_pes\":%d,\"pid\":%ld", self->me, self->n, p->pid);
  wtl_json_text_field(w->f, "host", p->host, 0);
  wtl_json_text_field(w->f, "boot_id", p->boot_id, 0);
  wtl_json_number_field(w->f, "node_number", self->node < 0 ? NAN : self->node, 0);
  wtl_json_text_field(w->f, "program", p->program, 0);
  wtl_json_text_field(w->f, "build_id", build_id, 0);
  wtl_json_text_field(w->f, "wattle_version", WTL_VERSION, 0);
  wtl_json_text_field(w->f, "api", self->api, 0);
}

/* Writes how a process ended that could not write its profile itself. */
static void write_end(writer *w)
{
  if (!w->self->past) return;
  const wtl_end *e = &w->self->past->end;
  wtl_json_key(w->f, "ended", 0);
  putc('{', w->f);
  wtl_json_number_field(w->f, "signal", e->signal < 0 ? NAN : e->signal, 1);
  wtl_json_number_field(w->f, "exit_code", e->exit_code < 0 ? NAN : e->exit_code, 0);
  wtl_json_text_field(w->f, "time", e->time, 0);
  wtl_json_number_field(w->f, "realtime_s", e->realtime_s, 0);
  fprintf(w->f, ",\"partial\":%s,\"wait\":", e->is_partial ? "true" : "false");
  if (e->wait_addr) {
    putc('{', w->f);
    write_place(w, e->wait_addr, module_of(w, e->wait_addr));
    wtl_json_text_field(w->f, "call", wtl_record_call(w->self, e->wait_call)->name, 0);
    wtl_json_number_field(w->f, "for_s", e->wait_s, 0);
    putc('}', w->f);
  } else {
    fputs("null", w->f);
  }
  putc('}', w->f);
}

static void write_modules(const writer *w)
{
  fputs("],\"modules\":[", w->f);
  for (size_t i = 0; i < w->n_modules; i++) {
    if (i) putc(',', w->f);
    putc('{', w->f);
    wtl_json_text_field(w->f, "path", w->modules[i].path, 1);
    fprintf(w->f, ",\"base\":\"0x%jx\"", (uintmax_t)w->modules[i].base);
    wtl_json_text_field(w->f, "build_id", w->modules[i].build_id, 0);
    putc('}', w->f);
  }
  fputs("]}\n", w->f);
}

static void write_network(const writer *w)
{
  wtl_json_key(w->f, "network", 0);
  if (w->self->write_network)
    w->self->write_network(w->f, w->self->network);
  else
    fputs("null", w->f);
}

/* One field of all rows that are in use, as a list. `field`: its offset in a row, or -1 for the number of the PE. */
static void write_rows(const writer *w, const wtl_partners *p, const char *name, long field)
{
  WTL_LOCALE_APART;
  const char *comma = "";
  double unit = field == (long)offsetof(wtl_partner, wait_ticks) ? w->seconds_per_tick : 1;
  wtl_json_key(w->f, name, field < 0);
  putc('[', w->f);
  for (int i = 0; p->row && i < p->n; i++) {
    if (!p->row[i].calls && !p->row[i].wait_ticks) continue;
    uint64_t value = field < 0 ? (uint64_t)i : *(const uint64_t *)(const void *)((const char *)&p->row[i] + field);
    fprintf(w->f, "%s%.17g", comma, (double)value * unit);
    comma = ",";
  }
  putc(']', w->f);
}

/* Writes the counts by partner as lists of equal length, and those by size as lists of classes. */
static void write_partners(const writer *w)
{
  WTL_LOCALE_APART;
  wtl_partners p = wtl_profile_partners(w->self->profile);
  wtl_json_key(w->f, "partners", 0);
  if (p.n) {
    putc('{', w->f);
    write_rows(w, &p, "pe", -1);
    write_rows(w, &p, "calls", offsetof(wtl_partner, calls));
    write_rows(w, &p, "bytes", offsetof(wtl_partner, bytes));
    write_rows(w, &p, "wait_s", offsetof(wtl_partner, wait_ticks));
    putc('}', w->f);
  } else {
    fputs("null", w->f);
  }
  wtl_json_key(w->f, "sizes", 0);
  putc('[', w->f);
  for (int i = 0; i < p.n_sizes; i++) {
    int last = WTL_PARTNERS_SIZES;
    while (last > 0 && !p.sizes[i].count[last - 1]) last--;
    fputs(i ? ",{" : "{", w->f);
    wtl_json_text_field(w->f, "call", wtl_record_call(w->self, p.sizes[i].call)->name, 1);
    fputs(",\"counts\":[", w->f);
    for (int k = 0; k < last; k++) fprintf(w->f, "%s%.17g", k ? "," : "", (double)p.sizes[i].count[k]);
    fputs("]}", w->f);
  }
  putc(']', w->f);
  wtl_partners_free(&p);
}

/* Writes which calls followed each other. It is not known of a process that was killed. */
static void write_sequence(const writer *w)
{
  if (w->self->past || !w->sites) return;
  wtl_json_key(w->f, "sequence", 0);
  wtl_record_write_sequence(w->f, w->self->profile, w->sites, w->n_sites,
                            &(wtl_sequence_clock){w->seconds_per_tick, w->reading * w->seconds_per_tick});
}

static void write_served(const writer *w)
{
  const wtl_activity second = {.active_s = 1};
  if (!w->self->served || w->self->past) return;
  double handlers_s = wtl_served_sum(&w->served, WTL_SERVED_BY_HANDLER) * w->seconds_per_tick;
  wtl_served_prices prices = {.seconds_per_tick = w->seconds_per_tick,
                              .agents_s = w->agents_s,
                              .handlers_part = handlers_s > 0 ? w->handlers_s / handlers_s : 0};
  for (int d = 0; d < 2; d++) prices.joules_per_second[d] = w->share ? joules_of(w, &second, d) : NAN;
  wtl_json_key(w->f, "served", 0);
  wtl_record_write_served(w->f, &w->served, &prices);
}

static void write_clocks(const writer *w)
{
  wtl_json_key(w->f, "clocks", 0);
  if (w->self->write_clocks)
    w->self->write_clocks(w->f, w->self->clocks);
  else
    fputs("null", w->f);
}

/* Writes the calls that were counted only (MPI). */
static void write_passed(const writer *w)
{
  if (!w->self->write_passed) return;
  wtl_json_key(w->f, "passed", 0);
  w->self->write_passed(w->f, NULL);
}

static void write_mpi(const writer *w)
{
  if (!w->self->write_mpi) return;
  wtl_json_key(w->f, "mpi", 0);
  w->self->write_mpi(w->f, w->self->settings->sysfs.text);
}

/* Writes the modelled saving if the knob only recorded its changes. */
static void write_recorded(const writer *w)
{
  wtl_activity ran;
  wattle_joules_t would, saved;
  if (!w->share || w->self->settings->meter.number == WTL_METER_NONE || !wtl_record_noted(w->self, &ran)) return;
  bool known = wtl_recorded_joules(w->self->noted_prices, &ran, &would, &saved);
  wtl_json_key(w->f, "recorded", 0);
  fputs("{\"joules\":", w->f);
  wtl_figures_json(w->f, &would, 1);
  fputs(",\"saved\":", w->f);
  wtl_figures_json(w->f, &saved, 1);
  wtl_json_text_field(w->f, "why", known ? "" : "the machine profile knows one clock only", 0);
  putc('}', w->f);
}

/* Writes the counts that WATTLE_COUNTERS asked for. */
static void write_counts(const writer *w)
{
  if (w->self->operations.sys) {
    wtl_json_key(w->f, "operations", 0);
    wtl_operations_write(&w->self->operations, w->f);
  }
  if (w->self->interfaces.sysfs) {
    wtl_json_key(w->f, "interfaces", 0);
    wtl_interfaces_write(&w->self->interfaces, w->f);
  }
}

static void write_transfers(const writer *w)
{
  if (!w->self->write_transfers) return;
  wtl_json_key(w->f, "transfers", 0);
  w->self->write_transfers(w->f, w->self->transfers);
}

static void add_up_transfer(writer *w)
{
  double active = w->states->active_s, whole = active + w->states->no_core_s;
  w->on_core = whole > 0 ? active / whole : 1;
  for (uint64_t i = 0; i < w->n_sites; i++) {
    double s = site_on_core_s(w, &w->sites[i]);
    if (wtl_record_call(w->self, w->sites[i].call)->kind != WTL_CALL_OTHER && isfinite(s)) w->transfer_s += s;
  }
  if (w->transfer_s <= active)
    w->scale = 1;
  else /* of an active time that is only a rest of rounding the sites have no share */
    w->scale = active > 1e-9 * w->states->wall_s ? active / w->transfer_s : 0;
  for (uint64_t i = 0; i < w->n_sites; i++) {
    double s = site_own_s(w, &w->sites[i]);
    if (wtl_record_call(w->self, w->sites[i].call)->kind != WTL_CALL_TRANSFER && isfinite(s)) w->waits_own_s += s;
  }
  w->handlers_s = fmin(wtl_served_sum(&w->served, WTL_SERVED_BY_HANDLER) * w->seconds_per_tick, w->waits_own_s);
}

static void write_all(writer *w)
{
  write_identity(w);
  write_end(w);
  write_times(w);
  write_cores(w);
  write_pe_joules(w);
  write_network(w);
  write_mpi(w);
  write_partners(w);
  write_sequence(w);
  write_served(w);
  write_clocks(w);
  write_passed(w);
  write_recorded(w);
  write_counts(w);
  write_transfers(w);
  wtl_json_number_field(w->f, "waited_from_s", (double)(1ull << w->self->door->waited_shift) * w->seconds_per_tick, 0);
  fputs(",\"sites\":[", w->f);
  for (uint64_t i = 0; i < w->n_sites; i++) {
    fputs(i ? ",\n" : "\n", w->f);
    write_site(w, &w->sites[i]);
  }
  write_paths(w);
  write_python(w);
  write_regions(w);
  write_modules(w);
}

static void print(FILE *out, wtl_record *self, const wtl_share *share, const wtl_node_joules *node)
{
  wtl_activity states;
  writer w = {.f = out,
              .self = self,
              .states = &states,
              .node = node,
              .share = share,
              .reading = ticks_of_reading(),
              .seconds_per_tick = self->door->stages.ns_per_tick * 1e-9};
  if (self->past) {
    states = self->past->states;
    w.modules = self->past->modules;
    w.n_modules = self->past->n_modules;
  } else {
    wtl_user_region_settle();
    wtl_record_states(self, &states);
    wtl_no_core_stop(&self->door->no_core);
  }
  if (self->served && !self->past) {
    w.agents_s = self->served(self->network, &w.served);
    if (!isfinite(w.agents_s)) w.agents_s = 0;
  }
  w.sites = wtl_profile_merge(self->profile, self->door->waited_shift, &w.n_sites);
  wtl_caller_list_make(&self->callers, self->past ? self->past->nodes : NULL, w.sites, w.n_sites);
  add_up_transfer(&w);
  write_all(&w);
  free(w.sites);
  wtl_served_free(&w.served);
  if (!self->past) free(w.modules);
}

/* Writes the profile's file. Returns false, and reports why, if that fails. */
static bool write_file(wtl_record *self, const wtl_share *share, const wtl_node_joules *node)
{
  char path[WTL_NEW_FILE_PATH];
  wtl_new_file file;
  snprintf(path, sizeof path, "%s/pe-%05d.json", self->settings->profile_dir.text, self->me);
  bool good = wtl_new_file_open(&file, path);
  if (good) {
    print(file.out, self, share, node);
    good = wtl_new_file_close(&file);
  }
  if (!good) wtl_message_print("cannot write the profile %s: %s", path, strerror(errno));
  if (self->me == 0) wtl_record_folder_is_written(self->settings->profile_dir.text);
  return good;
}

void wtl_record_write(wtl_record *self, const wtl_share *share, const wtl_node_joules *node)
{
  WTL_FLOATS_APART;
  wtl_live_stop(self->door->live);
  self->door->live = NULL;
  self->door->kept = NULL;
  if (!*self->settings->profile_dir.text) {
    wtl_no_core_stop(&self->door->no_core);
    wtl_operations_stop(&self->operations);
    wtl_interfaces_stop(&self->interfaces);
    wtl_kept_remove(self->profile->kept);
    return;
  }
  write_file(self, share, node); /* prints why, if it cannot: a command that collects would only repeat that */
  wtl_kept_remove(self->profile->kept);
  wtl_record_write_timeline(self);
  wtl_caller_list_free(&self->callers);
  if (node) wtl_record_write_power(self); /* otherwise the meter is still being read */
}

bool wtl_record_write_past(wtl_record *self, const wtl_share *share, const wtl_node_joules *node)
{
  bool good = write_file(self, share, node);
  wtl_caller_list_free(&self->callers);
  return good;
}

void wtl_record_print_past(FILE *out, wtl_record *self, const wtl_share *share, const wtl_node_joules *node)
{
  print(out, self, share, node);
  wtl_caller_list_free(&self->callers);
}
