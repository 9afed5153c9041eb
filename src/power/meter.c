/* meter.c - chooses the meter, and does what all meters have in common. */
#include "power/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "power/machine/clock_domains.h"
#include "power/figure.h"
#include "power/machine/machine.h"
#include "power/meter_set.h"
#include "power/split.h"
#include "power/trace.h"

/* Why a figure of a domain was left out; the last of these that holds is the reason. */
enum left_out { NONE_LEFT_OUT, NOT_YET, NO_PROCESSES, STOOD_STILL };

static const char *const left_out_words[] = {
    [NOT_YET] = "has not advanced yet", [NO_PROCESSES] = WTL_SPLIT_NO_PROCESSES, [STOOD_STILL] = "stands still"};

/* The count of a sensor at the last mark, and the seconds covered at the mark that first had it. */
typedef struct advance {
  bool is_known;
  uint64_t uj;
  double covered_s;
} advance;

struct wtl_meter {
  wtl_meter_set set;
  wtl_machine *machine;       /* NULL: none */
  char why[2048], text[4096]; /* text: why, and what the meter left out */
  const wtl_sys *sys;
  double machine_cpu_s, machine_at; /* as in wtl_mark; machine_at is -INFINITY before the first reading */
  wtl_mark start, end;              /* of the interval; `end` is that of the last wtl_meter_finish */
  advance last[WTL_MAX_DOMAINS];    /* of domains with a sensor */
  enum left_out left_out[WTL_MAX_DOMAINS];
  size_t n_nested;
  wattle_joules_t nested[WTL_MAX_DOMAINS]; /* of the last wtl_meter_finish */
  wtl_power_trace *trace;                  /* NULL: none */
};

/* Adds one line to the reasons: why a kind was not used, and how access is granted. */
static void add_reason(wtl_meter *m, const char *kind, const char *why, const char *grant)
{
  size_t used = strlen(m->why);
  if (!*why) return;
  snprintf(m->why + used, sizeof m->why - used, "%s%s: %s%s%s", used ? "; " : "", kind, why,
           *grant ? ". To grant it: " : "", grant);
  for (char *p = m->why; *p; p++)
    if (*p == '\n') *p = ';';
}

/* Counts the packages among domains of which one part can be read. Dies of one package count once. */
static size_t readable_packages(const wtl_domain *domain, size_t n)
{
  size_t packages = 0;
  for (size_t i = 0; i < n; i++) {
    bool is_first = true;
    if (domain[i].scope != WATTLE_SCOPE_PACKAGE || domain[i].nested || !domain[i].available) continue;
    if (strncmp(domain[i].name, "package-", 8) != 0) return 0; /* a domain for all packages */
    for (size_t k = 0; k < i && is_first; k++)
      is_first = !domain[k].available || strncmp(domain[k].name, "package-", 8) != 0 ||
                 atoi(domain[k].name + 8) != atoi(domain[i].name + 8);
    packages += is_first;
  }
  return packages;
}

void *wtl_meter_open_kind(const wtl_meter_ops *kind, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                          size_t grant_size)
{
  wtl_domain domain[WTL_MAX_DOMAINS];
  void *state = kind->open(env, why, why_size, grant, grant_size);
  size_t n = state && kind->measures ? kind->domains(state, domain) : 0;
  size_t readable = readable_packages(domain, n), all = readable > 0 ? wtl_cpu_packages(env->sys, env->sysfs) : 0;
  size_t used = strlen(why);
  if (readable < all)
    snprintf(why + used, why_size - used, "%sonly %zu of %zu packages can be read", used ? "; " : "", readable, all);
  return state;
}

/* Does an open meter read the processors, or the node with them? */
static bool has_processors(const wtl_meter_ops *kind, void *state)
{
  wtl_domain domain[WTL_MAX_DOMAINS];
  bool found = !kind->measures;
  size_t n = found ? 0 : kind->domains(state, domain);
  for (size_t i = 0; i < n && !found; i++)
    found = !domain[i].nested && domain[i].available && domain[i].scope != WATTLE_SCOPE_DEVICE;
  return found;
}

/* The meter that the settings ask for: one kind, or in `auto` the best one. Returns NULL if it cannot be opened. */
static void *open_main(wtl_meter *m, const wtl_meter_ops *kind, const wtl_meter_env *env)
{
  char why[1024] = "", grant[1024] = "";
  bool is_auto = env->settings->meter.number == WTL_METER_AUTO;
  void *state = wtl_meter_open_kind(kind, env, why, sizeof why, grant, sizeof grant);
  /* In `auto`, a sensor of another kind of machine is not mentioned, unless a permission would help. */
  bool is_other_machines =
      is_auto && (kind == &wtl_meter_perf || kind == &wtl_meter_cray || kind == &wtl_meter_hwmon ||
                  kind == &wtl_meter_nvml || (kind == &wtl_meter_redfish && !*env->settings->redfish.text));
  if (state || *grant || !is_other_machines) add_reason(m, kind->name, why, grant);
  return state;
}

