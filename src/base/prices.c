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
#include "base/regular_file.h"
#include "os/locale.h"

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

static uint64_t key_of(const wtl_prices_machine *machine)
{
  char cores[16];
  snprintf(cores, sizeof cores, "%d", machine->cores);
  return hash(hash(hash(0xcbf29ce484222325u, machine->cpu), machine->kernel), cores);
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
  char host[65];
  file[0] = '\0';
  if (!has_cache && !(home && *home == '/'))
    return snprintf(why, why_size, "there is no cache folder: neither XDG_CACHE_HOME nor HOME is an absolute path"),
           false;
  plain_host(machine->host, host, sizeof host);
  int n = snprintf(file, size, "%s%s/wattle/prices-%s-%016llx.json", has_cache ? cache : home,
                   has_cache ? "" : "/.cache", host, (unsigned long long)key_of(machine));
  if (n < (int)size) return true;
  file[0] = '\0';
  return snprintf(why, why_size, "the path of the cache folder is too long"), false;
}

/* ---- the file ---- */

/* The member of the JSON that programs read: its name, the format, the machine's key, then NAME.BESIDE=SECONDS. */
static const char member[] = "\"for_programs\"", format[] = "prices 1";

void wtl_prices_print(FILE *out, const wtl_prices *p, const wtl_prices_machine *machine)
{
  WTL_LOCALE_APART;
  fprintf(out, "%s:\"%s %016llx", member, format, (unsigned long long)key_of(machine));
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++)
      if (!isnan(p->median_s[i][k]))
        fprintf(out, " %s.%s=%.9g", wtl_price_names[i], wtl_price_besides[k], p->median_s[i][k]);
  fputc('"', out);
}

/* Takes a word NAME.BESIDE=SECONDS; a name that this version does not know is skipped. */
static void take_price(wtl_prices *p, char *word)
{
  WTL_LOCALE_APART;
  char *value = strchr(word, '='), *beside = strchr(word, '.'), *end;
  if (!value || !beside || beside > value) return;
  *value++ = *beside++ = '\0';
  double seconds = strtod(value, &end);
  if (end == value || *end || !(seconds >= least_s && seconds <= most_s)) return;
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++)
      if (strcmp(word, wtl_price_names[i]) == 0 && strcmp(beside, wtl_price_besides[k]) == 0)
        p->median_s[i][k] = seconds;
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

/* Reads the line for programs. `text` is changed. */
static bool take_line(wtl_prices *p, char *text, const wtl_prices_machine *machine)
{
  char key[32], *line = strstr(text, member), *save;
  if (line) line += sizeof member - 1, line += strspn(line, ": \"");
  size_t n = line ? strcspn(line, "\"\\\n") : 0;
  if (!line || line[n] != '"' || strncmp(line, format, sizeof format - 1) != 0)
    return refuse(p, "is not a file of prices that this version reads");
  line[n] = '\0';
  snprintf(key, sizeof key, "%016llx", (unsigned long long)key_of(machine));
  const char *found = strtok_r(line + sizeof format - 1, " ", &save);
  if (!found || strcmp(found, key) != 0) return refuse(p, "was measured on another CPU, kernel or number of cores");
  for (char *word; (word = strtok_r(NULL, " ", &save));) take_price(p, word);
  return has_any(p) || refuse(p, "has no prices in it");
}

static bool read_file(wtl_prices *p, const wtl_prices_machine *machine)
{
  size_t length;
  const char *why;
  char *text = wtl_regular_file_read(p->file, MOST_BYTES, &length, &why);
  bool good = text ? take_line(p, text, machine) : refuse(p, why);
  free(text);
  return good;
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
