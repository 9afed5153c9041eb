/* rank.c - starts and ends the profile of a process, together with the other processes of its node. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/regular_file.h"
#include "mpi/mpi_front.h"
#include "mpi/transport_names.h"
#include "node/cores.h"
#include "node/process.h"
#include "os/floats.h"
#include "os/guest.h"
#include "record/profile_file.h"
#include "record/job_folder.h"

wtl_mpi_rank *wtl_mpi_self;

/*
 * The initial price of a sleep between two tests. A sleep may end later than the awaited event, by its length (at least
 * 10 us) and the delay of the timer. A wait may get longer by a sixteenth for this (govern/steps.h). So a sleep pays
 * only after 16 times that delay.
 */
static const double first_price_s = 200e-6;

/* --- this node --- */

/* Begins to tell all processes of the node whether each of them can go on. A process that cannot joins the same
 * calls. */
static int begin_agreeing(const wtl_mpi_rank *self, const int *can, int *all_can, MPI_Request *request)
{
  *all_can = 0;
  return PMPI_Iallreduce(can, all_can, 1, MPI_INT, MPI_MIN, self->node, request);
}

/* Gathers the places of the node's processes. The caller frees the result; NULL in all processes if one has no memory.
 */
static wtl_mpi_place *gather_places(wtl_mpi_rank *self, bool governs)
{
  MPI_Request request; /* not blocking, so that the MPI has what it needs for the same call at the end */
  int can, all_can;
  wtl_mpi_place mine, *all = calloc((size_t)self->n_local, sizeof *all);
  memset(&mine, 0, sizeof mine);
  mine.quota = wtl_cores_quota();
  mine.pid = (long)getpid();
  mine.pid_namespace = wtl_process_namespace();
  mine.governs = governs;
  mine.memory = wtl_mpi_wakeup_make(self);
  if (sched_getaffinity(0, sizeof mine.cpus, &mine.cpus) != 0) CPU_ZERO(&mine.cpus);
  can = all != NULL;
  if (begin_agreeing(self, &can, &all_can, &request) == MPI_SUCCESS &&
      PMPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && all_can &&
      PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, self->node) == MPI_SUCCESS)
    return all;
  wtl_mpi_wakeup_close(self, &mine.memory);
  free(all);
  return NULL;
}

/* A process that is bound to a core sees only that one. So the cores of all processes of the node are counted
 * together. */
static wtl_cores count_cores(const wtl_mpi_rank *self, const wtl_mpi_place *all)
{
  double quota = INFINITY;
  cpu_set_t together;
  wtl_cores cores = {wtl_cores_allowed(), wtl_cores_allowed()};
  CPU_ZERO(&together);
  for (int i = 0; all && i < self->n_local; i++) {
    CPU_OR(&together, &together, &all[i].cpus);
    quota = fmin(quota, all[i].quota);
  }
  if (CPU_COUNT(&together) == 0) return cores;
  cores.usable = (int)fmax(1, ceil(fmin(CPU_COUNT(&together), quota)));
  cores.physical = wtl_cores_physical(&together, "/sys");
  return cores;
}

/* --- start --- */

/* Called before the library is in use. The program must not run under settings that it was not given. */
void wtl_mpi_refuse(const char *reasons, int status)
{
  char copy[4096], *save = NULL;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(copy, sizeof copy, "%s", reasons);
  for (char *line = strtok_r(copy, "\n", &save); rank == 0 && line; line = strtok_r(NULL, "\n", &save))
    wtl_message_print("%s", line);
  if (rank != 0) sleep(2); /* rank 0 prints before the launcher notices an abort */
  wtl_message_linger();
  PMPI_Abort(MPI_COMM_WORLD, status);
}

static void in_child(void)
{
  wtl_mpi_self = NULL;
  wtl_mpi_here = (wtl_mpi_thread){.inside = NULL}; /* state of its only thread */
}

static void at_exit(int status, void *arg)
{
  if (wtl_mpi_self && wtl_mpi_self->pid == (long)getpid()) wtl_mpi_abandon();
}

static void start_door(wtl_mpi_rank *self, const wtl_mpi_place *all, bool shared)
{
  wtl_cores cores = count_cores(self, all);
  wtl_door_start(&self->door, &self->bell, &self->settings, self->n_local, cores);
  wtl_stages_start(&self->door.stages, &self->settings, self->n_local, cores, false, NULL, wtl_clock_ns_per_tick());
  wtl_stages_price(&self->door.stages, first_price_s);
  self->door.is_shared = shared;
}

