/*
 * fake_nvml.c - replaces libnvidia-ml.so.1 and behaves as the library of driver 580 does.
 *
 * The file in FAKE_NVML contains "MILLIJOULES MILLIWATTS [GPUS [ERROR [PIDS]]]". The first GPU counts joules, the others
 * report only watts. A query of the last GPU returns ERROR. Each GPU may be given limits of 200 to 700 W and has 400 W.
 * The processes with the PIDS compute on the first one.
 * Without the file no driver is loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SUPPORTED = 3, NO_PERMISSION = 4, DRIVER_NOT_LOADED = 9, UNKNOWN = 999 };

enum { INSUFFICIENT_SIZE = 7, MOST_PIDS = 8 };

typedef struct state {
  unsigned long long mj;
  unsigned mw, gpus, n_pids, pid[MOST_PIDS];
  int error;
} state;

typedef struct process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} process;

static int read_state(state *s)
{
  const char *path = getenv("FAKE_NVML");
  FILE *f = path ? fopen(path, "r") : NULL;
  *s = (state){.gpus = 2};
  int n = f ? fscanf(f, "%llu %u %u %d", &s->mj, &s->mw, &s->gpus, &s->error) : 0;
  while (n >= 4 && s->n_pids < MOST_PIDS && fscanf(f, "%u", &s->pid[s->n_pids]) == 1) s->n_pids++;
  if (f) fclose(f);
  return n >= 2 ? 0 : DRIVER_NOT_LOADED;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int error);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list);
int nvmlDeviceGetPowerManagementLimitConstraints(void *device, unsigned *least, unsigned *most);

static int devices[2];

int nvmlInit_v2(void)
{
  state s;
  return read_state(&s);
}

int nvmlShutdown(void)
{
  return 0;
}

const char *nvmlErrorString(int error)
{
  switch (error) {
  case NOT_SUPPORTED: return "Not Supported";
  case NO_PERMISSION: return "Insufficient Permissions";
  case DRIVER_NOT_LOADED: return "Driver Not Loaded";
  default: return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
  state s;
  int error = read_state(&s);
  *count = s.gpus;
  return error;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
  state s;
  read_state(&s);
  *device = &devices[i != 0];
  return i + 1 == s.gpus ? s.error : 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
  snprintf(name, size, "%s", device == &devices[0] ? "NVIDIA H100 80GB HBM3" : "Tesla P100");
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
  state s;
  if (device != &devices[0]) return NOT_SUPPORTED;
  int error = read_state(&s) ? UNKNOWN : 0;
  *mj = s.mj;
  return error;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
  state s;
  (void)device;
  int error = read_state(&s) ? UNKNOWN : 0;
  *mw = s.mw;
  return error;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw)
{
  (void)device;
  *mw = 400000;
  return 0;
}

int nvmlDeviceGetPowerManagementLimitConstraints(void *device, unsigned *least, unsigned *most)
{
  (void)device;
  *least = 200000;
  *most = 700000;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list)
{
  state s;
  unsigned most = *count;
  int error = read_state(&s) ? UNKNOWN : 0;
  *count = error || device != &devices[0] ? 0 : s.n_pids;
  if (*count > most) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < *count; i++) list[i] = (process){.pid = s.pid[i], .memory = 1 << 20};
  return error;
}
