/* machine.c - finds the machine profile: by file, by name, or by the CPU in a file's rules or in the table of CPUs. */
#include "power/machine/machine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/regular_file.h"
#include "os/locale.h"
#include "power/machine/machine_cpu.h"

#ifndef WTL_MACHINES_DIR
#define WTL_MACHINES_DIR "/usr/local/share/wattle/machines"
#endif

enum { PROFILE_MAX = 1 << 20 }; /* bytes; a profile has one or two pages */

const char *wtl_machine_name(const wtl_machine *m)
{
  return m ? m->name : "";
}

static void free_number(wtl_number *n)
{
  if (!n) return;
  free(n->unit);
  free(n->source);
  free(n->how);
}

void wtl_machine_free(wtl_machine *m)
{
  if (!m) return;
  for (unsigned i = 0; i < m->n_match; i++) {
    free(m->match[i].vendor);
    free(m->match[i].family);
    free(m->match[i].model);
    free(m->match[i].name);
  }
  for (unsigned i = 0; m->clocks && i < m->n_clocks; i++) {
    wtl_clock *c = &m->clocks[i];
    wtl_number *const n[] = {&c->active, &c->spin, &c->yield, &c->asleep};
    for (size_t state = 0; state < 4; state++) free_number(n[state]);
  }
  wtl_number *const n[] = {m->tdp, m->wake, m->second, &m->idle.cpu, &m->idle.dram, &m->dram.per_byte};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++) free_number(n[i]);
  void *const parts[] = {m->name,   m->title,  m->about, m->match,   m->tdp, m->wake,
                         m->second, m->clocks, m->file,  m->matched, m};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
}

const char *wtl_tag_name(enum wtl_tag tag)
{
  static const char *const names[] = {"cited", "derived", "assumed"};
  return (unsigned)tag < 3 ? names[tag] : "unknown";
}

int wtl_machine_numbers(const wtl_machine *m, int (*visit)(void *, const char *, const wtl_number *), void *arg)
{
  int rc = 0;
  if (m->tdp) rc = visit(arg, "tdp", m->tdp);
  if (m->wake && !rc) rc = visit(arg, "wake", m->wake);
  if (m->second && !rc) rc = visit(arg, "second", m->second);
  if (!rc) rc = visit(arg, "idle.cpu", &m->idle.cpu);
  if (!rc) rc = visit(arg, "idle.dram", &m->idle.dram);
  if (!rc) rc = visit(arg, "dram.per_byte", &m->dram.per_byte);
  for (unsigned i = 0; i < m->n_clocks; i++) {
    const wtl_clock *c = &m->clocks[i];
    const struct {
      const char *name;
      const wtl_number *n;
    } states[] = {{"active", &c->active}, {"spin", &c->spin}, {"yield", &c->yield}, {"asleep", &c->asleep}};
    for (size_t s = 0; s < 4 && !rc; s++) {
      char key[48];
      snprintf(key, sizeof key, "clocks[%u].%s", i, states[s].name);
      rc = visit(arg, key, states[s].n);
    }
  }
  return rc;
}

static bool rule_matches(const wtl_match *r, const wtl_cpu_here *cpu)
{
  if (!r->vendor && !r->family && !r->model && !r->name) return false; /* an empty rule matches no CPU */
  return (!r->vendor || strcmp(cpu->vendor, r->vendor) == 0) && (!r->family || cpu->family == *r->family) &&
         (!r->model || cpu->model == *r->model) && (!r->name || strstr(cpu->name, r->name));
}

static bool any_matches(const wtl_match *rules, unsigned n, const char *cpuinfo)
{
  wtl_cpu_here cpu;
  wtl_cpu_here_read(cpuinfo, &cpu);
  for (unsigned i = 0; i < n; i++)
    if (rule_matches(&rules[i], &cpu)) return true;
  return false;
}

bool wtl_machine_matches(const wtl_machine *m, const char *cpuinfo)
{
  return any_matches(m->match, m->n_match, cpuinfo);
}

/* Is this a shipped profile for other CPUs? That is known without a parser. */
static bool is_for_others(const char *path, const char *text, size_t length, const char *cpuinfo)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < wtl_n_shipped_profiles; i++) {
    const wtl_shipped_profile *p = &wtl_shipped_profiles[i];
    if (strcmp(p->file, name) == 0 && p->hash == wtl_hash(WTL_HASH_NONE, text, length))
      return !any_matches(p->match, p->n_match, cpuinfo);
  }
  return false;
}

static wtl_machine *load_file(const char *path, char *error, size_t size)
{
  size_t length;
  const char *why;
  char *text = wtl_regular_file_read(path, PROFILE_MAX, &length, &why);
  if (!text) {
    snprintf(error, size, "machine profile %s: %s", path, why);
    return NULL;
  }
  wtl_machine *m = wtl_machine_parse(path, text, length, error, size);
  free(text);
  return m;
}