/* Reports a launcher of a different MPI than the program's. It starts each process alone, and the processes do not
 * know each other. */
static void report_if_alone(const wtl_record *r)
{
  static const char *const launched[][2] = {{"PMI_SIZE", "PMI_RANK"}, {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}};
  for (size_t i = 0; r->n == 1 && i < sizeof launched / sizeof *launched; i++) {
    const char *size = getenv(launched[i][0]), *rank = getenv(launched[i][1]);
    if (!size || !rank || atoi(size) < 2) continue;
    if (atoi(rank) == 0)
      wtl_message_print("%s=%s: the launcher started %s processes, but each runs alone, because its MPI is not the "
                        "launcher's. Start it with the mpirun of the MPI it was built with",
                        launched[i][0], size, size);
    return;
  }
}

static void start_record(wtl_mpi_rank *self)
{
  wtl_record *r = &self->record;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_rank(MPI_COMM_WORLD, &r->me);
  PMPI_Comm_size(MPI_COMM_WORLD, &r->n);
#ifndef WTL_SIM /* SimGrid's MPI spawns no processes and has no such call */
  PMPI_Comm_get_parent(&parent);
#endif
  self->has_outsiders = parent != MPI_COMM_NULL;
  if (parent == MPI_COMM_NULL) report_if_alone(r);
  r->api = "mpi";
  r->node = -1;
  r->calls[WTL_FRONT_FIRST] = wtl_mpi_calls;
  r->profile = &self->profile;
  r->door = &self->door;
  r->settings = &self->settings;
  r->meter = NULL;
#ifndef WTL_SIM
  r->write_passed = wtl_mpi_passed_write;
  r->write_mpi = wtl_mpi_transport_write;
#endif
}

/*
 * Agrees on the folder of the job's profiles, which the first process takes, because all write into the same one, and
 * on wtl_mpi_rank.keeps_calls. Where processes lack the library, collective calls stay unchanged anyway. No process
 * leaves this before all of the node have come.
 *
 * It is no broadcast, after which each later sum takes longer under Open MPI, and one call for both, because each costs
 * milliseconds where ranks outnumber cores (docs/decisions/0063-price-of-short-mpi-calls.md).
 */
static void agree(wtl_mpi_rank *self)
{
#ifdef WTL_SIM
  self->keeps_calls = false;
  PMPI_Barrier(self->node);
#else
  enum { FOLDER, CHANGES_CALLS, N };
  MPI_Comm comm = self->is_partial ? self->node : MPI_COMM_WORLD;
  int me = 0, mine[N] = {0}, all[N];
  PMPI_Comm_rank(comm, &me);
  if (me == 0) mine[FOLDER] = wtl_record_take_folder(self->settings.profile_dir.text);
  self->shows_idle = wtl_mpi_shows_idle(self);
  mine[CHANGES_CALLS] = self->door.is_shared || !self->shows_idle;
  bool agreed = PMPI_Allreduce(mine, all, N, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS;
  if (agreed) wtl_record_use_folder(&self->settings, all[FOLDER]);
  self->keeps_calls = !(agreed ? all : mine)[CHANGES_CALLS];
#endif
}

wtl_mpi_rank *wtl_mpi_rank_make(void)
{
  wtl_mpi_rank *self = calloc(1, sizeof *self);
  if (!self) wtl_message_print("no memory for a profile: the program runs without one");
  return self;
}

void wtl_mpi_start(wtl_mpi_rank *self, int thread_level)
{
  WTL_FLOATS_APART;
  WTL_AS_GUEST;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char error[4096];
  if (wtl_settings_parse(&self->settings, error, sizeof error) != 0) wtl_mpi_refuse(error, WTL_EXIT_CONFIG);
  start_record(self);
  wtl_message_rank(self->record.me);
#ifdef WTL_SIM
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, self->record.me, MPI_INFO_NULL, &self->node);
#else
  wtl_mpi_members_join(self);
  wtl_mpi_note_types();
#endif
  PMPI_Comm_set_errhandler(self->node, MPI_ERRORS_RETURN);
  PMPI_Comm_size(self->node, &self->n_local);
  PMPI_Comm_rank(self->node, &self->slot);
  bool shared = thread_level == MPI_THREAD_MULTIPLE;
  wtl_mpi_place *all = gather_places(self, wtl_clocks_wanted(&self->settings) && !shared);
  start_door(self, all, shared);
  if (all) wtl_mpi_wakeup_open(self, &all->memory);
  if (all) wtl_mpi_govern(self, all);
  wtl_profile_start(&self->profile, self->settings.profile.on, (int)self->settings.call_paths.number);
  agree(self);
  if (all) wtl_mpi_wakeup_close(self, &all->memory);
  free(all);
  wtl_profile_keep(&self->profile, self->settings.profile_dir.text);
  if (self->slot == 0 && !(self->record.meter = wtl_meter_open(&self->settings, error, sizeof error)))
    wtl_mpi_refuse(error, WTL_EXIT_CONFIG);
  if (self->record.meter) wtl_meter_start(self->record.meter);
  self->pid = (long)getpid();
  pthread_atfork(NULL, NULL, in_child);
  pthread_once(&once, (void (*)(void))wtl_mpi_find_fortran);
  on_exit(at_exit, NULL);
  wtl_record_register(&self->record);
  wtl_record_start(&self->record);
  wtl_mpi_self = self;
}

