/* load.c - reads the kernel's accounts of CPU time. */
#include "calibrate/load.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/locale.h"
#include "os/os.h"

static double own_s(int who)
{
  struct rusage r;
  getrusage(who, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

load load_now(void)
{
  WTL_LOCALE_APART;
  load l = {(double)wtl_clock_ns() * 1e-9, NAN, NAN, own_s(RUSAGE_SELF) + own_s(RUSAGE_CHILDREN)};
  l.busy_s = wtl_os_machine_cpu_seconds();
  double steal;
  FILE *f = fopen("/proc/stat", "re");
  if (f && fscanf(f, "cpu %*f %*f %*f %*f %*f %*f %*f %lf", &steal) == 1)
    l.stolen_s = steal / (double)sysconf(_SC_CLK_TCK);
  if (f) fclose(f);
  return l;
}

double load_others(const load *before, const load *after)
{
  double busy = after->busy_s - before->busy_s, own = after->own_s - before->own_s;
  return fmax(busy - own, 0) / (after->wall_s - before->wall_s) + 0 * busy; /* NaN stays NaN */
}

double load_stolen(const load *before, const load *after)
{
  return (after->stolen_s - before->stolen_s) / (after->wall_s - before->wall_s);
}
