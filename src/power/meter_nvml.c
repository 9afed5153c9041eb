/*
 * meter_nvml.c - NVIDIA GPUs by their management library, which is loaded only when this meter is asked for: joules
 * since the driver was loaded where the GPU counts them (Volta and later), else its watts.
 *
 * GPUs only: the processors of the node are not in it, so `auto` never takes it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/gauge.h"

/* Of nvml.h, which need not be installed: 0 is success, 3 "not supported"; a device is a pointer nobody looks
 * behind. */
typedef struct nvml {
  void *library;
  int (*init)(void), (*shutdown)(void);
  int (*count)(unsigned *);
  int (*device)(unsigned, void **);
  int (*energy_mj)(void *, unsigned long long *);
  int (*power_mw)(void *, unsigned *);
} nvml;

static void *symbol(nvml *n, const char *name)
{
  return dlsym(n->library, name);
}

static nvml *load(char *why, size_t why_size)
{
  static const char file[] = "libnvidia-ml.so.1";
  nvml *n = calloc(1, sizeof *n);
  if (n) n->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (n && n->library) {
    n->init = (int (*)(void))symbol(n, "nvmlInit_v2");
    n->shutdown = (int (*)(void))symbol(n, "nvmlShutdown");
    n->count = (int (*)(unsigned *))symbol(n, "nvmlDeviceGetCount_v2");
    n->device = (int (*)(unsigned, void **))symbol(n, "nvmlDeviceGetHandleByIndex_v2");
    n->energy_mj = (int (*)(void *, unsigned long long *))symbol(n, "nvmlDeviceGetTotalEnergyConsumption");
    n->power_mw = (int (*)(void *, unsigned *))symbol(n, "nvmlDeviceGetPowerUsage");
    if (n->init && n->shutdown && n->count && n->device && n->power_mw && n->init() == 0) return n;
    snprintf(why, why_size, "%s does not start (no driver loaded, or too old)", file);
    dlclose(n->library);
  } else {
    snprintf(why, why_size, "no %s (no NVIDIA driver)", file);
  }
  free(n);
  return NULL;
}

static void nvml_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  unsigned count = 0;
  nvml *n = load(why, why_size);
  (void)env;
  (void)grant;
  (void)grant_size;
  if (!n) return;
  set->library = n;
  if (n->count(&count) != 0 || count == 0) snprintf(why, why_size, "no GPU");
  for (unsigned i = 0; i < count; i++) {
    void *device;
    unsigned long long mj;
    wtl_domain d = {.scope = WATTLE_SCOPE_DEVICE, .part = WTL_PART_NODE};
    snprintf(d.name, sizeof d.name, "gpu-%u", i);
    wtl_gauge *g = n->device(i, &device) == 0 ? wtl_gauge_add(set, &d) : NULL;
    if (!g) continue;
    g->handle = device;
    g->is_watts = !n->energy_mj || n->energy_mj(device, &mj) != 0;
    g->unit = 1e-3;  /* mJ, mW */
    g->step_s = 0.1; /* updates are 20 to 100 ms apart */
    snprintf(g->source, sizeof g->source, "GPU %u %s", i, g->is_watts ? "power" : "energy");
  }
}

static int nvml_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  nvml *n = set->library;
  unsigned long long mj = 0;
  unsigned mw = 0;
  int error = g->is_watts ? n->power_mw(g->handle, &mw) : n->energy_mj(g->handle, &mj);
  *counts = g->is_watts ? (double)mw : (double)mj;
  return error ? EIO : 0;
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
  static const wtl_gauge_kind kind = {.name = "nvml", .find = nvml_find, .read = nvml_read, .drop = nvml_drop};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_nvml = WTL_GAUGE_METER("nvml", nvml_open);