/* --- end --- */

/*
 * The process with the meter sends one of these to each process of its node, and then the joules, a domain at a time.
 * An MPI sends a long message by reading the memory of the other process, which the kernel refuses if the program has
 * changed its user.
 */
typedef struct node_share {
  size_t n_domains;
  wtl_rates rate[2];
  double wake_s, second_s;
} node_share;

/*
 * Returns whether OpenSHMEM has already written this process's file. A program may also use Wattle's OpenSHMEM or
 * ARMCI, whose profile includes their waits. It stays if they are finalized first. If they are finalized last, they
 * write over this file.
 */
static bool has_profile(const wtl_mpi_rank *self)
{
  char path[4200], head[8192] = "", mine[32];
  snprintf(path, sizeof path, "%s/pe-%05d.json", self->settings.profile_dir.text, self->record.me);
  snprintf(mine, sizeof mine, "\"pid\":%ld,", self->pid);
  const char *why;
  int fd = wtl_regular_file_open(path, &why);
  if (fd < 0) return false;
  ssize_t n = read(fd, head, sizeof head - 1);
  close(fd);
  head[n > 0 ? n : 0] = 0;
  return strstr(head, mine) && strstr(head, "\"api\":\"shmem\"");
}

static void write_record(wtl_mpi_rank *self, const wtl_share *share, const wtl_node_joules *node)
{
  if (*self->settings.profile_dir.text && has_profile(self)) self->settings.profile_dir.text = "";
  wtl_record_write(&self->record, share, node);
}

/* Called by the process with the meter. `parts`: the joules of all processes in the first domain, then in the next. */
static void split(wtl_mpi_rank *self, wtl_activity *all, wtl_node_joules *node, node_share *each,
                  wattle_joules_t *parts)
{
  size_t n = (size_t)self->n_local, domains = 0;
  wattle_joules_t *part = calloc(n * WTL_MAX_DOMAINS, sizeof *part);
  if (part) domains = wtl_split_node(self->record.meter, self->record.start_machine_s, all, n, node, part);
  for (size_t i = 0; i < n; i++) {
    each[i].n_domains = domains;
    each[i].wake_s = all[i].wake_s;
    each[i].second_s = all[i].second_s;
    wtl_record_rates(wtl_meter_machine(self->record.meter), &all[i], each[i].rate);
    for (size_t d = 0; part && d < domains; d++) parts[d * n + i] = part[i * domains + d];
  }
  free(part);
}

typedef struct ending {
  MPI_Request *request;
  int rc, done;
} ending;

static bool is_over(void *arg)
{
  ending *e = arg;
  e->rc = PMPI_Test(e->request, &e->done, MPI_STATUS_IGNORE);
  return e->done || e->rc != MPI_SUCCESS || wtl_mpi_is_left(wtl_mpi_self);
}

/* Waits as the program does. `rc`: of the call that began the request. Where MPI fails, no other process waits. */
static bool succeeds(wtl_mpi_frame *f, int rc, MPI_Request *request)
{
  ending e = {.request = request, .rc = rc};
  if (rc == MPI_SUCCESS) wtl_mpi_wait(f, is_over, &e);
  if (!e.done) wtl_mpi_leave_others(wtl_mpi_self);
  return e.done && e.rc == MPI_SUCCESS;
}

