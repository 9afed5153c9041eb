/* no_core.c - reads a thread's run-queue wait, or its CPU time where the kernel does not count that wait. */
#include "wait/no_core.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/floats.h"
#include "os/guest.h"
#include "os/os.h"
#include "os/yielder.h"
#include "profile/profile.h"

/* A wait of this length is read at its end even if the door did not find it long before: a core that is taken away is
 * away for longer. A reading takes about 0.25 us. Among PEs that yield a core to each other, a reading in each turn
 * would make all turns longer. */
enum { LONG_NS = 50000 };
static const double long_among_yielders_ns = WTL_COMPUTES_S * 1e9;

bool wtl_no_core_parse(const char *text, uint64_t *ran, uint64_t *waited)
{
  uint64_t slices;
  return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, ran, waited, &slices) == 3 && (*ran || *waited || slices);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static bool read_file(int file, uint64_t *waited)
{
  char text[80];
  uint64_t ran;
  ssize_t n = pread(file, text, sizeof text - 1, 0);
  if (n <= 0) return false;
  text[n] = '\0';
  return wtl_no_core_parse(text, &ran, waited);
}

/* Returns the time without a core so far. A file that the program has closed has no new figures. */
static uint64_t now(const wtl_no_core *n)
{
  uint64_t waited;
  struct timespec t;
  if (n->source == WTL_NO_CORE_SCHEDSTAT) return read_file(n->file, &waited) && waited > n->last ? waited : n->last;
  if (n->source != WTL_NO_CORE_CPU_TIME || clock_gettime(n->cpu_clock, &t) != 0) return n->last;
  uint64_t ran = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, wall = wtl_clock_ns();
  return wall > ran && wall - ran > n->last ? wall - ran : n->last;
}

/* Opens the file and keeps its identity. False without usable figures. A thread that runs has run before, so zeroes
 * mean that the kernel does not count. */
static bool open_file(wtl_no_core *n, const char *path)
{
  struct stat s;
  uint64_t waited;
  n->file = open(path, O_RDONLY | O_CLOEXEC);
  if (n->file < 0) return false;
  if (fstat(n->file, &s) == 0 && read_file(n->file, &waited)) {
    n->device = s.st_dev;
    n->inode = s.st_ino;
    return true;
  }
  close(n->file);
  return false;
}

void wtl_no_core_start(wtl_no_core *n, const char *schedstat, double ns_per_tick, bool yields)
{
  memset(n, 0, sizeof *n);
  n->thread = &wtl_thread_sites;
  n->ns_per_tick = ns_per_tick;
  n->long_ticks = (uint64_t)((yields ? long_among_yielders_ns : LONG_NS) / ns_per_tick);
  if (WTL_OS_IS_SIMULATED)
    n->source = WTL_NO_CORE_SIMULATED;
  else if (open_file(n, schedstat ? schedstat : "/proc/thread-self/schedstat"))
    n->source = WTL_NO_CORE_SCHEDSTAT;
  else if (pthread_getcpuclockid(pthread_self(), &n->cpu_clock) == 0)
    n->source = WTL_NO_CORE_CPU_TIME;
  n->start = n->last = now(n);
}

/* Reads the time without a core. Since the last reading `waited` ns passed in a wait that is read now. */
static void read_on(wtl_no_core *n, uint64_t waited)
{
  WTL_AS_GUEST;
  uint64_t before = n->last;
  n->last = now(n);
  n->in_waits += smaller(n->last - before, n->yields + waited);
  n->yields = 0;
}

void wtl_no_core_stop(wtl_no_core *n)
{
  struct stat s;
  if (n->source != WTL_NO_CORE_SCHEDSTAT || n->file < 0) return;
  read_on(n, 0);
  /* A program that closes all descriptors may since have opened a file of its own under this number. */
  if (fstat(n->file, &s) == 0 && s.st_dev == n->device && s.st_ino == n->inode) close(n->file);
  n->file = -1;
}

bool wtl_no_core_note_wait(wtl_no_core *n, uint64_t ticks)
{
  WTL_FLOATS_APART;
  if (n->source < WTL_NO_CORE_SCHEDSTAT || n->thread != &wtl_thread_sites) return false;
  read_on(n, (uint64_t)((double)ticks * n->ns_per_tick));
  return true;
}

void wtl_no_core_note_yields(wtl_no_core *n, uint64_t ticks)
{
  WTL_FLOATS_APART;
  if (n->source < WTL_NO_CORE_SCHEDSTAT || n->thread != &wtl_thread_sites) return;
  n->yields += (uint64_t)((double)ticks * n->ns_per_tick);
}

/* Returns the time without a core in waits, of which `all` is the time without a core so far. */
static uint64_t in_waits(const wtl_no_core *n, uint64_t all)
{
  return n->in_waits + smaller(all - n->last, n->yields);
}

uint64_t wtl_no_core_last_outside_waits(const wtl_no_core *n)
{
  return n->last - n->start > n->in_waits ? n->last - n->start - n->in_waits : 0;
}

double wtl_no_core_outside_waits(const wtl_no_core *n)
{
  uint64_t all = now(n), in = in_waits(n, all);
  return all - n->start > in ? (double)(all - n->start - in) * 1e-9 : 0;
}

double wtl_no_core_in_waits(const wtl_no_core *n)
{
  return (double)in_waits(n, now(n)) * 1e-9;
}
