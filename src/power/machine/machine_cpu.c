/*
 * machine_cpu.c - makes a machine profile from the table of CPU generations.
 *
 * DESIGN. The watts of a generation are shares of TDP (cpus.h). A machine without a hypervisor shows all of its cores,
 * so it is known how many are busy:
 *
 *   idle    = TDP x share of an idle package
 *   wake    = TDP x share of the step that the first busy core causes
 *   active  = TDP x share of all cores / cores, of one thread on a core
 *   second  = TDP x share of all second threads / cores
 *
 * A virtual machine has a part of a host's threads, and the load of the other threads is not known:
 *
 *   idle    = TDP for each thread x share of an idle package x threads
 *   active  = TDP for each thread x share of one thread that computes on a host of unknown load
 *
 * TDP is that of the processor that the CPU's name tells, or that its cache tells, or that of the generation's
 * processors with many cores.
 *
 * Notebooks, desktops and smaller machines have other shares, those of their class (processor_names.h). The class is
 * that of the processor's name, else of the chassis, else of the generation.
 */
#include "power/machine/machine_cpu.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"
#include "power/machine/processor_names.h"

static const double z95 = 1.96;          /* two-sided 95 % quantile of the normal distribution */
static const double least_spread = 0.1;  /* as in tools/fit_machines.py */
static const double wake_ups_per_s = 50; /* of a thread that sleeps: the default of WATTLE_SLEEP_MAX is 20 ms */
static const double residency_of_servers = 800e-6; /* s; Linux, drivers/idle/intel_idle.c, C6 of Sapphire Rapids */

/* --- the generation and the processor ----------------------------------------------------------------------------- */

static bool in_list(int value, const int *list, int n)
{
  for (int i = 0; i < n; i++)
    if (list[i] == value) return true;
  return false;
}

static bool is_of(const wtl_cpu *cpu, const wtl_cpu_here *here)
{
  return strcmp(cpu->vendor, here->vendor) == 0 && cpu->family == here->family &&
         in_list(here->model, cpu->models, cpu->n_models) &&
         (cpu->first_stepping < 0 || here->stepping < 0 ||
          (here->stepping >= cpu->first_stepping && here->stepping <= cpu->last_stepping));
}

static const wtl_processor *processor_of(const wtl_cpu *cpu, const char *name)
{
  const wtl_processor *best = NULL;
  for (size_t i = 0; i < cpu->n_processors; i++) {
    const wtl_processor *p = &cpu->processors[i];
    if (wtl_cpu_name_has(name, p->name) && (!best || strlen(p->name) > strlen(best->name))) best = p;
  }
  return best;
}

const wtl_cpu *wtl_cpu_named(const char *name)
{
  for (size_t i = 0; i < wtl_n_cpus; i++)
    if (strcmp(wtl_cpus[i].name, name) == 0) return &wtl_cpus[i];
  return NULL;
}

static bool has_cache(const wtl_cpu *cpu, int cache_mb)
{
  for (size_t i = 0; i < cpu->n_processors; i++)
    if (cpu->n_models && cpu->processors[i].cache_mb == cache_mb) return true;
  return false;
}

/*
 * A hypervisor may show a model that the host does not have. AMX tells a newer Xeon, and the size of its cache tells
 * which one.
 */
static const wtl_cpu *hidden_xeon(int cache_mb)
{
  for (size_t i = 0; cache_mb > 0 && i < wtl_n_cpus; i++)
    if (has_cache(&wtl_cpus[i], cache_mb)) return &wtl_cpus[i];
  return wtl_cpu_named("intel-xeon-amx");
}

static bool knows_amx(const wtl_cpu *cpu)
{
  const wtl_cpu *with_amx = wtl_cpu_named("intel-xeon-amx");
  return cpu && with_amx && strstr(with_amx->basis, cpu->name);
}

/* How well the name of a CPU agrees with a generation. Desktops and servers may have the same family and model. */
static int fit_of(const wtl_cpu *cpu, const char *name)
{
  if (processor_of(cpu, name)) return 2;
  return strstr(cpu->title, "Ryzen") && strstr(name, "Ryzen") ? 1 : 0;
}