/* Opens a kind beside the main one. Missing accelerators are mentioned, and a controller that was asked for. */
static void *open_beside(wtl_meter *m, const wtl_meter_ops *kind, const wtl_meter_env *env)
{
  char why[1024] = "", grant[1024] = "";
  void *state = wtl_meter_open_kind(kind, env, why, sizeof why, grant, sizeof grant);
  bool is_asked_for = kind == &wtl_meter_redfish && *env->settings->redfish.text;
  if (is_asked_for || (kind == &wtl_meter_nvml && (state || *grant))) add_reason(m, kind->name, why, grant);
  return state;
}

/* May this kind be used with the setting? A user who asks for one sensor gets no other one and no modelled figures. */
static bool allowed(enum wtl_meter_kind wanted, const wtl_meter_ops *kind)
{
  static const wtl_meter_ops *const asked[] = {
      [WTL_METER_POWERCAP] = &wtl_meter_powercap, [WTL_METER_PERF] = &wtl_meter_perf,
      [WTL_METER_CRAY] = &wtl_meter_cray,         [WTL_METER_HWMON] = &wtl_meter_hwmon,
      [WTL_METER_REDFISH] = &wtl_meter_redfish,   [WTL_METER_NVML] = &wtl_meter_nvml,
      [WTL_METER_MODEL] = &wtl_meter_model,       [WTL_METER_NONE] = &wtl_meter_none};
  return wanted == WTL_METER_AUTO || kind == asked[wanted] || kind == &wtl_meter_none;
}

/* Can the kind be read beside a main one? */
static bool is_beside(const wtl_meter_ops *kind)
{
  return kind == &wtl_meter_cray || kind == &wtl_meter_hwmon || kind == &wtl_meter_redfish || kind == &wtl_meter_nvml;
}

/*
 * Opens the meters. In `auto` the best one with processors is the main one. The others are kept until it is found,
 * because the main one comes first in the set. The kind `none` always opens.
 */
static void open_all(wtl_meter *m, const wtl_meter_env *env)
{
  enum wtl_meter_kind wanted = (enum wtl_meter_kind)env->settings->meter.number;
  struct {
    const wtl_meter_ops *kind;
    void *state;
  } beside[WTL_METER_SET_MOST];
  size_t n = 0;
  for (size_t i = 0; wtl_meter_kinds[i]; i++) {
    const wtl_meter_ops *kind = wtl_meter_kinds[i];
    bool has_main = m->set.n > 0;
    if (!allowed(wanted, kind) || (has_main && (wanted != WTL_METER_AUTO || !is_beside(kind)))) continue;
    void *state = has_main ? open_beside(m, kind, env) : open_main(m, kind, env);
    if (!state) continue;
    if (!has_main && (wanted != WTL_METER_AUTO || has_processors(kind, state))) {
      wtl_meter_set_add(&m->set, kind, state);
    } else if (n < WTL_METER_SET_MOST) {
      beside[n].kind = kind;
      beside[n++].state = state;
    } else {
      kind->close(state);
    }
  }
  for (size_t i = 0; i < n; i++) wtl_meter_set_add(&m->set, beside[i].kind, beside[i].state);
}

wtl_meter *wtl_meter_open_with(const wtl_settings *settings, const wtl_sys *sys, char *error, size_t size)
{
  wtl_meter *m = calloc(1, sizeof *m);
  if (!m) {
    snprintf(error, size, "meter: out of memory");
    return NULL;
  }
  m->sys = sys;
  m->machine_at = -INFINITY;
  wtl_settings without;
  if (settings->meter.number != WTL_METER_NONE &&
      !(m->machine = wtl_machine_load(settings->machine.text, settings->sysfs.text, error, size))) {
    if (!wtl_machine_may_be_missing(settings)) return free(m), NULL;
    add_reason(m, "model", error, "");
    without = *settings;
    without.meter.number = WTL_METER_NONE;
    settings = &without; /* the kind none keeps nothing of it */
  }
  open_all(m, &(wtl_meter_env){.sysfs = settings->sysfs.text, .sys = sys, .machine = m->machine, .settings = settings});
  wtl_meter_start(m);
  return m;
}

