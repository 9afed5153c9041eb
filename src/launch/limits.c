/* limits.c - checks and raises the limits on open files and file sizes. */
#include "launch/limits.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/error.h"

/*
 * Measured with Open MPI 4.1 and MPICH 4.0: about 30 files for the launcher, 4 for each PE, and 1 for the PMIx
 * connection of each PE.
 */
enum { FILES_OF_LAUNCHER = 40, FILES_OF_PE = 5 };

static void prepare_open_files(const wtl_command *c)
{
  struct rlimit limit;
  bool is_here = !c->hosts && !c->hostfile; /* PEs of other hosts are children of the daemons there */
  rlim_t need = FILES_OF_LAUNCHER + FILES_OF_PE * (rlim_t)(c->n && is_here ? c->n : 1);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return;
  rlim_t had = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
  if (limit.rlim_cur >= need && setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  fprintf(stderr,
          "oshrun: the limit on open files is %llu (ulimit -n, at most %llu); the launcher needs %llu for this job: "
          "raise it, or start fewer PEs\n",
          (unsigned long long)had, (unsigned long long)limit.rlim_max, (unsigned long long)need);
  exit(WTL_EXIT_OSERR);
}

static void check_file_size(const wtl_launcher *l)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= l->file_bytes) return;
  fprintf(stderr,
          "oshrun: the limit on the size of files is %llu bytes (ulimit -f); the launcher and its MPI need files of up "
          "to %llu bytes for themselves: raise it\n",
          (unsigned long long)limit.rlim_cur, (unsigned long long)l->file_bytes);
  exit(WTL_EXIT_OSERR);
}

void wtl_limits_prepare(const wtl_launcher *l, const wtl_command *c)
{
  if (l->starts_here) prepare_open_files(c);
  check_file_size(l);
}
