/* prices.c - names the machine and reads its file of prices. */
#include "base/prices.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/hash.h"
#include "base/json_read.h"
#include "base/regular_file.h"

const char *const wtl_price_names[WTL_PRICES] = {
    [WTL_PRICE_SPIN_OTHER] = "spin_other",
    [WTL_PRICE_LOWPOWER_WAKE] = "lowpower_wake",
    [WTL_PRICE_LOWPOWER_LATE] = "lowpower_late",
    [WTL_PRICE_FUTEX_OTHER] = "futex_other",
    [WTL_PRICE_FUTEX_SAME] = "futex_same",
    [WTL_PRICE_EPOLL_OTHER] = "epoll_other",
    [WTL_PRICE_EPOLL_SAME] = "epoll_same",
    [WTL_PRICE_YIELD_ALONE] = "yield_alone",
    [WTL_PRICE_YIELD_TO_YIELDING] = "yield_to_yielding",
    [WTL_PRICE_YIELD_TO_COMPUTING] = "yield_to_computing",
    [WTL_PRICE_FENCE] = "fence",
    [WTL_PRICE_MEMBARRIER] = "membarrier",
    [WTL_PRICE_MEMBARRIER_PEER] = "membarrier_peer",
    [WTL_PRICE_TICKS] = "ticks",
    [WTL_PRICE_CLOCK] = "clock",
};
const char *const wtl_price_besides[WTL_BESIDES] = {"idle", "peer"};

/* Our own files have about 8 KiB. */
enum { MOST_BYTES = 64 << 10 };
/* A price outside cannot have been measured. */
static const double least_s = 1e-11, most_s = 1;

/* ---- this machine ---- */

#if defined(__x86_64__)

/* Each CPUID costs a virtual machine some microseconds, so each is called once. */
static void read_cpu(char *cpu, size_t size)
{
  unsigned brand[13] = {0}, a, b, c, d;
  const char *name = (const char *)brand;
  bool named = (unsigned)__get_cpuid_max(0x80000000, NULL) >= 0x80000004;
  for (unsigned i = 0; named && i < 3; i++)
    __cpuid(0x80000002 + i, brand[4 * i], brand[4 * i + 1], brand[4 * i + 2], brand[4 * i + 3]);
  __cpuid(1, a, b, c, d);
  name += strspn(name, " ");
  size_t n = strlen(name);
  while (n && name[n - 1] == ' ') n--;
  snprintf(cpu, size, "%.*s (%#x)", (int)n, name, a);
}

#else

static void read_cpu(char *cpu, size_t size)
{
  char line[64] = "";
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
  if (f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = '\0';
  if (f) fclose(f);
  snprintf(cpu, size, "%s", *line ? line : "unknown");
}

#endif

void wtl_prices_this_machine(wtl_prices_machine *machine)
{
  struct utsname name;
  memset(machine, 0, sizeof *machine);
  if (uname(&name) == 0) {
    snprintf(machine->host, sizeof machine->host, "%s", name.nodename);
    snprintf(machine->kernel, sizeof machine->kernel, "%s", name.release);
  }
  read_cpu(machine->cpu, sizeof machine->cpu);
  machine->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static uint64_t hash(uint64_t h, const char *text)
{
  return wtl_hash(h, text, strlen(text) + 1); /* with the NUL at the end */
}

/* Replaces all but letters, digits, '.', '-' and '_', so that the name is one component of a path. */
static void plain_host(const char *host, char *out, size_t size)
{
  size_t n = 0;
  for (; *host && n + 1 < size; host++)
    out[n++] = strchr("0123456789.-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *host) ? *host : '_';
  out[n] = '\0';
}

bool wtl_prices_file(const wtl_prices_machine *machine, char *file, size_t size, char *why, size_t why_size)
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool has_cache = cache && *cache == '/'; /* the XDG specification: relative paths are ignored */
  char cores[16], host[65];
  file[0] = '\0';
  if (!has_cache && !(home && *home == '/'))
    return snprintf(why, why_size, "there is no cache folder: neither XDG_CACHE_HOME nor HOME is an absolute path"),
           false;
  snprintf(cores, sizeof cores, "%d", machine->cores);
  plain_host(machine->host, host, sizeof host);
  uint64_t key = hash(hash(hash(0xcbf29ce484222325u, machine->cpu), machine->kernel), cores);
  int n = snprintf(file, size, "%s%s/wattle/prices-%s-%016llx.json", has_cache ? cache : home,
                   has_cache ? "" : "/.cache", host, (unsigned long long)key);
  if (n < (int)size) return true;
  file[0] = '\0';
  return snprintf(why, why_size, "the path of the cache folder is too long"), false;
}

/* ---- the file ---- */

typedef struct collected {
  wtl_prices *prices;
  double schema, cores;
  char kind[32], cpu[WTL_JSON_TEXT], kernel[WTL_JSON_TEXT];
} collected;

static void keep_text(const wtl_json_leaf *leaf, const char *path, char *to, size_t size)
{
  if (leaf->kind == WTL_JSON_IS_TEXT && strcmp(leaf->path, path) == 0) snprintf(to, size, "%s", leaf->text);
}

/* The index of the name at the start of the path, and its length with the point; -1: none of them. */
static int name_at(const char *path, const char *const *names, int count, size_t *length)
{
  *length = strcspn(path, ".");
  for (int i = 0; path[*length] && i < count; i++)
    if (strncmp(path, names[i], *length) == 0 && !names[i][*length]) return ++*length, i;
  return -1;
}

/* "prices.NAME.BESIDE.median_s" */
static double *price_at(wtl_prices *p, const char *path)
{
  static const char *const start[] = {"prices"};
  size_t length;
  if (name_at(path, start, 1, &length) < 0) return NULL;
  int price = name_at(path += length, wtl_price_names, WTL_PRICES, &length);
  if (price < 0) return NULL;
  int beside = name_at(path += length, wtl_price_besides, WTL_BESIDES, &length);
  return beside >= 0 && strcmp(path + length, "median_s") == 0 ? &p->median_s[price][beside] : NULL;
}

static void collect(void *arg, const wtl_json_leaf *leaf)
{
  collected *c = arg;
  keep_text(leaf, "kind", c->kind, sizeof c->kind);
  keep_text(leaf, "machine.cpu", c->cpu, sizeof c->cpu);
  keep_text(leaf, "machine.kernel", c->kernel, sizeof c->kernel);
  if (leaf->kind != WTL_JSON_IS_NUMBER) return;
  if (strcmp(leaf->path, "schema") == 0) c->schema = leaf->number;
  if (strcmp(leaf->path, "machine.cores") == 0) c->cores = leaf->number;
  double *price = price_at(c->prices, leaf->path);
  if (price && leaf->number >= least_s && leaf->number <= most_s) *price = leaf->number;
}

static void forget(wtl_prices *p)
{
  p->known = false;
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) p->median_s[i][k] = NAN;
}

static bool has_any(const wtl_prices *p)
{
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++)
      if (!isnan(p->median_s[i][k])) return true;
  return false;
}

