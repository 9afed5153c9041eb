/*
 * meter_nvml.c - NVIDIA GPUs by their management library, NVML, which is loaded when this meter is opened: a
 * counter of joules where the GPU has one (Volta and later), else its watts. GPUs only: `auto` reads them beside the
 * processors, and loads the library only where there is a driver.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power/sensor/gauge.h"
#include "power/sensor/watt_limit.h"

/* Seen on an H100 (docs/appendix/measurements.md): a new value comes every 100 ms, and is 22 ms old when it comes. */
static const double STEP_S = 0.125;

/* A GPU keeps its power limit on average over a second or so. A step of its counter may have more watts. */
static const double LIMIT_MARGIN = 1.25;

/* A process in NVML's lists since version 2 of the function (nvmlProcessInfo_t). */
typedef struct nvml_process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} nvml_process;

/* NVML's functions by their types in nvml.h, which need not be installed. They return 0, or an error. */
typedef struct nvml {
  void *library;
  int (*init)(void), (*shutdown)(void);
  const char *(*error_text)(int);
  int (*count)(unsigned *);
  int (*device)(unsigned, void **);
  int (*name)(void *, char *, unsigned);
  int (*energy_mj)(void *, unsigned long long *);
  int (*power_mw)(void *, unsigned *);
  int (*processes)(void *, unsigned *, nvml_process *);  /* may be NULL */
  int (*limit_mw)(void *, unsigned *);                   /* that is enforced now; may be NULL */
  int (*limit_range_mw)(void *, unsigned *, unsigned *); /* that may be set; may be NULL */
} nvml;

static void *symbol(nvml *n, const char *name)
{
  return dlsym(n->library, name);
}

static void find_symbols(nvml *n)
{
  n->init = (int (*)(void))symbol(n, "nvmlInit_v2");
  n->shutdown = (int (*)(void))symbol(n, "nvmlShutdown");
  n->error_text = (const char *(*)(int))symbol(n, "nvmlErrorString");
  n->count = (int (*)(unsigned *))symbol(n, "nvmlDeviceGetCount_v2");
  n->device = (int (*)(unsigned, void **))symbol(n, "nvmlDeviceGetHandleByIndex_v2");
  n->name = (int (*)(void *, char *, unsigned))symbol(n, "nvmlDeviceGetName");
  n->energy_mj = (int (*)(void *, unsigned long long *))symbol(n, "nvmlDeviceGetTotalEnergyConsumption");
  n->power_mw = (int (*)(void *, unsigned *))symbol(n, "nvmlDeviceGetPowerUsage");
  n->processes = (int (*)(void *, unsigned *, nvml_process *))symbol(n, "nvmlDeviceGetComputeRunningProcesses_v3");
  n->limit_mw = (int (*)(void *, unsigned *))symbol(n, "nvmlDeviceGetEnforcedPowerLimit");
  n->limit_range_mw =
      (int (*)(void *, unsigned *, unsigned *))symbol(n, "nvmlDeviceGetPowerManagementLimitConstraints");
}

static nvml *load(char *why, size_t why_size)
{
  static const char file[] = "libnvidia-ml.so.1";
  nvml *n = calloc(1, sizeof *n);
  if (n) n->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (n && n->library) {
    find_symbols(n);
    bool is_complete = n->init && n->shutdown && n->error_text && n->count && n->device && n->name && n->power_mw;
    int error = is_complete ? n->init() : 0;
    if (is_complete && !error) return n;
    snprintf(why, why_size, "%s does not start: %s", file, is_complete ? n->error_text(error) : "it is too old");
    dlclose(n->library);
  } else {
    snprintf(why, why_size, "no %s (no NVIDIA driver)", file);
  }
  free(n);
  return NULL;
}

/* NVML leaves out a GPU whose file the user may not open. */
static void explain_no_gpu(char *why, size_t why_size, char *grant, size_t grant_size)
{
  char path[32];
  snprintf(why, why_size, "no GPU");
  for (unsigned i = 0; i < WTL_MAX_DOMAINS; i++) {
    snprintf(path, sizeof path, "/dev/nvidia%u", i);
    if (access(path, R_OK | W_OK) == 0 || errno == ENOENT) continue;
    snprintf(why, why_size, "cannot open %s: %s", path, strerror(errno));
    snprintf(grant, grant_size,
             "# the NVIDIA driver's options NVreg_DeviceFileMode, -UID and -GID set its mode and owner");
    return;
  }
}

