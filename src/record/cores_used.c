/* cores_used.c - reads affinity, threads and cgroups of this process for the profile's field `no_core`. */
#include "record/cores_used.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "node/cores.h"
#include "os/os.h"

/* A thread that ran for at least this share of the time needs a core. */
#define BUSY 0.05

/* The other threads of this process. */
typedef struct others {
  uint64_t ran, waited; /* ns with and without a core */
  int busy;
  cpu_set_t cores; /* of those that are busy */
} others;

static bool read_thread(const char *number, uint64_t *ran, uint64_t *waited)
{
  char path[64], text[80] = "";
  snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", number);
  FILE *f = fopen(path, "re");
  if (!f) return false;
  bool read = fgets(text, sizeof text, f) && wtl_no_core_parse(text, ran, waited);
  fclose(f);
  return read;
}

/* Reads all threads but the calling one. Where PEs are threads, the others are other PEs. */
static void read_others(others *o, double busy_ns)
{
  memset(o, 0, sizeof *o);
  DIR *tasks = WTL_OS_PES_ARE_PROCESSES ? opendir("/proc/self/task") : NULL;
  if (!tasks) return;
  for (const struct dirent *e; (e = readdir(tasks));) {
    uint64_t ran, waited;
    cpu_set_t cores;
    long id = strtol(e->d_name, NULL, 10);
    if (id <= 0 || id == (long)gettid() || !read_thread(e->d_name, &ran, &waited)) continue;
    o->ran += ran;
    o->waited += waited;
    if ((double)ran < busy_ns) continue;
    o->busy++;
    if (sched_getaffinity((pid_t)id, sizeof cores, &cores) == 0) CPU_OR(&o->cores, &o->cores, &cores);
  }
  closedir(tasks);
}

void wtl_record_cores_start(wtl_cores_used *c)
{
  others o;
  read_others(&o, INFINITY);
  c->others_ran = o.ran;
  c->others_waited = o.waited;
  c->throttled_s = WTL_OS_IS_SIMULATED ? NAN : wtl_cores_throttled();
}

/* Writes the numbers of a set of cores as JSON's list. */
static void write_set(FILE *f, const char *name, const cpu_set_t *set)
{
  const char *comma = "";
  fprintf(f, ",\"%s\":[", name);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, set)) continue;
    fprintf(f, "%s%d", comma, cpu);
    comma = ",";
  }
  putc(']', f);
}

static const char *const sources[] = {"", "simulation", "schedstat", "cpu time"};

void wtl_record_cores_write_past(const wtl_past_no_core *past, FILE *f)
{
  static const cpu_set_t none;
  wtl_json(f,
           "{'source':%s,'until_s':%g,'in_waits_s':%g,'other_threads_s':null,'other_busy_threads':null"
           ",'throttled_s':null,'quota_cores':null",
           sources[past->source], past->until_s, past->in_waits_s);
  write_set(f, "cores", past->cores);
  write_set(f, "cores_of_threads", &none);
  putc('}', f);
}

void wtl_record_cores_write(const wtl_cores_used *c, const wtl_no_core *n, double wall_s, FILE *f)
{
  cpu_set_t mine;
  others o;
  if (WTL_OS_IS_SIMULATED || sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
  read_others(&o, (double)c->others_ran + BUSY * wall_s * 1e9);
  double quota = wtl_cores_quota();
  wtl_json(f, "{'source':%s,'in_waits_s':%g,'other_threads_s':%g,'other_busy_threads':%d", sources[n->source],
           wtl_no_core_in_waits(n), o.waited > c->others_waited ? (double)(o.waited - c->others_waited) * 1e-9 : 0,
           o.busy);
  wtl_json(f, ",'throttled_s':%g,'quota_cores':%g", WTL_OS_IS_SIMULATED ? NAN : wtl_cores_throttled() - c->throttled_s,
           quota);
  write_set(f, "cores", &mine);
  write_set(f, "cores_of_threads", &o.cores);
  putc('}', f);
}
