/* job.c - starts and ends a PE, and ends the whole job. */
#include "job/job.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "am/am.h"
#include "base/align.h"
#include "base/error.h"
#include "check/deadlock.h"
#include "collective/collective.h"
#include "global/global_memory.h"
#include "global/tagged.h"
#include "job/account.h"
#include "job/pe_governor.h"
#include "job/network.h"
#include "node/cores.h"
#include "node/last_thread.h"
#include "node/lifeline.h"
#include "node/process.h"
#include "os/floats.h"
#include "os/guest.h"
#include "os/os.h"
#include "pgas/near.h"
#include "record/job_folder.h"
#include "team/barrier.h"
#include "team/context.h"
#include "team/team.h"
#include "team/team_entry.h"

static const char no_memory[] = "no memory to start a PE";

/*
 * Prints the reasons for which this process cannot become a PE, and ends the process. In a job all processes usually
 * have the same reason. So rank 0 prints it at once, and the launcher ends the others before they print. A process that
 * is still alive after the pause has a reason of its own.
 */
static void refuse(int status, const char *reasons)
{
  char copy[4096], *save = NULL;
  snprintf(copy, sizeof copy, "%s", reasons);
  if (wtl_boot_env_rank() != 0) sleep(5); /* Open MPI takes a second to end the others, and more on a busy node */
  for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
    wtl_message_print("%s", line);
  wtl_message_linger();
  _exit(status);
}

/* The address of a PE's own heap on all nodes, in the middle of the range that the kernel allocates from both ends. */
#define WTL_HEAP_OWN ((uintptr_t)1 << 46)

static int start_memory(wtl_pe *self, char *error, size_t size)
{
  wtl_statics statics = {0};
  wtl_arena_shape shape = {.name = "arena", .setting = "SHMEM_SYMMETRIC_SIZE"};
  size_t n = (size_t)self->n_local, accounts = sizeof(wtl_shared), rings;
  int rc;
  bool asked = self->settings.statics.on;
  if (asked && !self->boot.one_program && self->me == 0)
    wtl_message_print("the PEs run different executables, so only memory from shmem_malloc is symmetric, and no global "
                      "or static variable "
                      "(WATTLE_STATICS=off: no message)");
  if (asked && self->boot.one_program) {
    wtl_statics_find(&statics);
    shape.program = self->boot.program;
  }
  shape.heap_bytes = wtl_page_up(wtl_heap_at_least(self->settings.symmetric_size.bytes));
  self->heap_bytes = wtl_page_up(wtl_heap_span(shape.heap_bytes));
  size_t entries = wtl_page_up(accounts + n * sizeof(wtl_account));
  rings = wtl_page_up(entries + n * WTL_MOST_TEAMS * sizeof(wtl_team_entry));
  size_t votes = rings + wtl_page_up(wtl_am_ring_bytes(self->n_local));
  shape.shared_bytes = votes + wtl_votes_bytes(self->n_local);
  shape.per_pe_bytes = sizeof(wtl_control);
  shape.slice_bytes = statics.length + self->heap_bytes;
#if UINTPTR_MAX > UINT32_MAX
  if (WTL_OS_PES_ARE_PROCESSES) shape.own = WTL_HEAP_OWN; /* PEs that share a process cannot all have this address */
#endif
  shape.statics_bytes = statics.length;
  if ((rc = wtl_arena_start(&self->arena, &self->boot, &shape, error, size)) != 0) return rc;
  self->shared = (wtl_shared *)self->arena.shared;
  self->notice = &self->shared->notice;
  wtl_notice_join(self->notice);
  self->accounts = (wtl_account *)(self->arena.shared + accounts);
  self->rings = self->arena.shared + rings;
  self->votes = (wtl_votes *)(self->arena.shared + votes);
  self->entries = self->arena.shared + entries;
  self->controls = self->arena.per_pe;
  self->slices = self->arena.slices;
  self->stride = self->arena.stride;
  self->heap = self->slices + (size_t)self->slot * self->stride + statics.length;
  self->statics = statics.start;
  self->statics_bytes = statics.length;
  self->constants = statics.constants;
  self->constants_bytes = statics.constants_length;
  wtl_heap_start(&self->mem, self->heap, shape.heap_bytes);
  size_t offset = self->arena.place + (size_t)(self->slices - self->arena.base) + (size_t)self->slot * self->stride;
  return wtl_statics_share(&statics, self->arena.fd, offset, error, size);
}

