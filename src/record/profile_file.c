/* profile_file.c - writes a process's profile as JSON. */
#include "record/profile_file.h"

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
#include "record/dry_run.h"
#include "record/power_file.h"
#include "record/sequence_file.h"
#include "record/served_file.h"
#include "record/timeline_file.h"

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

/* The offset of a return address in its module's file. */
static uintmax_t offset_in(const writer *w, uintptr_t addr, int module)
{
  return addr - (module >= 0 ? w->modules[module].base : 0) - 1;
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
    bool is_mark = w->self->callers.node[i] < WTL_N_PATH_MARKS;
    int module = is_mark           ? -2 - (int)w->self->callers.node[i]
                 : node.module < 0 ? node.module
                                   : module_of_node(w, &node);
    fprintf(w->f, "%s\n[%ld,%d,%ju]", i ? "," : "", wtl_caller_list_place(&w->self->callers, node.parent), module,
            is_mark ? 0 : offset_in(w, node.addr, module));
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
    fputs(i ? ",\n" : "],\"python\":[\n", w->f);
    wtl_json(w->f, "{'file':%s,'function':%s,'line':%d}", p->file ? p->file : "", p->function ? p->function : "",
             p->line);
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
    fputs(i ? ",\n" : "],\"regions\":[\n", w->f);
    wtl_json(w->f, "{'name':%s,'outer':%g,'times':%g,'time_s':%g}", name ? name : "",
             name && outer != WTL_NO_REGION ? (double)outer : -1, past ? NAN : (double)r->times,
             past ? NAN : (double)r->ticks * w->seconds_per_tick);
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
  wtl_path_node node = s->path == WTL_NO_PATH ? (wtl_path_node){s->addr, WTL_NO_PATH, -1} : node_of(w, s->path);
  int module = node.module >= 0 ? module_of_node(w, &node) : module_of(w, s->addr);
  double time_s = site_own_s(w, s) + site_wait_s(w, s), wait_s[WTL_N_STAGES];
  for (int k = 0; k < WTL_N_STAGES; k++) wait_s[k] = (double)s->wait_ticks[k] * w->seconds_per_tick;
  wtl_json(w->f, "{'addr':'0x%jx','module':%d,'offset':'0x%jx','path':%ld,'mark':%d,'call':%s,'kind':%s",
           (uintmax_t)s->addr, module, offset_in(w, s->addr, module),
           wtl_caller_list_place(&w->self->callers, node.parent), wtl_site_mark(s), call->name, kinds[call->kind]);
  wtl_json(w->f, ",'calls':%ju,'bytes':%ju,'timed_calls':%ju,'time_s':%g,'waits':%ju", s->calls, s->bytes,
           s->exact_calls + s->sampled_calls, w->scale > 0 || time_s > 0 ? time_s : NAN, s->waits);
  wtl_json(w->f, ",'wait_s':{'spin':%g,'yield':%g,'asleep':%g}", wait_s[WTL_STAGE_SPIN], wait_s[WTL_STAGE_YIELD],
           wait_s[WTL_STAGE_ASLEEP]);
  write_waited(w->f, s);
  wtl_json(w->f, ",'joules':{'cpu':%g,'dram':%g}}", w->share ? site_joules(w, s, 0) : NAN,
           w->share ? site_joules(w, s, 1) : NAN);
}