/* Returns the highest limit that the GPU may be given, in W; 0: unknown. */
static double stated_watts(const nvml *n, void *device)
{
  unsigned enforced = 0, least = 0, most = 0;
  if (n->limit_mw && n->limit_mw(device, &enforced) != 0) enforced = 0;
  if (n->limit_range_mw && n->limit_range_mw(device, &least, &most) != 0) most = 0;
  return 1e-3 * (enforced > most ? enforced : most);
}

static void add_gpu(wtl_gauges *set, unsigned i, char *why, size_t why_size)
{
  nvml *n = set->library;
  void *device;
  unsigned long long mj;
  char name[96] = "";
  wtl_domain d = {.scope = WATTLE_SCOPE_DEVICE, .part = WTL_PART_NODE};
  snprintf(d.name, sizeof d.name, "gpu-%u", i);
  int error = n->device(i, &device);
  if (error) snprintf(why, why_size, "GPU %u: %s", i, n->error_text(error));
  wtl_gauge *g = error ? NULL : wtl_gauge_add(set, &d);
  if (!g) return;
  g->handle = device;
  g->is_watts = !n->energy_mj || n->energy_mj(device, &mj) != 0;
  g->unit = 1e-3; /* mJ, mW */
  g->step_s = STEP_S;
  g->limit_w = wtl_watt_limit_rated(stated_watts(n, device), LIMIT_MARGIN, g->limit_w);
  n->name(device, name, sizeof name);
  snprintf(g->source, sizeof g->source, "GPU %u %.40s %s", i, name, g->is_watts ? "power" : "energy");
}

/*
 * Is there a trace of NVIDIA's driver: its module, its device or, in Windows' Linux, the host's GPU? Loading NVML takes
 * milliseconds, and on a machine without a driver it can only fail.
 */
static bool has_driver(const char *sysfs)
{
  static const char *const trace[] = {"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/dxg"};
  char module[512];
  snprintf(module, sizeof module, "%.480s/module/nvidia", sysfs);
  bool found = access(module, F_OK) == 0;
  for (size_t i = 0; i < sizeof trace / sizeof trace[0]; i++) found |= access(trace[i], F_OK) == 0;
  return found;
}

static void nvml_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  unsigned count = 0;
  bool is_asked_for = env->settings && env->settings->meter.number == WTL_METER_NVML;
  if (!is_asked_for && !has_driver(env->sysfs)) {
    snprintf(why, why_size, "no NVIDIA driver (no /dev/nvidiactl, no %.200s/module/nvidia)", env->sysfs);
    return;
  }
  nvml *n = load(why, why_size);
  if (!n) return;
  set->library = n;
  int error = n->count(&count);
  if (error)
    snprintf(why, why_size, "%s", n->error_text(error));
  else if (count == 0)
    explain_no_gpu(why, why_size, grant, grant_size);
  for (unsigned i = 0; i < count; i++) add_gpu(set, i, why, why_size);
}

/* Watts are asked beside joules: NVML keeps them for 100 ms, so they cost next to nothing. */
static int nvml_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  nvml *n = set->library;
  unsigned long long mj = 0;
  unsigned mw = 0;
  int power_error = n->power_mw(g->handle, &mw), error = g->is_watts ? power_error : n->energy_mj(g->handle, &mj);
  if (!g->is_watts && !power_error) g->watts = 1e-3 * mw;
  *counts = g->is_watts ? (double)mw : (double)mj;
  return error ? EIO : 0;
}

/* Processes with a compute context on the GPU, by NVML's PIDs, which are those of the host. */
static size_t nvml_users(wtl_gauges *set, wtl_gauge *g, int64_t *pid, size_t max)
{
  enum { MOST = 256 };
  nvml *n = set->library;
  nvml_process list[MOST];
  unsigned count = MOST;
  if (!n->processes || n->processes(g->handle, &count, list) != 0) return 0;
  for (unsigned i = 0; i < count && i < max; i++) pid[i] = list[i].pid;
  return count;
}

static void nvml_drop(wtl_gauges *set)
{
  nvml *n = set->library;
  if (!n) return;
  n->shutdown();
  dlclose(n->library);
  free(n);
}

static void *nvml_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {
      .name = "nvml", .find = nvml_find, .read = nvml_read, .users = nvml_users, .drop = nvml_drop};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_nvml = WTL_GAUGE_METER("nvml", nvml_open);