static void announce(const wtl_pe *self)
{
  size_t count;
  const wtl_setting *row = wtl_settings_table(&count);
  char value[256];
  if (self->settings.debug.on)
    wtl_message_print("started by %s as %d of %d, heap %zu bytes at %p", self->boot.ops->name, self->me, self->n,
                      self->mem.bytes, (void *)self->heap);
  if (self->me != 0) return;
  if (wtl_settings_near_miss(value, sizeof value)) wtl_message_print("%s", value);
  if (self->settings.version.on) wtl_message_print("Wattle %s, OpenSHMEM 1.6", WTL_VERSION);
  for (size_t i = 0; self->settings.info.on && i < count; i++)
    wtl_message_print("%s=%s  %s", row[i].name, wtl_settings_text(&self->settings, i, value, sizeof value),
                      row[i].help);
}

static void start_counting(wtl_pe *self)
{
  char error[512];
  if (self->boot.local_rank == 0 || WTL_OS_IS_SIMULATED) {
    self->meter = wtl_meter_open(&self->settings, error, sizeof error);
    if (!self->meter) wtl_pe_fail(WTL_EXIT_CONFIG, "%s", error);
    wtl_meter_start(self->meter);
  }
  wtl_account_start(self); /* the time until all PEs have started does not count */
}

/*
 * Counts the cores that the PEs of this node can use together; a PE that is bound to a core sees only that one. All PEs
 * compute the number from the same data, so all choose the same barrier. The collective at the end also finds out
 * whether any PE of the job allows several threads to call, and shares the number of the folder of profiles.
 */
static void count_cores(wtl_pe *self, wtl_site *site)
{
  wtl_control *mine = wtl_control_of(self, self->me);
  cpu_set_t own, cpus, all, common;
  double quota = INFINITY;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof own, &own);
  memcpy(mine->cpus, &own, sizeof own);
  mine->quota = wtl_cores_quota();
  mine->pid = getpid();
  mine->pid_namespace = wtl_process_namespace();
  if (!(self->apart = calloc((size_t)self->n_local, sizeof *self->apart))) refuse(WTL_EXIT_OSERR, no_memory);
  wtl_barrier(self, site);
  for (int slot = 0; slot < self->n_local; slot++) {
    const wtl_control *theirs = wtl_control_of(self, self->boot.local_pe[slot]);
    memcpy(&cpus, theirs->cpus, sizeof cpus);
    CPU_OR(&all, &all, &cpus);
    CPU_AND(&common, &own, &cpus);
    self->apart[slot] = CPU_COUNT(&common) == 0;
    quota = fmin(quota, theirs->quota);
  }
  double cores = CPU_COUNT(&all) ? CPU_COUNT(&all) : (double)sysconf(_SC_NPROCESSORS_ONLN);
  int usable = (int)fmax(1, ceil(fmin(cores, quota)));
  wtl_prices prices;
  bool learns = wtl_stages_learn_under(&self->settings);
  if (learns) {
    wtl_prices_read(&self->settings, &prices);
    bool named = strcmp(self->settings.prices.text, "auto") != 0 && strcmp(self->settings.prices.text, "none") != 0;
    if (named && !prices.known && self->slot == 0)
      wtl_message_print("WATTLE_PRICES: %s; waits begin without prices", prices.why);
  }
  int physical = CPU_COUNT(&all) ? wtl_cores_physical(&all, "/sys") : usable;
  wtl_stages_start(&self->door.stages, &self->settings, self->n_local, (wtl_cores){usable, physical}, self->net != NULL,
                   learns ? &prices : NULL, wtl_clock_ns_per_tick());
  uint64_t most[] = {(uint64_t)self->thread_level, 0};
  if (self->me == 0) most[1] = (uint64_t)wtl_record_take_folder(self->settings.profile_dir.text);
  wtl_collective_max(self, site, most, 2);
  self->threads_anywhere = most[0] >= WTL_THREAD_MULTIPLE;
  wtl_record_use_folder(&self->settings, (int)most[1]);
  self->central_barrier = self->door.stages.crowded;
}