wtl_meter *wtl_meter_open(const wtl_settings *settings, char *error, size_t size)
{
  return wtl_meter_open_with(settings, &wtl_sys_real, error, size);
}

void wtl_meter_close(wtl_meter *m)
{
  if (!m) return;
  wtl_power_trace_free(m->trace);
  wtl_meter_set_close(&m->set);
  wtl_machine_free(m->machine);
  free(m);
}

const char *wtl_meter_name(const wtl_meter *m)
{
  return m->set.name;
}

const char *wtl_meter_why(wtl_meter *m)
{
  char left_out[sizeof m->text - sizeof m->why - 64] = "";
  wtl_meter_set_remark(&m->set, left_out, sizeof left_out);
  for (size_t d = 0; d < m->set.n_domains; d++) {
    size_t used = strlen(left_out);
    if (m->left_out[d] == NONE_LEFT_OUT || (m->left_out[d] == NOT_YET && m->last[d].uj > 0)) continue;
    snprintf(left_out + used, sizeof left_out - used, "%s%s%s %s", used ? "; " : "", m->set.domain[d].name,
             m->left_out[d] == NO_PROCESSES ? ":" : "", left_out_words[m->left_out[d]]);
  }
  if (!*left_out) return m->why;
  snprintf(m->text, sizeof m->text, "%s%s%s", m->why, *m->why ? "; " : "", left_out);
  return m->text;
}

const wtl_machine *wtl_meter_machine(const wtl_meter *m)
{
  return m->set.member[0].kind == &wtl_meter_none ? NULL : m->machine;
}

bool wtl_meter_measures(const wtl_meter *m)
{
  return m->set.member[0].kind->measures;
}

size_t wtl_meter_domains(const wtl_meter *m, wtl_domain out[WTL_MAX_DOMAINS])
{
  memcpy(out, m->set.domain, m->set.n_domains * sizeof *out);
  return m->set.n_domains;
}

/*
 * Reads the CPU time of all programs, which takes some 10 us and has ticks of some milliseconds, at most every
 * machine_every_s.
 */
static void read_machine(wtl_meter *m, wtl_mark *mark)
{
  static const double machine_every_s = 0.1;
  bool has_use = m->machine && (m->machine->wake || m->machine->second);
  if (has_use && !(mark->at - m->machine_at < machine_every_s)) {
    m->machine_cpu_s = wtl_os_machine_cpu_seconds();
    m->machine_at = mark->at;
  }
  mark->machine_cpu_s = has_use ? m->machine_cpu_s : NAN;
  mark->machine_at = m->machine_at;
}

/*
 * CPU seconds of other programs between two marks: the rate of all programs between the moments at which they were
 * read, less this process's own time. 0 in less than a second, in which ticks and these moments would decide.
 */
static double others_between(const wtl_mark *a, const wtl_mark *b, const wtl_activity *did)
{
  static const double least_s = 1;
  double seconds = b->machine_at - a->machine_at;
  if (!(seconds >= least_s)) return 0;
  double all = (b->machine_cpu_s - a->machine_cpu_s) / seconds * (b->at - a->at);
  return fmax(0, all - did->active_s - did->spin_s - did->yield_s);
}

/* Keeps when sensors were seen to advance. */
static void keep_advances(wtl_meter *m, const wtl_mark *mark)
{
  for (size_t d = 0; d < m->set.n_domains; d++) {
    const wtl_point *p = &mark->point[d];
    if (!wtl_meter_set_measures(&m->set, d) || isnan(p->good_at)) continue;
    if (p->uj != m->last[d].uj || !m->last[d].is_known) m->last[d] = (advance){true, p->uj, p->covered_s};
  }
}

void wtl_meter_mark(wtl_meter *m, wtl_mark *mark)
{
  mark->at = m->sys->now(m->sys->arg);
  read_machine(m, mark);
  wtl_activity_now(&mark->account);
  wtl_meter_set_read(&m->set, mark);
  keep_advances(m, mark);
}

/*
 * No package, memory, node or accelerator draws 0 W for this long. Such a sensor does not work: some virtual machines
 * have them, many platforms a dram or psys zone that stands still, and a socket without memory has nothing to count.
 * A part of a package may draw 0 W. A sensor that has not advanced since the meter was opened may be one of them, too,
 * so a shorter interval is no 0 either, unless the sensor's own watts say that it works. In a gap nothing was counted,
 * and the half-width has what may have been drawn.
 */
static const double zero_limit_s = 0.5;