/* The profile of this file, if it matches the CPU. NULL with *failed for a file that is none. */
static wtl_machine *load_if_matching(const char *path, const char *cpuinfo, bool *failed, char *error, size_t size)
{
  size_t length;
  const char *why;
  char *text = wtl_regular_file_read(path, PROFILE_MAX, &length, &why);
  bool is_skipped = text && (is_for_others(path, text, length, cpuinfo) || !wtl_machine_has_parser());
  wtl_machine *m = text && !is_skipped ? wtl_machine_parse(path, text, length, error, size) : NULL;
  if (!text) snprintf(error, size, "machine profile %s: %s", path, why);
  free(text);
  *failed = !m && !is_skipped;
  if (!m || wtl_machine_matches(m, cpuinfo)) return m;
  wtl_machine_free(m);
  return NULL;
}

/*
 * Finds the installation of this library (PREFIX of PREFIX/lib/libwattle.so), so that the tree may be moved; "" if
 * unknown.
 */
static void own_prefix(char prefix[PATH_MAX])
{
  static const char marker;
  Dl_info self;
  prefix[0] = '\0';
  if (!dladdr(&marker, &self) || !realpath(self.dli_fname, prefix)) {
    prefix[0] = '\0';
    return;
  }
  for (int level = 0; level < 2; level++) {
    char *slash = strrchr(prefix, '/');
    if (slash) *slash = '\0';
  }
}

/* Appends ":dir/sub" to a path that the caller owns, unless the directory is empty or in the path already. */
static char *with_directory(char *path, const char *dir, const char *sub)
{
  char *entry = NULL, *longer = NULL;
  if (!path || !*dir || asprintf(&entry, "%s%s", dir, sub) < 0) return path;
  size_t n = strlen(entry);
  bool known = false;
  for (const char *p = path; *p && !known; p += strcspn(p, ":"), p += *p == ':')
    known = strcspn(p, ":") == n && strncmp(p, entry, n) == 0;
  if (!known && asprintf(&longer, "%s%s%s", path, *path ? ":" : "", entry) >= 0) {
    free(path);
    path = longer;
  }
  free(entry);
  return path;
}

/* Returns the directories to search, in this order, joined by ':', each once. The caller frees it. NULL: no memory. */
static char *search_path(void)
{
  static const char sub[] = "/share/wattle/machines";
  char prefix[PATH_MAX];
  const char *home = getenv("WATTLE_HOME");
  own_prefix(prefix);
  char *path = with_directory(strdup(""), home ? home : "", sub);
  path = with_directory(path, prefix, sub);
  const char *built_in = WTL_MACHINES_DIR; /* may be a list */
  for (size_t n; *built_in; built_in += n + (built_in[n] == ':')) {
    n = strcspn(built_in, ":");
    char *dir = strndup(built_in, n);
    path = with_directory(path, dir ? dir : "", "");
    free(dir);
  }
  return path;
}

/* Calls visit(arg, directory) for each directory of the path until it returns a value other than 0. */
static void each_directory(int (*visit)(void *, const char *), void *arg)
{
  char *path = search_path(), *rest = path;
  for (char *dir; rest && (dir = strsep(&rest, ":"));)
    if (*dir && visit(arg, dir) != 0) break;
  free(path);
}

typedef struct profile_search {
  const char *name;    /* search by name ... */
  const char *cpuinfo; /* ... or by CPU */
  wtl_machine *found;
  bool failed; /* `error` has the reason; the search ends */
  char *error;
  size_t size;
} profile_search;

static int find_by_name(void *arg, const char *dir)
{
  profile_search *h = arg;
  char *file = NULL;
  if (asprintf(&file, "%s/%s.yaml", dir, h->name) < 0) return 0;
  bool is_there = access(file, R_OK) == 0;
  if (is_there) {
    h->found = load_file(file, h->error, h->size);
    h->failed = !h->found;
  }
  free(file);
  return is_there;
}

static int is_profile(const struct dirent *e)
{
  size_t n = strlen(e->d_name);
  return n > 5 && e->d_name[0] != '.' && strcmp(e->d_name + n - 5, ".yaml") == 0;
}

static int find_by_cpu(void *arg, const char *dir)
{
  profile_search *h = arg;
  struct dirent **list = NULL;
  int n = scandir(dir, &list, is_profile, alphasort);
  for (int i = 0; i < n; i++) {
    char *file = NULL;
    /* A wrong profile is not skipped, because it may be the right one for this CPU. */
    if (!h->found && !h->failed && asprintf(&file, "%s/%s", dir, list[i]->d_name) >= 0) {
      h->found = load_if_matching(file, h->cpuinfo, &h->failed, h->error, h->size);
      free(file);
    }
    free(list[i]);
  }
  if (n >= 0) free(list);
  return h->found || h->failed;
}