static void write_times(const writer *w)
{
  const wtl_activity *a = w->states;
  double transfer = fmin(w->transfer_s, a->active_s), wait = a->spin_s + a->yield_s + a->asleep_s, bytes[4] = {0};
  double no_core_s = w->self->past && isnan(w->self->past->no_core.until_s) ? NAN : a->no_core_s;
  double compute = a->active_s - transfer; /* rounding may leave a rest, or make it negative */
  double cpu_s = w->self->past ? w->self->past->cpu_s : wtl_os_cpu_seconds() - w->self->start_cpu_s;
  const wtl_door *door = w->self->door;
  FILE *f = w->f;
  for (uint64_t i = 0; i < w->n_sites; i++) {
    const wtl_call_info *call = wtl_record_call(w->self, w->sites[i].call);
    bytes[call->direction] += (double)w->sites[i].bytes;
  }
  if (!w->sites) bytes[WTL_DIR_PUT] = bytes[WTL_DIR_GET] = bytes[WTL_DIR_AMO] = compute = transfer = NAN;
  wtl_json(f, ",'wall_s':%g,'cpu_s':%g,'cpu_init_s':%g,'wake_s':%g,'second_s':%g", a->wall_s, cpu_s,
           w->self->start_cpu_s, w->share ? w->share->wake_s : NAN, w->share ? w->share->second_s : NAN);
  wtl_json(f, ",'state_s':{'active':%g,'spin':%g,'yield':%g,'asleep':%g,'no_core':%g}", a->active_s, a->spin_s,
           a->yield_s, a->asleep_s, no_core_s);
  wtl_json(f, ",'time_s':{'compute':%g,'transfer':%g,'wait':%g,'no_core':%g}",
           compute < 1e-12 * a->wall_s ? 0 : compute, transfer, wait, no_core_s);
  wtl_json(f, ",'bytes':{'put':%g,'get':%g,'amo':%g}", bytes[WTL_DIR_PUT], bytes[WTL_DIR_GET], bytes[WTL_DIR_AMO]);
  wtl_json(f, ",'sleeps':%ju,'rings':%ju,'rescues':%ju,'handled':%g,'wake_price_s':%g", door->sleeps, door->rings,
           door->rescues, w->self->past ? NAN : (double)door->handled,
           door->stages.learns ? door->stages.price_s : NAN);
}

static void write_cores(const writer *w)
{
  const wtl_past *past = w->self->past;
  fputs(",\"no_core\":", w->f);
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
  wtl_json(w->f, ",'wait_joules':{'cpu':%g,'dram':%g}", w->share ? joules_of(w, &waits, 0) : NAN,
           w->share ? joules_of(w, &waits, 1) : NAN);
}

static void write_pe_joules(const writer *w)
{
  const wtl_record *self = w->self;
  size_t d = w->share ? w->share->n_domains : 0;
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  fputs(",\"joules\":", w->f);
  wtl_figures_json(w->f, d ? w->share->mine : NULL, d);
  write_wait_joules(w);
  if (!w->node) {
    fputs(",\"node\":null", w->f);
    return;
  }
  fputs(",\"node\":{\"joules\":", w->f);
  wtl_figures_json(w->f, w->node->total, d);
  fputs(",\"idle\":", w->f);
  wtl_figures_json(w->f, w->node->idle, d);
  fputs(",\"nested\":", w->f);
  wtl_figures_json(w->f, nested, self->meter ? wtl_meter_nested(self->meter, nested) : 0);
  fputs(",\"others\":", w->f);
  wtl_figures_json(w->f, w->node->others, w->node->others_cpu_s > 0 ? d : 0);
  wtl_json(w->f, ",'others_cpu_s':%g},'meter':{'name':%s,'why':%s}", w->node->others_cpu_s,
           self->past ? self->past->meter : wtl_meter_name(self->meter),
           self->past ? "the job was ended" : wtl_meter_why(self->meter));
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
  wtl_json(w->f, "{'schema':4,'pe':%d,'n_pes':%d,'pid':%ld,'host':%s,'boot_id':%s,'node_number':%g", self->me, self->n,
           p->pid, p->host, p->boot_id, self->node < 0 ? NAN : self->node);
  wtl_json(w->f, ",'program':%s,'build_id':%s,'wattle_version':%s,'api':%s", p->program, build_id, WTL_VERSION,
           self->api);
}

/* Writes how a process ended that could not write its profile itself. */
static void write_end(writer *w)
{
  if (!w->self->past) return;
  const wtl_end *e = &w->self->past->end;
  wtl_json(w->f, ",'ended':{'signal':%g,'exit_code':%g,'time':%s,'realtime_s':%g,'partial':%i,'wait':",
           e->signal < 0 ? NAN : e->signal, e->exit_code < 0 ? NAN : e->exit_code, e->time, e->realtime_s,
           e->is_partial);
  int module = module_of(w, e->wait_addr);
  if (e->wait_addr)
    wtl_json(w->f, "{'addr':'0x%jx','module':%d,'offset':'0x%jx','call':%s,'for_s':%g}}", (uintmax_t)e->wait_addr,
             module, offset_in(w, e->wait_addr, module), wtl_record_call(w->self, e->wait_call)->name, e->wait_s);
  else
    fputs("null}", w->f);
}

static void write_modules(const writer *w)
{
  fputs("],\"modules\":[", w->f);
  for (size_t i = 0; i < w->n_modules; i++) {
    if (i) putc(',', w->f);
    wtl_json(w->f, "{'path':%s,'base':'0x%jx','build_id':%s}", w->modules[i].path, (uintmax_t)w->modules[i].base,
             w->modules[i].build_id);
  }
  fputs("]}\n", w->f);
}