/* Leaves out a figure of a sensor that does not work, or is not known to work. Its source then has the reason. */
static void reject_zero(wtl_meter *m, size_t d, const wtl_point *end, wattle_joules_t *f)
{
  const wtl_domain *domain = &m->set.domain[d];
  if (domain->scope == WATTLE_SCOPE_CORE || domain->scope == WATTLE_SCOPE_PROCESS) return;
  if (f->provenance != WATTLE_MEASURED || f->joules > 0 || !(f->covered_s > 0)) return;
  bool stands_still = f->covered_s >= zero_limit_s || end->covered_s - m->last[d].covered_s >= zero_limit_s;
  bool may_work = end->uj > 0 || end->watts > 0;
  if (!stands_still && may_work) return;
  enum left_out why = stands_still ? STOOD_STILL : NOT_YET;
  wattle_joules_t was = *f;
  wtl_figure_none(f, domain->name, domain->scope, was.interval_s);
  f->nested = was.nested;
  snprintf(f->source, sizeof f->source, "%.70s %s", was.source, left_out_words[why]);
  if (why > m->left_out[d]) m->left_out[d] = why;
}

size_t wtl_meter_between(wtl_meter *m, const wtl_mark *a, const wtl_mark *b, double extra_bytes, wattle_joules_t *out,
                         double *random)
{
  wtl_activity did;
  wtl_activity_between(&a->account, &b->account, &did);
  did.bytes += extra_bytes;
  if (m->machine) wtl_model_cores(m->machine, b->at - a->at, others_between(a, b, &did), &did, 1);
  for (size_t d = 0; d < m->set.n_domains; d++) random[d] = 0;
  wtl_meter_set_between(&m->set, a, b, &did, out, random);
  for (size_t d = 0; d < m->set.n_domains; d++) reject_zero(m, d, &b->point[d], &out[d]);
  return m->set.n_domains;
}

void wtl_meter_start(wtl_meter *m)
{
  wtl_meter_mark(m, &m->start);
  wtl_meter_set_start_use(&m->set);
}

void wtl_meter_start_next(wtl_meter *m)
{
  m->start = m->end;
  wtl_meter_set_start_use(&m->set);
}

/* Nested domains of cores are left out, because their package has a trace. The node or a GPU may be nested, too. */
static bool is_traced(const wtl_meter *m, size_t d)
{
  wattle_scope_t scope = m->set.domain[d].scope;
  if (!wtl_meter_set_measures(&m->set, d) || scope == WATTLE_SCOPE_PROCESS || scope == WATTLE_SCOPE_CORE) return false;
  return !m->set.domain[d].nested || scope == WATTLE_SCOPE_NODE || scope == WATTLE_SCOPE_DEVICE;
}

static void read_set(void *set, wtl_mark *mark)
{
  wtl_meter_set_read(set, mark);
}

void wtl_meter_trace(wtl_meter *m, double every_s)
{
  static const double least_s = 1e-3;
  bool wanted[WTL_MAX_DOMAINS];
  if (!m->sys->background || m->trace || !(every_s > 0)) return;
  for (size_t d = 0; d < m->set.n_domains; d++) wanted[d] = is_traced(m, d);
  m->trace = wtl_power_trace_make(wanted, m->set.n_domains, fmax(every_s, least_s));
  if (m->trace) wtl_power_trace_start(m->trace, read_set, &m->set);
}

size_t wtl_meter_watts(const wtl_meter *m, size_t d, const char **name, const wtl_watts **point)
{
  *name = d < m->set.n_domains ? m->set.domain[d].name : "";
  return wtl_power_trace_points(m->trace, d, point);
}

/* A figure of a node, and how it is divided. */
typedef struct division {
  enum { BY_MODEL, BY_USE, MODELLED } how; /* BY_MODEL, BY_USE: a sensor's figure; MODELLED: the sum of its parts */
  enum wtl_part part;
  size_t domain; /* of BY_USE: the accelerator's domain in the set */
} division;

/*
 * Reads the node's joules from sensors: the domains that no other domain contains. Keeps the others in m->nested.
 * Returns whether the model must add DRAM, because sensors cover the processors and not their memory.
 */