const wtl_cpu *wtl_cpu_find(const wtl_cpu_here *here)
{
  const wtl_cpu *found = NULL;
  int best = -1;
  for (size_t i = 0; i < wtl_n_cpus; i++) {
    int fit = is_of(&wtl_cpus[i], here) ? fit_of(&wtl_cpus[i], here->name) : -1;
    if (fit <= best) continue;
    best = fit;
    found = &wtl_cpus[i];
  }
  if (here->is_virtual && here->has_amx && !knows_amx(found)) return hidden_xeon(here->cache_mb);
  return found;
}

bool wtl_cpu_has_class(const wtl_cpu_here *here)
{
  wtl_named named;
  if (here->is_virtual) return false;
  const char *class = wtl_processor_named(here->name, here->model, &named) ? named.class : here->chassis;
  return wtl_machine_class_named(class) != NULL;
}

/* --- watts -------------------------------------------------------------------------------------------------------- */

/* TDP for each thread, with its spread, and the threads of a socket. */
typedef struct tdp_of_thread {
  wtl_median watts;
  double threads;
  bool is_named; /* the processor is known */
  char how[160];
} tdp_of_thread;

static tdp_of_thread of_processor(const wtl_processor *p, double threads)
{
  WTL_LOCALE_APART;
  tdp_of_thread t = {.watts = {p->tdp_w / threads, p->tdp_spread}, .threads = threads, .is_named = true};
  snprintf(t.how, sizeof t.how, "%s: TDP %g W%s over %g threads", p->name, p->tdp_w,
           p->tdp_spread > 0 ? " (not verified)" : "", threads);
  return t;
}

/* The processors of the generation with this cache; `threads` is 0 if there is none. */
static tdp_of_thread of_cache(const wtl_cpu *cpu, int cache_mb)
{
  WTL_LOCALE_APART;
  double sum = 0, squares = 0, threads = 0;
  int n = 0;
  for (size_t i = 0; cache_mb > 0 && i < cpu->n_processors; i++) {
    const wtl_processor *p = &cpu->processors[i];
    if (p->cache_mb != cache_mb) continue;
    double x = log(p->tdp_w / p->threads);
    sum += x;
    squares += x * x;
    threads += p->threads;
    n++;
  }
  if (n == 0) return (tdp_of_thread){.threads = 0};
  double mean = sum / n, spread = sqrt(fmax(0, squares / n - mean * mean));
  tdp_of_thread t = {.watts = {exp(mean), fmax(least_spread, spread)}, .threads = threads / n};
  snprintf(t.how, sizeof t.how, "the %d processors with %d MiB of cache have a TDP of %.2g W for each thread", n,
           cache_mb, exp(mean));
  return t;
}

/* Without a hypervisor the kernel shows all threads of a socket, and TDP grows with the root of the number of cores. */
static tdp_of_thread of_socket(const wtl_cpu *cpu, const wtl_cpu_here *here)
{
  WTL_LOCALE_APART;
  double cores = (double)here->cores / here->sockets, threads = (double)here->threads / here->sockets;
  double tdp = cpu->tdp_w * sqrt(cores / cpu->cores);
  tdp_of_thread t = {.watts = {tdp / threads, cpu->tdp_spread}, .threads = threads};
  snprintf(t.how, sizeof t.how, "TDP estimated from %g cores a socket: %.0f W over %g threads", cores, tdp, threads);
  return t;
}

static tdp_of_thread of_limit(const wtl_cpu_here *here)
{
  WTL_LOCALE_APART;
  double threads = (double)here->threads / here->sockets;
  tdp_of_thread t = {.watts = {here->tdp_w / threads, 0}, .threads = threads, .is_named = true};
  snprintf(t.how, sizeof t.how, "the processor states %g W over %g threads", here->tdp_w, threads);
  return t;
}

