/* meter.c - chooses the meter, and does what all meters have in common. */
#include "power/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/clock_domains.h"
#include "power/figure.h"
#include "power/machine.h"
#include "power/split.h"

struct wtl_meter {
  const wtl_meter_ops *kind;
  void *state;
  wtl_machine *machine;       /* NULL: none */
  char why[2048], text[4096]; /* text: why, and what the meter left out */
  wtl_domain domain[WTL_MAX_DOMAINS];
  size_t n_domains;
  const wtl_sys *sys;
  wtl_mark start;
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

/*
 * Opens a kind. While searching, a sensor of another kind of machine is not mentioned, unless a permission would help.
 */
static bool open_kind(wtl_meter *m, const wtl_meter_ops *kind, const wtl_meter_env *env, bool is_searching)
{
  char why[1024] = "", grant[1024] = "";
  m->state = wtl_meter_open_kind(kind, env, why, sizeof why, grant, sizeof grant);
  bool is_other_machines =
      is_searching && (kind == &wtl_meter_perf || kind == &wtl_meter_cray || kind == &wtl_meter_hwmon ||
                       (kind == &wtl_meter_redfish && !*env->settings->redfish.text));
  if (m->state || *grant || !is_other_machines) add_reason(m, kind->name, why, grant);
  if (m->state) m->kind = kind;
  return m->state != NULL;
}

/* May this kind be used with the setting? A user who asks for one sensor gets no other one and no modelled figures. */
static bool allowed(enum wtl_meter_kind wanted, const wtl_meter_ops *kind)
{
  static const wtl_meter_ops *const asked[] = {
      [WTL_METER_POWERCAP] = &wtl_meter_powercap, [WTL_METER_PERF] = &wtl_meter_perf,
      [WTL_METER_CRAY] = &wtl_meter_cray,         [WTL_METER_HWMON] = &wtl_meter_hwmon,
      [WTL_METER_REDFISH] = &wtl_meter_redfish,   [WTL_METER_NVML] = &wtl_meter_nvml,
      [WTL_METER_MODEL] = &wtl_meter_model,       [WTL_METER_NONE] = &wtl_meter_none};
  if (wanted == WTL_METER_AUTO) return kind != &wtl_meter_nvml;
  return kind == asked[wanted] || kind == &wtl_meter_none;
}

wtl_meter *wtl_meter_open_with(const wtl_settings *settings, const wtl_sys *sys, char *error, size_t size)
{
  enum wtl_meter_kind wanted = (enum wtl_meter_kind)settings->meter.number;
  wtl_meter *m = calloc(1, sizeof *m);
  if (!m) {
    snprintf(error, size, "meter: out of memory");
    return NULL;
  }
  m->sys = sys;
  if (wanted != WTL_METER_NONE && !(m->machine = wtl_machine_load(settings->machine.text, error, size))) {
    free(m);
    return NULL;
  }
  wtl_meter_env env = {.sysfs = settings->sysfs.text, .sys = sys, .machine = m->machine, .settings = settings};
  for (size_t i = 0; wtl_meter_kinds[i] && !m->kind; i++)
    if (allowed(wanted, wtl_meter_kinds[i])) open_kind(m, wtl_meter_kinds[i], &env, wanted == WTL_METER_AUTO);
  m->n_domains = m->kind->domains(m->state, m->domain); /* the kind `none` always opens */
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
  m->kind->close(m->state);
  wtl_machine_free(m->machine);
  free(m);
}

const char *wtl_meter_name(const wtl_meter *m)
{
  return m->kind->name;
}

const char *wtl_meter_why(wtl_meter *m)
{
  char left_out[sizeof m->text - sizeof m->why - 64] = "";
  if (m->kind->remark) m->kind->remark(m->state, left_out, sizeof left_out);
  if (!*left_out) return m->why;
  snprintf(m->text, sizeof m->text, "%s%s%s: %s", m->why, *m->why ? "; " : "", m->kind->name, left_out);
  return m->text;
}

const wtl_machine *wtl_meter_machine(const wtl_meter *m)
{
  return m->kind == &wtl_meter_none ? NULL : m->machine;
}

size_t wtl_meter_domains(const wtl_meter *m, wtl_domain out[WTL_MAX_DOMAINS])
{
  memcpy(out, m->domain, m->n_domains * sizeof *out);
  return m->n_domains;
}

void wtl_meter_mark(wtl_meter *m, wtl_mark *mark)
{
  mark->at = m->sys->now(m->sys->arg);
  wtl_activity_now(&mark->account);
  m->kind->read(m->state, mark);
}

/*
 * No package, memory, node or accelerator draws 0 W for this long. Such a sensor does not work: some virtual machines
 * have them, many platforms a dram or psys zone that stands still, and a socket without memory has nothing to count.
 * A part of a package may draw 0 W.
 */
static const double zero_limit_s = 0.5;

static void reject_zero(const wtl_domain *domain, wattle_joules_t *f)
{
  if (domain->scope == WATTLE_SCOPE_CORE || domain->scope == WATTLE_SCOPE_PROCESS) return;
  if (f->provenance != WATTLE_MEASURED || f->joules > 0 || f->covered_s < zero_limit_s) return;
  int nested = f->nested;
  wtl_figure_none(f, domain->name, domain->scope, f->interval_s);
  f->nested = nested;
}

size_t wtl_meter_between(wtl_meter *m, const wtl_mark *a, const wtl_mark *b, double extra_bytes, wattle_joules_t *out,
                         double *random)
{
  wtl_activity did;
  wtl_activity_between(&a->account, &b->account, &did);
  did.bytes += extra_bytes;
  for (size_t d = 0; d < m->n_domains; d++) random[d] = 0;
  m->kind->between(m->state, a, b, &did, out, random);
  for (size_t d = 0; d < m->n_domains; d++) reject_zero(&m->domain[d], &out[d]);
  return m->n_domains;
}

void wtl_meter_start(wtl_meter *m)
{
  wtl_meter_mark(m, &m->start);
}

/*
 * Reads the node's joules from sensors: the domains that no other domain contains. *add_dram: the model must add DRAM,
 * which no sensor covers.
 */
static size_t measured_node(wtl_meter *m, const wtl_mark *now, enum wtl_part *of, bool *add_dram, wattle_joules_t *node)
{
  wattle_joules_t all[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  wtl_meter_between(m, &m->start, now, 0, all, random);
  size_t n = 0;
  *add_dram = true;
  for (size_t d = 0; d < m->n_domains; d++) {
    if (m->domain[d].nested) continue;
    of[n] = m->domain[d].part;
    if (of[n] != WTL_PART_CPU) *add_dram = false;
    node[n++] = all[d];
  }
  if (n == WTL_MAX_DOMAINS) *add_dram = false;
  return n;
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

size_t wtl_meter_finish(wtl_meter *m, const wtl_activity *pe, size_t n, wattle_joules_t *node, wattle_joules_t *idle,
                        wattle_joules_t *part)
{
  wtl_mark now;
  wtl_meter_mark(m, &now);
  double wall_s = now.at - m->start.at;
  wattle_joules_t *model = m->machine ? malloc((n + 1) * sizeof *model) : NULL;
  if (m->kind == &wtl_meter_none || !model) {
    free(model);
    return finish_none(wall_s, n, node, idle, part);
  }
  enum wtl_part of[WTL_MAX_DOMAINS] = {WTL_PART_CPU};
  bool add_dram = true;
  size_t measured = m->kind->measures ? measured_node(m, &now, of, &add_dram, node) : 0;
  size_t domains = measured;
  if (!m->kind->measures) of[domains++] = WTL_PART_CPU;
  if (add_dram) of[domains++] = WTL_PART_DRAM;
  for (size_t d = 0; d < domains; d++) {
    model_part(m, of[d], wall_s, pe, n, model);
    if (d >= measured) wtl_add_up(&model[0], &model[1], n, &node[d]);
    wtl_split(&node[d], &model[0], &model[1], n, &idle[d], &part[d], domains);
  }
  free(model);
  return domains;
}