/* One field of all rows that are in use, as a list. `field`: its offset in a row, or -1 for the number of the PE. */
static void write_rows(const writer *w, const wtl_partners *p, const char *name, long field)
{
  WTL_LOCALE_APART;
  const char *comma = "";
  double unit = field == (long)offsetof(wtl_partner, wait_ticks) ? w->seconds_per_tick : 1;
  fprintf(w->f, "%s\"%s\":[", field < 0 ? "{" : ",", name);
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
  wtl_partners p = wtl_profile_partners(w->self->profile);
  fputs(",\"partners\":", w->f);
  if (p.n) {
    write_rows(w, &p, "pe", -1);
    write_rows(w, &p, "calls", offsetof(wtl_partner, calls));
    write_rows(w, &p, "bytes", offsetof(wtl_partner, bytes));
    write_rows(w, &p, "wait_s", offsetof(wtl_partner, wait_ticks));
    putc('}', w->f);
  } else {
    fputs("null", w->f);
  }
  fputs(",\"sizes\":[", w->f);
  for (int i = 0; i < p.n_sizes; i++) {
    int last = WTL_PARTNERS_SIZES;
    while (last > 0 && !p.sizes[i].count[last - 1]) last--;
    if (i) putc(',', w->f);
    wtl_json(w->f, "{'call':%s,'counts':[", wtl_record_call(w->self, p.sizes[i].call)->name);
    for (int k = 0; k < last; k++) fprintf(w->f, "%s%ju", k ? "," : "", (uintmax_t)p.sizes[i].count[k]);
    fputs("]}", w->f);
  }
  putc(']', w->f);
  wtl_partners_free(&p);
}

/* Writes which calls followed each other. It is not known of a process that was killed. */
static void write_sequence(const writer *w)
{
  if (w->self->past || !w->sites) return;
  fputs(",\"sequence\":", w->f);
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
  fputs(",\"served\":", w->f);
  wtl_record_write_served(w->f, &w->served, &prices);
}

/* Writes a part of the file that another room knows. Without it the file has null, or nothing unless `always`. */
static void write_part(const writer *w, const char *name, bool always, void (*part)(FILE *f, const void *arg),
                       const void *arg)
{
  if (!part && !always) return;
  fprintf(w->f, ",\"%s\":%s", name, part ? "" : "null");
  if (part) part(w->f, arg);
}

/* Writes the modelled saving if the knob only recorded its changes. */
static void write_recorded(const writer *w)
{
  wtl_activity ran;
  wattle_joules_t would, saved;
  if (!w->share || w->self->settings->meter.number == WTL_METER_NONE || !wtl_record_noted(w->self, &ran)) return;
  bool known = wtl_dry_run_joules(w->self->noted_prices, &ran, &would, &saved);
  fputs(",\"recorded\":{\"joules\":", w->f);
  wtl_figures_json(w->f, &would, 1);
  fputs(",\"saved\":", w->f);
  wtl_figures_json(w->f, &saved, 1);
  wtl_json(w->f, ",'why':%s}", known ? "" : "the machine profile knows one clock only");
}

/* Writes the counts that WATTLE_COUNTERS asked for. */
static void write_counts(const writer *w)
{
  if (w->self->operations.sys) {
    fputs(",\"operations\":", w->f);
    wtl_operations_write(&w->self->operations, w->f);
  }
  if (w->self->interfaces.sysfs) {
    fputs(",\"interfaces\":", w->f);
    wtl_interfaces_write(&w->self->interfaces, w->f);
  }
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
  const wtl_record *self = w->self;
  write_identity(w);
  write_end(w);
  write_times(w);
  write_cores(w);
  write_pe_joules(w);
  write_part(w, "network", true, self->write_network, self->network);
  write_part(w, "mpi", false, self->write_mpi, self->settings->sysfs.text);
  write_partners(w);
  write_sequence(w);
  write_served(w);
  write_part(w, "clocks", true, self->write_clocks, self->clocks);
  write_part(w, "passed", false, self->write_passed, NULL);
  write_recorded(w);
  write_counts(w);
  write_part(w, "transfers", false, self->write_transfers, self->transfers);
  wtl_json(w->f, ",'waited_from_s':%g,'sites':[", (double)(1ull << self->door->waited_shift) * w->seconds_per_tick);
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