static void start(wtl_pe *self)
{
  char error[4096];
  wtl_site quiet_site = {0};
  int rc;
  if (wtl_settings_parse(&self->settings, error, sizeof error) != 0) refuse(WTL_EXIT_CONFIG, error);
  if ((rc = wtl_boot_start(&self->boot, &self->settings, error, sizeof error)) != 0) refuse(rc, error);
  self->me = self->boot.pe;
  self->n = self->boot.n_pes;
  wtl_message_pe(self->me);
  self->n_local = self->boot.n_local;
  self->slot = self->boot.local_rank;
  self->slot_of = self->boot.slot_of;
  if ((rc = start_memory(self, error, sizeof error)) != 0) wtl_pe_fail(rc, "%s", error);
  self->check = self->settings.check.on;
  self->compares = self->check && self->settings.debug.on;
  self->collectives = self->settings.collectives.number;
  self->central_barrier = true; /* until the number of cores is known to all PEs */
  wtl_door_start(&self->door, &wtl_control_of(self, self->me)->bell, &self->settings, self->n_local,
                 (wtl_cores){wtl_cores_allowed(), wtl_cores_allowed()});
  self->door.notice = self->notice;
  if (!wtl_lowpower_choose(self->settings.lowpower.number, &self->door.lowpower, error, sizeof error))
    wtl_pe_fail(WTL_EXIT_CONFIG, "%s", error);
  self->door.is_shared = self->thread_level >= WTL_THREAD_MULTIPLE;
  wtl_profile_start(&self->profile, self->settings.profile.on, (int)self->settings.call_paths.number);
  self->profile.symmetric[0] = (wtl_symmetric){self->heap, self->heap_bytes};
  self->profile.symmetric[1] = (wtl_symmetric){self->statics, self->statics_bytes};
  wtl_am_start(self, self->rings);
  wtl_teams_start(self);
  if ((rc = wtl_network_start(self, error, sizeof error)) != 0) wtl_pe_fail(rc, "%s", error);
  if (self->net) wtl_lifeline_network_is_up();
  wtl_governed_request(self);
  count_cores(self, &quiet_site);
  wtl_profile_keep(&self->profile, self->settings.profile_dir.text);
  wtl_governed_start(self);
}

