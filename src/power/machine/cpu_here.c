/* cpu_here.c - reads the processors of this machine from /proc/cpuinfo, and measures the clock of a busy core. */
#include "power/machine/cpu_here.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this ratio of clock and time stamp counter a core is in turbo, and below the other it is not. */
static const double turbo_from = 1.08, base_to = 1.03;

bool wtl_cpu_here_field(const char *cpuinfo, const char *field, char *out, size_t size)
{
  size_t length = strlen(field);
  for (const char *line = cpuinfo; *line && *line != '\n'; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strncmp(line, field, length) != 0) continue;
    const char *p = line + length + strspn(line + length, " \t");
    if (*p != ':') continue; /* "model" is not "model name" */
    p++;
    p += strspn(p, " \t");
    size_t n = strcspn(p, "\n");
    snprintf(out, size, "%.*s", (int)n, p);
    return true;
  }
  return false;
}

static int number(const char *cpuinfo, const char *field, int if_missing)
{
  char text[64];
  return wtl_cpu_here_field(cpuinfo, field, text, sizeof text) ? (int)strtol(text, NULL, 0) : if_missing;
}

/* Counts the lines of this field, or its different values. */
static int count(const char *cpuinfo, const char *field, bool different)
{
  size_t length = strlen(field);
  int n = 0;
  uint64_t seen[16] = {0}; /* values up to 1023: more sockets than Linux has */
  for (const char *line = cpuinfo; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strncmp(line, field, length) != 0 || !strchr(" \t:", line[length])) continue;
    const char *value = line + length + strspn(line + length, " \t:");
    unsigned long v = strtoul(value, NULL, 10) & 1023;
    if (different && seen[v / 64] >> v % 64 & 1) continue;
    seen[v / 64] |= UINT64_C(1) << v % 64;
    n++;
  }
  return n;
}

static bool has_flag(const char *flags, const char *flag)
{
  size_t length = strlen(flag);
  for (const char *p = flags; (p = strstr(p, flag)); p += length)
    if ((p == flags || p[-1] == ' ') && strchr(" \n", p[length])) return true;
  return false;
}

void wtl_cpu_here_read(const char *cpuinfo, wtl_cpu_here *out)
{
  *out = (wtl_cpu_here){.sockets = 1, .cores = 1, .threads = 1, .clock = WTL_CLOCK_ANY};
  bool is_arm = wtl_cpu_here_field(cpuinfo, "CPU implementer", out->vendor, sizeof out->vendor);
  if (!is_arm) wtl_cpu_here_field(cpuinfo, "vendor_id", out->vendor, sizeof out->vendor);
  wtl_cpu_here_field(cpuinfo, "model name", out->name, sizeof out->name);
  out->family = is_arm ? number(cpuinfo, "CPU architecture", -1) : number(cpuinfo, "cpu family", -1);
  out->model = is_arm ? number(cpuinfo, "CPU part", -1) : number(cpuinfo, "model", -1);
  out->stepping = is_arm ? -1 : number(cpuinfo, "stepping", -1);
  int threads = count(cpuinfo, "processor", false), sockets = count(cpuinfo, "physical id", true);
  out->threads = threads > 0 ? threads : 1;
  out->sockets = sockets > 0 ? sockets : 1;
  int siblings = number(cpuinfo, "siblings", 0), cores = number(cpuinfo, "cpu cores", 0);
  out->cores = siblings > 0 && cores > 0 && cores <= siblings ? out->threads * cores / siblings : out->threads;
  out->cache_mb = number(cpuinfo, "cache size", 0) / 1024;
  out->ghz = number(cpuinfo, "cpu MHz", 0) / 1000.0;
  const char *flags = strstr(cpuinfo, "\nflags");
  if (!flags) return;
  size_t length = strcspn(flags + 1, "\n");
  char *line = strndup(flags + 1, length);
  if (!line) return;
  out->is_virtual = has_flag(line, "hypervisor");
  out->has_amx = has_flag(line, "amx_tile");
  free(line);
}

#ifdef __x86_64__
/* Clocks for each tick of the time stamp counter. A multiplication takes three clocks on all CPUs of the table. */
static double clocks_per_tick(void)
{
  enum { LOOPS = 2000, CLOCKS = 3 * 8 };
  uint64_t x = 3, start = __builtin_ia32_rdtsc();
  for (int i = 0; i < LOOPS; i++)
    __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
                     "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                     : "+r"(x));
  uint64_t ticks = __builtin_ia32_rdtsc() - start;
  return ticks ? (double)LOOPS * CLOCKS / (double)ticks : 0;
}
#endif

enum wtl_clock_class wtl_cpu_here_clock(void)
{
#ifdef __x86_64__
  double best = 0; /* a loop that was interrupted shows too few clocks */
  for (int i = 0; i < 16; i++) {
    double ratio = clocks_per_tick();
    if (ratio > best) best = ratio;
  }
  return best >= turbo_from ? WTL_CLOCK_TURBO : best <= base_to ? WTL_CLOCK_BASE : WTL_CLOCK_ANY;
#else
  return WTL_CLOCK_ANY;
#endif
}