/* Waits for the processes of the node, so that all calls of all are complete. Returns whether all of them can go on. */
static bool meet(wtl_mpi_frame *f, bool can)
{
  static int mine, all_can; /* static, as a request that is left may still write to it */
  MPI_Request request;
  mine = can;
  int rc = begin_agreeing(wtl_mpi_self, &mine, &all_can, &request);
  return succeeds(f, rc, &request) && all_can;
}

static bool gather(wtl_mpi_frame *f, const wtl_activity *mine, wtl_activity *all)
{
  MPI_Request request;
  int rc = PMPI_Igather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, 0, wtl_mpi_self->node, &request);
  return succeeds(f, rc, &request);
}

static bool scatter(wtl_mpi_frame *f, const void *each, void *mine, int bytes)
{
  MPI_Request request;
  int rc = PMPI_Iscatter(each, bytes, MPI_BYTE, mine, bytes, MPI_BYTE, 0, wtl_mpi_self->node, &request);
  return succeeds(f, rc, &request);
}

/* Only the process with the meter needs memory for all. */
static void close_together(wtl_mpi_rank *self, wtl_mpi_frame *f)
{
  static node_share own;
  static wattle_joules_t joules[WTL_MAX_DOMAINS];
  static wtl_activity mine;
  size_t n = self->record.meter ? (size_t)self->n_local : 0;
  wtl_activity *all = n ? calloc(n, sizeof *all) : NULL;
  node_share *each = n ? calloc(n, sizeof *each) : NULL;
  wattle_joules_t *parts = n ? calloc(n * WTL_MAX_DOMAINS, sizeof *parts) : NULL;
  wtl_node_joules *node = n ? calloc(1, sizeof *node) : NULL;
  bool good = meet(f, !n || (all && each && parts && node));
  wtl_mpi_stop_governing(self);
  self->door.stages.ns_per_tick = wtl_clock_ns_per_tick();
  wtl_record_activity(&self->record, &mine);
  good = good && gather(f, &mine, all);
  if (good && n) split(self, all, node, each, parts);
  good = good && scatter(f, each, &own, sizeof own);
  for (size_t d = 0; good && d < own.n_domains; d++)
    good = scatter(f, n ? &parts[d * n] : NULL, &joules[d], sizeof *joules);
  wtl_share share = {.n_domains = own.n_domains,
                     .mine = joules,
                     .rate = {own.rate[0], own.rate[1]},
                     .wake_s = own.wake_s,
                     .second_s = own.second_s};
  write_record(self, good ? &share : NULL, good ? node : NULL);
  if (!good) return; /* a request that is left may still use them */
  free(all);
  free(each);
  free(parts);
  free(node);
}

static void stop(void *from)
{
  WTL_FLOATS_APART;
  WTL_AS_GUEST;
  wtl_mpi_rank *self = wtl_mpi_self;
  wtl_mpi_frame f;
  if (wtl_mpi_here.inside) wtl_mpi_end_left(); /* an error handler may call it, or have left a call */
  wtl_mpi_enter(&f, WTL_MPI_Finalize, *(const wtl_origin *)from, 0);
  wtl_record_unregister();
  close_together(self, &f);
  wtl_mpi_leave(&f);
  wtl_mpi_self = NULL;
  wtl_mpi_clocks_back(self);
  wtl_mpi_wakeup_stop(self);
  PMPI_Comm_free(&self->node);
  wtl_profile_stop(&self->profile);
  if (self->record.meter) wtl_meter_close(self->record.meter);
  free(self);
}

void wtl_mpi_stop(wtl_origin from)
{
  if (wtl_mpi_self) wtl_os_call_with_room(stop, &from);
}

static void abandon(void *arg)
{
  WTL_FLOATS_APART;
  WTL_AS_GUEST;
  wtl_mpi_rank *self = arg;
  wtl_record_unregister();
  self->door.stages.ns_per_tick = wtl_clock_ns_per_tick();
  write_record(self, NULL, NULL);
}

/* Runs once and frees nothing: other threads may be in calls, and the process may still reach MPI_Finalize. */
void wtl_mpi_abandon(void)
{
  wtl_mpi_rank *self = wtl_mpi_self;
  if (self && !atomic_exchange(&self->abandoned, true)) wtl_os_call_with_room(abandon, self);
}