static bool measured_node(wtl_meter *m, const wtl_mark *now, division *by, size_t *n, wattle_joules_t *node)
{
  wattle_joules_t all[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  bool has_processors = false, has_dram = false;
  wtl_meter_between(m, &m->start, now, 0, all, random);
  m->n_nested = 0;
  for (size_t d = 0; d < m->set.n_domains; d++) {
    const wtl_domain *domain = &m->set.domain[d];
    bool is_accelerator = domain->scope == WATTLE_SCOPE_DEVICE;
    if (domain->nested) m->nested[m->n_nested++] = all[d];
    if (domain->nested || !wtl_meter_set_measures(&m->set, d) || *n == WTL_MAX_DOMAINS) continue;
    has_processors |= !is_accelerator;
    has_dram |= !is_accelerator && domain->part != WTL_PART_CPU;
    node[*n] = all[d];
    by[(*n)++] = (division){is_accelerator ? BY_USE : BY_MODEL, domain->part, d};
  }
  return has_processors && !has_dram;
}

size_t wtl_meter_nested(const wtl_meter *m, wattle_joules_t *out)
{
  memcpy(out, m->nested, m->n_nested * sizeof *out);
  return m->n_nested;
}

/* Computes by the model what the idle node and each PE drew in one part: [0] idle, [1 + i] PE i. */
static void model_part(const wtl_meter *m, enum wtl_part part, double wall_s, const wtl_activity *pe, size_t n,
                       wattle_joules_t *out)
{
  for (size_t i = 0; i <= n; i++) {
    wattle_joules_t both[2];
    if (i == 0)
      wtl_model_idle(m->machine, wall_s, both);
    else
      wtl_model_pe(m->machine, &pe[i - 1], both);
    out[i] = both[part == WTL_PART_DRAM];
    if (part != WTL_PART_NODE) continue;
    out[i].joules += both[1].joules;
    out[i].uncertainty += both[1].uncertainty;
  }
}

static size_t finish_none(double wall_s, size_t n, wattle_joules_t *node, wattle_joules_t *idle, wattle_joules_t *part)
{
  for (size_t d = 0; d < 2; d++) {
    wtl_figure_none(&node[d], d ? "dram" : "cpu", WATTLE_SCOPE_NODE, wall_s);
    idle[d] = node[d];
    for (size_t i = 0; i < n; i++) wtl_figure_none(&part[i * 2 + d], d ? "dram" : "cpu", WATTLE_SCOPE_PROCESS, wall_s);
  }
  return 2;
}

/* The PIDs of PEs, and space for what the processes of an accelerator drew. */
typedef struct users {
  int64_t *pe;
  wtl_used *used;
} users;

static void free_users(users *u)
{
  free(u->pe);
  free(u->used);
}

static bool make_users(users *u, const wtl_activity *pe, size_t n)
{
  *u = (users){malloc((n + 1) * sizeof *u->pe), malloc(WTL_USE_PROCESSES * sizeof *u->used)};
  for (size_t i = 0; u->pe && i < n; i++) u->pe[i] = pe[i].pid;
  return u->pe && u->used;
}

size_t wtl_meter_finish(wtl_meter *m, const wtl_activity *pe, size_t n, wattle_joules_t *node, wattle_joules_t *idle,
                        wattle_joules_t *part)
{
  wtl_power_trace_stop(m->trace);
  wtl_meter_mark(m, &m->end);
  double wall_s = m->end.at - m->start.at;
  wattle_joules_t *model = wtl_meter_machine(m) ? malloc((n + 1) * sizeof *model) : NULL;
  users of;
  if (!make_users(&of, pe, n) || !model) {
    free_users(&of);
    free(model);
    return finish_none(wall_s, n, node, idle, part);
  }
  division by[WTL_MAX_DOMAINS] = {{MODELLED, WTL_PART_CPU, 0}, {MODELLED, WTL_PART_DRAM, 0}};
  size_t domains = wtl_meter_measures(m) ? 0 : 2;
  bool add_dram = measured_node(m, &m->end, by, &domains, node);
  if (add_dram && domains < WTL_MAX_DOMAINS) by[domains++] = (division){MODELLED, WTL_PART_DRAM, 0};
  for (size_t d = 0; d < domains; d++) {
    if (by[d].how == BY_USE) {
      wtl_use use = {of.pe, n, of.used, wtl_meter_set_used(&m->set, by[d].domain, of.used, WTL_USE_PROCESSES)};
      wtl_split_by_use(&node[d], &use, &idle[d], &part[d], domains);
      enum left_out *why = &m->left_out[by[d].domain];
      if (use.users == WTL_USE_UNKNOWN && *why < NO_PROCESSES) *why = NO_PROCESSES;
      continue;
    }
    model_part(m, by[d].part, wall_s, pe, n, model);
    if (by[d].how == MODELLED) wtl_add_up(&model[0], &model[1], n, &node[d]);
    wtl_split(&node[d], &model[0], &model[1], n, &idle[d], &part[d], domains);
  }
  free_users(&of);
  free(model);
  return domains;
}