static tdp_of_thread tdp_here(const wtl_cpu *cpu, const wtl_cpu_here *here, const wtl_named *named)
{
  WTL_LOCALE_APART;
  const wtl_processor *p = processor_of(cpu, here->name);
  if (p) return of_processor(p, here->is_virtual ? p->threads : (double)here->threads / here->sockets);
  if (!here->is_virtual) {
    double threads = (double)here->threads / here->sockets;
    if (named && named->cores > 0)
      return of_processor(&(wtl_processor){.name = named->name, .tdp_w = named->tdp_w}, threads);
    return here->tdp_w > 0 ? of_limit(here) : of_socket(cpu, here);
  }
  tdp_of_thread t = of_cache(cpu, here->cache_mb);
  if (t.threads > 0) return t;
  t = (tdp_of_thread){.watts = cpu->tdp_per_thread, .threads = cpu->threads};
  snprintf(t.how, sizeof t.how, "processors with many cores have a TDP of %.2g W for each thread", t.watts.value);
  return t;
}

static wtl_median times(wtl_median a, wtl_median b)
{
  return (wtl_median){a.value * b.value, hypot(a.spread, b.spread)};
}

/* The middle and the half-width of the interval that holds 95 % of servers. `how` gets the median behind the format. */
static wtl_number number(wtl_median m, enum wtl_tag tag, const char *unit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static wtl_number number(wtl_median m, enum wtl_tag tag, const char *unit, const char *format, ...)
{
  WTL_LOCALE_APART;
  double z = z95 * m.spread;
  wtl_number n = {.value = m.value * cosh(z), .plus_minus = m.value * sinh(z), .unit = strdup(unit), .tag = tag};
  char *first = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&first, format, args) < 0) first = NULL;
  va_end(args);
  if (!first || asprintf(&n.how, "%s; middle of the 95 %% range, median %.3g %s", first, m.value, unit) < 0)
    n.how = NULL;
  free(first);
  return n;
}

static wtl_number scaled(const wtl_number *n, double factor, double more, const char *how)
{
  return (wtl_number){.value = n->value * factor,
                      .plus_minus = n->plus_minus * factor + more,
                      .unit = strdup(n->unit),
                      .tag = WTL_TAG_ASSUMED,
                      .how = strdup(how)};
}

