/*
 * gpu_use.c - a job on a made-up machine with a package, a supply and a GPU, of which the last PE is the only user.
 * gpu_use.py judges its profiles. The replacement for NVIDIA's library reads FAKE_NVML, and the runtime WATTLE_SYSFS.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Replaces a file in one step, because the meter may read it meanwhile. */
static void put(const char *folder, const char *file, const char *text)
{
  char path[600], draft[640];
  snprintf(path, sizeof path, "%s%s", folder, file);
  snprintf(draft, sizeof draft, "%s.%d", path, (int)getpid());
  for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  FILE *f = fopen(draft, "w");
  if (!f || fputs(text, f) < 0 || fclose(f) != 0 || rename(draft, path) != 0) {
    perror(path);
    exit(2);
  }
}

int main(void)
{
  const char *sys = getenv("WATTLE_SYSFS"), *gpus = getenv("FAKE_NVML");
  char text[64];
  put(sys, "/class/powercap/intel-rapl:0/name", "package-0\n");
  put(sys, "/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
  put(sys, "/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  put(sys, "/class/hwmon/hwmon1/device/name", "power_meter\n");
  put(sys, "/class/hwmon/hwmon1/device/power1_average", "700000000\n");
  put(sys, "/module/nvidia/version", "580.95.05\n");
  put(gpus, "", "5000 100000 1 0\n");
  shmem_init();
  shmem_barrier_all(); /* the meter is open */
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    put(sys, "/class/powercap/intel-rapl:0/energy_uj", "61000000\n");
    snprintf(text, sizeof text, "355000 100000 1 0 %d\n", (int)getpid());
    put(gpus, "", text);
  }
  usleep(700000);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