/* A forked child is not a PE. Its calls are refused, and its exit must not end the job. */
static void in_child(void)
{
  if (!WTL_OS_PES_ARE_THREADS && wtl_self) wtl_pe_vanish(WTL_PE_FORKED, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
  wtl_os_join_barriers(); /* fast while the process has one thread */
  pthread_atfork(NULL, NULL, in_child);
}

/* Handles an exit without shmem_finalize. With status 0 the PE finalizes, as the standard demands. With another status
 * it does not. */
static void at_exit(int status, void *arg)
{
  wtl_pe *self = wtl_self;
  if (!self || self != arg || self->starter_pid != (long)getpid()) return;
  if (status != 0) return;
  wtl_am_refuse_in_handler("exit, without shmem_finalize"); /* on the stack on which a handler may be */
  self->init_count = 1;
  wtl_job_stop();
}

/* Only a process with one PE ends its PE at exit. In the threads build one process has many PEs. */
static void watch_process(wtl_pe *self)
{
  if (!WTL_OS_PES_ARE_THREADS) on_exit(at_exit, self);
}

/* Occupies those of the descriptors 0 to 2 that the program has closed, and returns them as a mask. The launcher's and
 * the network's libraries would get them, and many programs close them again or open other files there. */
static unsigned occupy_streams(void)
{
  unsigned occupied = 0;
  for (int fd = 0, null; fd <= STDERR_FILENO && (null = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0; fd++) {
    if (null > STDERR_FILENO) {
      close(null);
      break;
    }
    occupied |= 1u << null;
  }
  return occupied;
}

static void free_streams(unsigned occupied)
{
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (occupied & 1u << fd) close(fd);
}

void wtl_job_start(int thread_level, enum wtl_front front, const wtl_call_info *calls)
{
  WTL_FLOATS_APART;
  WTL_AS_GUEST;
  wtl_pe *self = wtl_self;
  if (self) {
    self->record->calls[front] = calls;
    self->init_count++;
    return;
  }
  self = calloc(1, sizeof *self);
  if (!self || !(self->record = calloc(1, sizeof *self->record))) refuse(WTL_EXIT_OSERR, no_memory);
  self->init_count = 1;
  self->thread_level = thread_level;
  self->record->calls[front] = calls;
  self->starter_pid = (long)getpid();
  wtl_self = self;
  wtl_last_thread_libraries_start();
  unsigned streams = occupy_streams();
  start(self);
  free_streams(streams);
  watch_process(self);
  announce(self);
  start_counting(self);
  wtl_last_thread_libraries_started();
}

/* the call that ended this PE, if it is not the front end's own */
static const char *stopped_with;

/* Ends the parts of a PE. No handler runs any more: all PEs have closed. */
static void release(wtl_pe *self)
{
  WTL_FLOATS_APART;
  wtl_am_stop(self);
  wtl_governed_stop(self);
  wtl_network_stop(self);
  wtl_global_stop(self);
  wtl_tagged_stop(self);
  if (self->settings.debug.on) wtl_message_print("finishes");
  wtl_lifeline_cut();
  if (self->meter) wtl_meter_close(self->meter);
  wtl_statics_unshare();
  wtl_boot_stop(&self->boot);
  wtl_lifeline_back();
  wtl_am_free(self);
  wtl_arena_stop(&self->arena);
  wtl_heap_stop(&self->mem);
  wtl_profile_stop(&self->profile);
  wtl_teams_stop(self);
  wtl_pe_vanish(WTL_PE_ENDED, stopped_with);
  free(self->apart);
  free(self->record);
  free(self);
}

static void stop(void *arg)
{
  WTL_AS_GUEST;
  wtl_pe *self = wtl_self;
  wtl_site site = {0};
  (void)arg;
  if (self->compares) wtl_deadlock_end(self);
  if (self->stop_front) self->stop_front(self);
  wtl_am_end(self);
  const char *call = "shmem_finalize";
  wtl_am_quiet(self, &site, call);
  wtl_contexts_stop(self, &site, call);
  wtl_quiet(self, &site);
  wtl_account_close(self, &site);
  release(self);
}

/* A thread with a small stack may call it. */
void wtl_job_stop(void)
{
  if (--wtl_self->init_count == 0) wtl_os_call_with_room(stop, NULL);
}

void wtl_job_stop_with(const char *call)
{
  stopped_with = call;
  wtl_self->init_count = 1;
  wtl_job_stop();
}

void wtl_job_exit(int status)
{
  WTL_AS_GUEST;
  wtl_pe *self = wtl_self;
  wtl_pe_flush_output();
  if (self) {
    self->starter_pid = 0; /* no finalize at exit */
    wtl_account_abandon(self);
    wtl_boot_abort(&self->boot, status, "shmem_global_exit");
  }
  _exit(status);
}