static bool refuse(wtl_prices *p, const char *reason)
{
  snprintf(p->why, sizeof p->why, "%s: %s", p->file, reason);
  return false;
}

static bool is_of(const collected *c, const wtl_prices_machine *m, wtl_prices *p)
{
  if (c->schema != WTL_PRICES_SCHEMA || strcmp(c->kind, "prices") != 0)
    return refuse(p, "is not a file of prices that this version reads");
  if (strcmp(c->cpu, m->cpu) != 0 || strcmp(c->kernel, m->kernel) != 0 || c->cores != m->cores)
    return refuse(p, "was measured on another CPU, kernel or number of cores");
  return true;
}

static bool read_file(wtl_prices *p, const wtl_prices_machine *machine)
{
  collected c = {.prices = p};
  size_t length;
  char reason[128];
  const char *why;
  char *text = wtl_regular_file_read(p->file, MOST_BYTES, &length, &why);
  if (!text) return refuse(p, why);
  const char *wrong = wtl_json_read(text, length, collect, &c);
  free(text);
  snprintf(reason, sizeof reason, "is not JSON: %s", wrong ? wrong : "");
  if (wrong) return refuse(p, reason);
  return is_of(&c, machine, p) && (has_any(p) || refuse(p, "has no prices in it"));
}

void wtl_prices_read(const wtl_settings *settings, wtl_prices *p)
{
  const char *which = settings->prices.text;
  wtl_prices_machine machine;
  memset(p, 0, sizeof *p);
  forget(p);
  if (strcmp(which, "none") == 0) {
    snprintf(p->why, sizeof p->why, "WATTLE_PRICES=none");
    return;
  }
  wtl_prices_this_machine(&machine);
  if (strcmp(which, "auto") != 0)
    snprintf(p->file, sizeof p->file, "%s", which);
  else if (!wtl_prices_file(&machine, p->file, sizeof p->file, p->why, sizeof p->why))
    return;
  p->known = read_file(p, &machine);
  if (!p->known) forget(p);
}

double wtl_prices_wake(const wtl_prices *p, bool crowded, bool far)
{
  const double *same = p->median_s[far ? WTL_PRICE_EPOLL_SAME : WTL_PRICE_FUTEX_SAME];
  if (crowded) return same[isnan(same[WTL_BESIDE_PEER]) ? WTL_BESIDE_IDLE : WTL_BESIDE_PEER]; /* one core: no peer */
  return p->median_s[far ? WTL_PRICE_EPOLL_OTHER : WTL_PRICE_FUTEX_OTHER][WTL_BESIDE_IDLE];
}

double wtl_prices_turn(const wtl_prices *p)
{
  const double *there_and_back = p->median_s[WTL_PRICE_YIELD_TO_YIELDING];
  return there_and_back[isnan(there_and_back[WTL_BESIDE_PEER]) ? WTL_BESIDE_IDLE : WTL_BESIDE_PEER] / 2;
}
