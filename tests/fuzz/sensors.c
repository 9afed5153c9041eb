/*
 * Files of the system's sensors: counters, watts, events, lists of CPUs. An input is a list of files, two lines each: how
 * its path ends, and the text in it (a '\r' stands for a newline there). Joules are counted, unknown, but never less than 0.
 */
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "power/machine/clock_domains.h"
#include "power/meter.h"

enum { MOST_FILES = 24, MARKS = 4 };

static struct {
  char *end, *text;
} files[MOST_FILES];
static size_t n_files;
static double now;

static double tell_now(void *arg)
{
  return now += 0.25;
}

static void sleep_on(void *arg, double seconds)
{
  now += seconds;
}

static bool ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  return m && m <= n && strcmp(path + n - m, end) == 0;
}

/* A file of which there are several texts has them one after the other. */
static int read_file(void *arg, const char *path, char *buf, size_t size)
{
  for (size_t i = 0; i < n_files; i++) {
    if (!files[i].text || !ends_with(path, files[i].end)) continue;
    snprintf(buf, size, "%s", files[i].text);
    bool has_next = false;
    for (size_t k = i + 1; k < n_files && !has_next; k++) has_next = strcmp(files[k].end, files[i].end) == 0;
    if (has_next) free(files[i].text), files[i].text = NULL;
    return (int)strlen(buf);
  }
  return -ENOENT;
}

static int perf_open(void *arg, unsigned type, unsigned long long config, int cpu)
{
  return memfd_create("event", 0); /* it has no bytes */
}

static const wtl_sys sys = {.now = tell_now, .sleep = sleep_on, .read_file = read_file, .perf_open = perf_open};

static char root[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
  return remove(path);
}

static void remove_tree(void)
{
  nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The folders that sensors are looked for in; there are no files in them. */
static void make_tree(void)
{
  static const char *const folders[] = {"class",
                                        "class/hwmon",
                                        "class/hwmon/hwmon0",
                                        "class/hwmon/hwmon1",
                                        "class/powercap",
                                        "class/powercap/intel-rapl:0",
                                        "class/powercap/intel-rapl:0:0",
                                        "class/powercap/intel-rapl:1",
                                        "class/powercap/intel-rapl-mmio:0"};
  char path[128];
  if (*root) return;
  snprintf(root, sizeof root, "/tmp/wattle-sensors-XXXXXX");
  if (!mkdtemp(root)) abort();
  atexit(remove_tree);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(path, sizeof path, "%s/%s", root, folders[i]);
    if (mkdir(path, 0700) != 0) abort();
  }
}

static void take_files(fuzz_input *in)
{
  for (n_files = 0; n_files < MOST_FILES && fuzz_left(in); n_files++) {
    files[n_files].end = fuzz_line(in, 64);
    files[n_files].text = fuzz_line(in, 5000);
    for (char *c = files[n_files].text; (c = strchr(c, '\r')) != NULL;) *c = '\n';
  }
}

static void read_meter(const wtl_meter_ops *meter)
{
  char why[512] = "", grant[512] = "";
  static wtl_mark marks[MARKS];
  wtl_domain domains[WTL_MAX_DOMAINS];
  wattle_joules_t figures[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  const wtl_meter_env env = {.sysfs = root, .sys = &sys};
  void *state = meter->open(&env, why, sizeof why, grant, sizeof grant);
  FUZZ_MUST(state || *why);
  if (!state) return;
  size_t n = meter->domains(state, domains);
  FUZZ_MUST(n > 0 && n <= WTL_MAX_DOMAINS);
  for (size_t i = 0; i < MARKS; i++) {
    marks[i] = (wtl_mark){.at = tell_now(NULL)};
    meter->read(state, &marks[i]);
    now += i;
  }
  meter->between(state, &marks[0], &marks[MARKS - 1], &(wtl_activity){0}, figures, random);
  for (size_t d = 0; d < n; d++) {
    FUZZ_MUST(domains[d].name[0] && strlen(domains[d].name) < sizeof domains[d].name);
    FUZZ_MUST(isnan(figures[d].joules) || (figures[d].joules >= 0 && isfinite(figures[d].joules)));
    FUZZ_MUST(!(figures[d].uncertainty < 0));
  }
  meter->close(state);
}

static void read_domains(void)
{
  cpu_set_t cpus;
  size_t n;
  wtl_cpu_list("0-3", &cpus);
  cpu_set_t *domains = wtl_knob_clock_domains(&sys, root, WTL_DOMAIN_PACKAGE, &cpus, &n);
  FUZZ_MUST(domains && n >= 1 && n <= 4);
  free(domains);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const wtl_meter_ops *const meters[] = {&wtl_meter_powercap, &wtl_meter_perf, &wtl_meter_cray,
                                                &wtl_meter_hwmon};
  fuzz_input in = {data, data + size};
  make_tree();
  now = 1000;
  size_t which = fuzz_below(&in, 5);
  take_files(&in);
  if (which < 4)
    read_meter(meters[which]);
  else
    read_domains();
  for (size_t i = 0; i < n_files; i++) free(files[i].end), free(files[i].text);
  return 0;
}