/* A share of TDP whose mean and half-width are known, as watts; the deviations of the factors add as squares. */
static wtl_number *share_of(wtl_median tdp, wtl_mean share, wtl_median factor, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static wtl_number *share_of(wtl_median tdp, wtl_mean share, wtl_median factor, const char *format, ...)
{
  WTL_LOCALE_APART;
  wtl_number *n = calloc(1, sizeof *n);
  if (!n) return NULL;
  double own = share.value > 0 ? share.plus_minus / share.value : 0, others = z95 * hypot(tdp.spread, factor.spread);
  *n = (wtl_number){.value = tdp.value * share.value * factor.value, .unit = strdup("W"), .tag = WTL_TAG_DERIVED};
  n->plus_minus = n->value * fmin(1, hypot(own, others));
  va_list args;
  va_start(args, format);
  if (vasprintf(&n->how, format, args) < 0) n->how = NULL;
  va_end(args);
  return n;
}

/*
 * The servers that this machine is compared with. The clock narrows them only for a virtual machine, whose host is a
 * cloud's, as those servers are. It did not tell the watts of other machines (docs/appendix/machine-fit.md).
 */
static enum wtl_clock_class class_of(const wtl_cpu_here *here)
{
  return here->is_virtual ? here->clock : WTL_CLOCK_ANY;
}

static const char *clock_words(const wtl_cpu_here *here)
{
  static const char *const words[] = {"any clock", "a clock above the base clock", "the base clock"};
  return words[class_of(here)];
}

/* The watts of a thread of a virtual machine. */
static wtl_number thread_of_host(const wtl_cpu *cpu, const wtl_cpu_here *here, const tdp_of_thread *tdp)
{
  const wtl_package_shares *shares = &wtl_package_shares_of[class_of(here)];
  return number(times(times(tdp->watts, shares->vcpu), cpu->full_factor), WTL_TAG_DERIVED, "W",
                "%s; share %.2f of TDP of one thread, from %d servers at %s; factor %.2f of the generation", tdp->how,
                shares->vcpu.value, shares->servers, clock_words(here), cpu->full_factor.value);
}

/* Fills the watts of a package whose cores are all known; returns those of one thread on a core. */
static wtl_number fill_package(wtl_machine *m, const wtl_cpu *cpu, const wtl_cpu_here *here, const tdp_of_thread *tdp)
{
  const wtl_package_shares *shares = &wtl_package_shares_of[class_of(here)];
  wtl_median whole = {tdp->watts.value * tdp->threads, tdp->watts.spread}, core = shares->core;
  double cores = (double)here->cores / m->sockets;
  bool has_second = here->threads > here->cores;
  m->wake = share_of(whole, shares->wake, cpu->low_factor,
                     "%s; the first busy core wakes %.3f of TDP, from %d servers; factor %.2f of the generation",
                     tdp->how, shares->wake.value, shares->servers, cpu->low_factor.value);
  whole.value /= cores;
  if (has_second)
    m->second =
        share_of(whole, shares->second, cpu->full_factor,
                 "%s; second threads of all %g cores add %.2f of TDP, from %d servers at %s; factor %.2f", tdp->how,
                 cores, shares->second.value, shares->servers, clock_words(here), cpu->full_factor.value);
  else
    core.value += shares->second.value; /* of processors with one thread a core, all in this thread */
  return number(times(times(whole, core), cpu->full_factor), WTL_TAG_DERIVED, "W",
                "%s; one thread on each of %g cores adds %.2f of TDP, from %d servers at %s; factor %.2f of the "
                "generation",
                tdp->how, cores, core.value, shares->servers, clock_words(here), cpu->full_factor.value);
}

/*
 * The joules of a wake-up beyond its CPU time, as seconds of an active core. To enter and leave a sleep state takes as
 * much as the state saves within its target residency. A whole idle package saves the difference of the servers
 * without and with deep sleep states, which is the most that one of its cores may save.
 */
static double seconds_of_wake_up(const wtl_cpu_here *here)
{
  const wtl_package_shares *deep = &wtl_package_shares_of[WTL_CLOCK_TURBO];
  double saved = wtl_package_shares_of[WTL_CLOCK_BASE].idle.value - deep->idle.value;
  bool is_shown = here->residency_s > 0 && !here->is_virtual; /* a virtual machine shows no states of its host */
  return (is_shown ? here->residency_s : residency_of_servers) * saved / deep->core.value;
}

static void fill_clock(wtl_clock *c, const wtl_cpu_here *here, wtl_number active)
{
  c->ghz = here->ghz > 0 && here->ghz < 100 ? here->ghz : 2.5; /* the name of the only clock */
  c->base = true;
  c->active = active;
  c->spin = scaled(&c->active, 0.97, 0, "active x 0.97, the ratio of the papers' node: a spinning core touches little");
  c->yield = scaled(&c->active, 0.985, 0, "the middle of active and spin");
  c->asleep = scaled(&c->active, 0, fmin(1, wake_ups_per_s * seconds_of_wake_up(here)) * c->active.value,
                     "a blocked thread leaves its core idle, which counts for the node, and its CPU time is active; "
                     "half-width: 50 wake-ups a second (WATTLE_SLEEP_MAX), each with what a core saves in the deepest "
                     "sleep state within its target residency");
}

static void fill_idle(wtl_machine *m, const wtl_cpu *cpu, const wtl_cpu_here *here, const tdp_of_thread *tdp)
{
  const wtl_package_shares *shares = &wtl_package_shares_of[class_of(here)];
  double threads = (double)here->threads / m->sockets;
  wtl_median of_all = times(times(tdp->watts, shares->idle), cpu->idle_factor);
  of_all.value *= threads;
  m->idle.cpu =
      number(of_all, WTL_TAG_DERIVED, "W", "%s; idle share %.2f of TDP, from %d servers, and factor %.2f; %s%g threads",
             tdp->how, shares->idle.value, shares->servers, cpu->idle_factor.value,
             here->is_virtual ? "this virtual machine's part of its host: " : "", threads);
  wtl_median dram = cpu->dram_idle_w_per_gb;
  dram.value *= fmax(here->memory_gb, 1) / m->sockets;
  m->idle.dram =
      number(dram, WTL_TAG_DERIVED, "W", "%.2g W for each GB of DDR%d, from RAPL of servers with DDR4%s; %.0f GB",
             cpu->dram_idle_w_per_gb.value, cpu->ddr, cpu->ddr == 4 ? "" : " and the ratio at the wall socket",
             fmax(here->memory_gb, 1));
}

/* --- machines of other classes than servers ----------------------------------------------------------------------- */

/* The class of this machine; NULL for servers and for virtual machines, whose hosts are servers. */
static const wtl_machine_class *class_here(const wtl_cpu *cpu, const wtl_cpu_here *here, const wtl_named *named)
{
  if (here->is_virtual) return NULL;
  if (named) return wtl_machine_class_named(named->class);
  if (*here->chassis) return wtl_machine_class_named(here->chassis);
  return wtl_machine_class_named(cpu->is_desktop ? "desktop" : "server");
}

/* The shortest interval of 95 % of machines, as `shortest` of predict.py computes it. */
static wtl_number shortest(wtl_median m, const char *how)
{
  double s = fmax(m.spread, 1e-3), least = 0, most = 8 * s;
  while (most - least > 1e-9) {
    double d = (least + most) / 2, held = (erf((d - s * s) / s / sqrt(2)) + erf((d + s * s) / s / sqrt(2))) / 2;
    if (held < 0.95)
      least = d;
    else
      most = d;
  }
  double low = m.value * exp(-s * s - most), high = m.value * exp(-s * s + most);
  return (wtl_number){.value = (low + high) / 2,
                      .plus_minus = (high - low) / 2,
                      .unit = strdup("W"),
                      .tag = WTL_TAG_DERIVED,
                      .how = strdup(how)};
}

/* TDP of a socket of a machine of this class. */
static wtl_median tdp_in_class(const wtl_machine_class *class, const wtl_cpu_here *here, const wtl_named *named)
{
  if (named) return (wtl_median){named->cores ? named->tdp_w : named->tdp_w * here->cores / here->sockets, 0};
  return here->tdp_w > 0 ? (wtl_median){here->tdp_w, 0} : class->tdp;
}

/* Fills the watts of packages and memory; returns those of one thread on a core. */
static wtl_number fill_class(wtl_machine *m, const wtl_machine_class *class, const wtl_cpu_here *here,
                             const wtl_named *named, const wtl_cpu *cpu)
{
  WTL_LOCALE_APART;
  char how[512], of[128];
  wtl_median tdp = tdp_in_class(class, here, named);
  double limit = class->by_limit && named && named->limit_w > 0 ? named->limit_w : tdp.value;
  double cores = (double)here->cores / m->sockets;
  const wtl_package_shares *shares = &wtl_package_shares_of[WTL_CLOCK_ANY];
  snprintf(of, sizeof of, "%s: TDP %.4g W, limit %.4g W", named ? named->name : class->title, tdp.value, limit);
  snprintf(how, sizeof how, "%s; idle share %.2f of TDP, from readings of %d machines of the class %s", of,
           class->idle.value, class->machines, class->title);
  m->idle.cpu = shortest(times(tdp, class->idle), how);
  wtl_median dram = times(cpu->dram_idle_w_per_gb, class->dram_factor);
  dram.value *= fmax(here->memory_gb, 1) / m->sockets;
  m->idle.dram = number(dram, WTL_TAG_DERIVED, "W", "memory of servers times %.2f for the class %s; %.0f GB",
                        class->dram_factor.value, class->title, fmax(here->memory_gb, 1));
  double busy = fmax(0, limit * class->full.value - tdp.value * class->idle.value), wake = class->wake * busy;
  wtl_median full = {1, hypot(class->full.spread, tdp.spread)};
  snprintf(how, sizeof how, "%s; full load draws %.2f of it; the first busy core makes %.2f of the step", of,
           class->full.value, class->wake);
  m->wake = calloc(1, sizeof *m->wake);
  if (m->wake) *m->wake = shortest(times((wtl_median){wake, 0}, full), how);
  bool has_second = here->threads > here->cores;
  double first = has_second ? shares->core.value / (shares->core.value + shares->second.value) : 1;
  snprintf(how, sizeof how, "%s; full load draws %.2f of it, on %g cores, as readings of %d machines of the class %s",
           of, class->full.value, cores, class->machines, class->title);
  if (has_second) m->second = calloc(1, sizeof *m->second);
  if (m->second) *m->second = shortest(times((wtl_median){(busy - wake) * (1 - first) / cores, 0}, full), how);
  return shortest(times((wtl_median){(busy - wake) * first / cores, 0}, full), how);
}

static char *title_in_class(const wtl_machine_class *class, const wtl_cpu *cpu, const wtl_named *named)
{
  char *title = NULL;
  const char *name = named ? named->name : cpu->title;
  return asprintf(&title, "%s, %s, readings of %d machines", name, class->title, class->machines) < 0 ? NULL : title;
}

static bool is_complete(const wtl_machine *m)
{
  return m->name && m->title && m->about && m->file && m->clocks && m->idle.cpu.how && m->idle.dram.how &&
         m->dram.per_byte.how && m->clocks->active.how && m->clocks->asleep.how && (!m->wake || m->wake->how) &&
         (!m->second || m->second->how);
}

/*
 * The title names the part of a host that a virtual machine is, and the servers behind the watts: first those at the
 * wall socket, of this generation or of those that it is assumed to be as; then those by RAPL, which all generations
 * share. So says `wattle machines`. NULL: no memory.
 */
static char *title_of(const wtl_cpu *cpu, const wtl_cpu_here *here, const tdp_of_thread *tdp)
{
  char *title = NULL, part[96] = "";
  if (here->is_virtual)
    snprintf(part, sizeof part, ", %d of %s%.0f threads of a host's socket", here->threads,
             tdp->is_named ? "" : "about ", tdp->threads);
  bool is_assumed = strncmp(cpu->basis, "assumed", strlen("assumed")) == 0;
  int length = asprintf(&title, "%s%s%s%s, %d server%s at the wall, %d by RAPL", cpu->title, part,
                        is_assumed ? ", " : "", is_assumed ? cpu->basis : "", cpu->servers,
                        cpu->servers == 1 ? "" : "s", wtl_package_shares_of[class_of(here)].servers);
  return length < 0 ? NULL : title;
}

wtl_machine *wtl_machine_of_cpu(const wtl_cpu *cpu, const wtl_cpu_here *here, char *error, size_t size)
{
  wtl_machine *m = calloc(1, sizeof *m);
  if (m) {
    wtl_named entry, *named = NULL; /* of a whole machine only: the search takes some time */
    if (!here->is_virtual && wtl_processor_named(here->name, here->model, &entry)) named = &entry;
    const wtl_machine_class *class = class_here(cpu, here, named);
    tdp_of_thread tdp = tdp_here(cpu, here, named);
    m->name = strdup(cpu == &wtl_any_cpu && class ? class->name : cpu->name);
    m->title = class ? title_in_class(class, cpu, named) : title_of(cpu, here, &tdp);
    if (asprintf(&m->about, "From the table of CPUs: %s.", class ? class->title : cpu->basis) < 0) m->about = NULL;
    m->file = strdup("cpus.toml");
    m->table_tdp_w = class ? tdp_in_class(class, here, named).value : tdp.watts.value * tdp.threads;
    m->sockets = here->is_virtual ? 1 : (unsigned)here->sockets;
    m->cores_per_socket = (unsigned)(here->cores / (int)m->sockets);
    m->clocks = calloc(1, sizeof *m->clocks);
    m->n_clocks = 1;
    if (m->clocks)
      fill_clock(m->clocks, here,
                 class              ? fill_class(m, class, here, named, cpu)
                 : here->is_virtual ? thread_of_host(cpu, here, &tdp)
                                    : fill_package(m, cpu, here, &tdp));
    if (m->clocks) m->wake_up_j = seconds_of_wake_up(here) * m->clocks->active.value;
    if (!class) fill_idle(m, cpu, here, &tdp);
    m->dram.per_byte =
        number((wtl_median){0.2e-9, 0.6}, WTL_TAG_ASSUMED, "J/B",
               "a read and a write at 5 to 70 pJ/bit together, DDR5 to DDR3 memory, less what the caches keep");
  }
  if (m && is_complete(m)) return m;
  snprintf(error, size, "machine profile %s: out of memory", cpu->name);
  wtl_machine_free(m);
  return NULL;
}