/* The base clock, as the kernel's drivers for Intel (kHz) and AMD (MHz) show it; `shown` if they do not. */
static double base_ghz(const char *sysfs, double shown)
{
  WTL_LOCALE_APART;
  static const struct {
    const char *file;
    double per_ghz;
  } files[] = {{"devices/system/cpu/cpu0/cpufreq/base_frequency", 1e6},
               {"devices/system/cpu/cpu0/acpi_cppc/nominal_freq", 1e3}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[PATH_MAX];
    size_t length;
    const char *why;
    snprintf(path, sizeof path, "%s/%s", sysfs, files[i].file);
    char *text = wtl_regular_file_read(path, 64, &length, &why);
    double ghz = text ? strtod(text, NULL) / files[i].per_ghz : 0;
    free(text);
    if (ghz > 0 && ghz < 100) return ghz;
  }
  return shown;
}

/*
 * The machine that a profile is for. `sysfs`: NULL to use the text alone, else the files of the kernel below this
 * folder, and the clock of a busy core, count as well.
 */
typedef struct place {
  const char *cpuinfo, *sysfs;
} place;

static wtl_cpu_here here_of(const place *at)
{
  wtl_cpu_here here;
  wtl_cpu_here_read(at->cpuinfo, &here);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) here.memory_gb = (double)pages * (double)page / 1e9;
  if (!at->sysfs) return here;
  here.ghz = base_ghz(at->sysfs, here.ghz);
  wtl_cpu_here_system(at->sysfs, &here);
  if (here.is_virtual) here.clock = wtl_cpu_here_clock();
  return here;
}

static wtl_machine *load_named(const char *name, const place *at, char *error, size_t size)
{
  profile_search h = {.name = name, .error = error, .size = size};
  each_directory(find_by_name, &h);
  if (h.found || h.failed) return h.found;
  const wtl_cpu *cpu = wtl_cpu_named(name);
  if (cpu) {
    wtl_cpu_here here = here_of(at);
    return wtl_machine_of_cpu(cpu, &here, error, size);
  }
  char *path = search_path();
  snprintf(error, size,
           "no machine profile \"%s\" (looked for %s.yaml in %s, and in the table of CPUs); give \"auto\", a name that "
           "`wattle machines list` shows, or a file",
           name, name, path ? path : "?");
  free(path);
  return NULL;
}

/* The profile of this CPU: a file whose rules match, else the table of CPUs, else `unknown`. A system without a parser
 * has only the table. */
static wtl_machine *load_by_cpu(const place *at, char *error, size_t size)
{
  profile_search h = {.cpuinfo = at->cpuinfo, .error = error, .size = size};
  each_directory(find_by_cpu, &h);
  if (h.failed) return NULL;
  wtl_cpu_here here;
  const wtl_cpu *cpu = NULL;
  bool is_known = h.found;
  if (is_known) {
    wtl_cpu_here_read(at->cpuinfo, &here);
  } else {
    here = here_of(at);
    cpu = wtl_cpu_find(&here);
    if (!cpu && wtl_cpu_has_class(&here)) cpu = &wtl_any_cpu;
    h.found = cpu ? wtl_machine_of_cpu(cpu, &here, error, size)
                  : load_named("unknown", &(place){.cpuinfo = at->cpuinfo}, error, size);
  }
  if (!h.found) return NULL;
  if (is_known || cpu) h.found->matched = strdup(*here.name ? here.name : "this CPU");
  if (at->sysfs) wtl_cpu_here_power_limits(at->sysfs, h.found->limit);
  return h.found;
}

static wtl_machine *load(const char *name, const place *at, char *error, size_t size)
{
  if (!name || !*name || strcmp(name, "auto") == 0) return load_by_cpu(at, error, size);
  size_t n = strlen(name);
  bool is_file = strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".yaml") == 0);
  return is_file ? load_file(name, error, size) : load_named(name, at, error, size);
}

wtl_machine *wtl_machine_load_for(const char *name, const char *cpuinfo, char *error, size_t size)
{
  return load(name, &(place){.cpuinfo = cpuinfo ? cpuinfo : ""}, error, size);
}

wtl_machine *wtl_machine_load(const char *name, const char *sysfs, char *error, size_t size)
{
  size_t length;
  const char *why; /* 1 MiB holds more than 500 CPUs; with more, the profile is unknown */
  char *cpuinfo = wtl_regular_file_read("/proc/cpuinfo", PROFILE_MAX, &length, &why);
  wtl_machine *m = load(name, &(place){.cpuinfo = cpuinfo ? cpuinfo : "", .sysfs = sysfs}, error, size);
  free(cpuinfo);
  return m;
}

bool wtl_machine_may_be_missing(const wtl_settings *s)
{
  return s->meter.number == WTL_METER_AUTO && strcmp(s->machine.text, "auto") == 0 && !wtl_machine_has_parser();
}

size_t wtl_machine_clocks(const wtl_machine *m)
{
  return m->n_clocks;
}

double wtl_machine_clock_ghz(const wtl_machine *m, size_t clock)
{
  return clock < m->n_clocks ? m->clocks[clock].ghz : NAN;
}

size_t wtl_machine_base_clock(const wtl_machine *m)
{
  for (size_t i = 0; i < m->n_clocks; i++)
    if (m->clocks[i].base) return i;
  return 0;
}
