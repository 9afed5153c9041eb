/*
 * fake_nvml.c - stands in for libnvidia-ml.so.1: two GPUs, of which the first counts joules and the second only tells
 * watts. What they say is in the file that FAKE_NVML names: "MILLIJOULES MILLIWATTS"; no file: the library does not
 * start.
 */
#include <stdio.h>
#include <stdlib.h>

static int read_both(unsigned long long *mj, unsigned *mw)
{
  const char *path = getenv("FAKE_NVML");
  FILE *f = path ? fopen(path, "r") : NULL;
  int n = f ? fscanf(f, "%llu %u", mj, mw) : 0;
  if (f) fclose(f);
  return n == 2 ? 0 : 999;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);

static int devices[2];

int nvmlInit_v2(void)
{
  unsigned long long mj;
  unsigned mw;
  return read_both(&mj, &mw);
}

int nvmlShutdown(void)
{
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
  *device = &devices[i];
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
  unsigned mw;
  return device == &devices[0] ? read_both(mj, &mw) : 3;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
  unsigned long long mj;
  (void)device;
  return read_both(&mj, mw);
}
