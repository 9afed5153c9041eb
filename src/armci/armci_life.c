/* armci_life.c - starts and ends ARMCI, and has the messages of the checks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "armci/armci_front.h"
#include "global/block_table.h"
#include "global/global_memory.h"
#include "global/tagged.h"
#include "job/job.h"
#include "pgas/near.h"
#include "team/barrier.h"

static const wtl_call_info calls[] = {
#define X(name, kind, direction) {#name, WTL_CALL_##kind, WTL_DIR_##direction, WTL_NOT_IN_HANDLERS},
#include "armci/calls.def"
#undef X
};

/* --- messages of the checks --------------------------------------------------------------------------------------- */

void armci_refuse_uninitialised(const char *call)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: called before ARMCI_Init or after ARMCI_Finalize", wtl_error_place(call));
}

void armci_refuse_unstarted(const char *call)
{
  char when[64];
  wtl_pe_why_none(when, sizeof when, "ARMCI_Init", "ARMCI_Finalize");
  wtl_message_pe(wtl_boot_env_rank());
  wtl_message_print("%s: called %s", wtl_error_place(call), when);
  _exit(WTL_EXIT_USAGE);
}

void wtl_front_refuse_uninitialised(uint32_t call)
{
  armci_refuse_unstarted(calls[call % WTL_CALLS_A_FRONT].name);
}

void armci_refuse_proc(const char *call, int proc)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: there is no process %d; this job has processes 0 to %d", wtl_error_place(call), proc,
              wtl_self->n - 1);
}

void armci_refuse_place(const wtl_frame *f, const char *name, const void *p, size_t n, int proc)
{
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: %s=%p and %zu bytes from there are not memory that process %d allocated for others; use what "
              "ARMCI_Malloc gave for that process",
              wtl_error_place(f->name), name, p, n, proc);
}

void armci_check_block(const wtl_frame *f, const char *name, const void *p, size_t n, int proc)
{
  if (proc == f->self->me && !wtl_global_has(f->self, p, 1, proc)) return;
  wtl_block_entry block = wtl_block_at(f->self, f->site, p, proc);
  if (!block.bytes)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%p is in no block of memory that process %d has now (%zu bytes)",
                wtl_error_place(f->name), name, p, proc, n);
  size_t left = (size_t)(block.start + block.bytes - (uintptr_t)p);
  if (n > left)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: %s=%p and %zu bytes from there go beyond their block of process %d's memory: it has %llu bytes, "
                "and only %zu of them from there on",
                wtl_error_place(f->name), name, p, n, proc, (unsigned long long)block.bytes, left);
}

void armci_refuse_value(const char *call, const char *name, long value, const char *allowed)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%ld is not valid here; allowed: %s", wtl_error_place(call), name, value, allowed);
}

void armci_refuse_null(const char *call, const char *name)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL", wtl_error_place(call), name);
}

/* --- start and end ------------------------------------------------------------------------------------------------ */

static void *need(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size);
  if (!p) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  return p;
}

static void exchange_notification_words(const wtl_frame *f, armci_state *s)
{
  size_t n = (size_t)f->self->n;
  s->notified = wtl_global_alloc(f->self, n * sizeof *s->notified);
  if (!s->notified) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no space (raise WATTLE_GLOBAL_SIZE)");
  for (size_t i = 0; i < n; i++) s->notified[i] = 0;
  s->notify = need(n, sizeof *s->notify);
  s->notifications_sent = need(n, sizeof *s->notifications_sent);
  s->notifications_seen = need(n, sizeof *s->notifications_seen);
  wtl_group_gather(f->self, f->site, s->world, &s->notified, s->notify, sizeof s->notified);
}

static void free_state(wtl_pe *self)
{
  armci_state *s = armci_of(self);
  if (!s) return;
  self->front = NULL;
  armci_groups_stop(s);
  wtl_group_free(s->ending);
  armci_requests_free(s->requests);
  armci_mutexes_free(s->mutexes);
  free(s->notify);
  free(s->notifications_sent);
  free(s->notifications_seen);
  free(s->left_seen);
  free(s);
}

/* Runs when the program ends normally without ARMCI_Finalize, or after the last one. */
static void stop(wtl_pe *self)
{
  wtl_site site = {0};
  if (!self->front) return;
  armci_wait_all(self, &site);
  wtl_global_fence(self, &site, -1);
  armci_exit_announce(self, &site);
  armci_exit_synchronize(self, &site);
  free_state(self);
}

enum { MULTIPLE = 3 }; /* MPI_THREAD_MULTIPLE, in every MPI */

static int init(int level)
{
  wtl_site site = {0};
  bool threaded = level >= MULTIPLE;
  wtl_job_start(threaded || armci_mpi_is_threaded() ? WTL_THREAD_MULTIPLE : 0, WTL_FRONT_ARMCI, calls);
  wtl_pe *self = wtl_self;
  if (threaded && self->thread_level < WTL_THREAD_MULTIPLE)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "ARMCI_Init_thread: level %d: this process was initialized with a lower thread level; "
                "call ARMCI_Init_thread first, or request the level in the first initialization (shmem_init_thread)",
                level);
  armci_state *s = armci_of(self);
  if (s) {
    s->starts++;
    return 0;
  }
  wtl_frame f = {.self = self, .site = &site};
  s = need(1, sizeof *s);
  s->starts = 1;
  if (self->net) s->requests = armci_requests_make();
  wtl_tagged_start(self, &site);
  wtl_global_start(self, &site);
  self->stop_front = stop;
  armci_groups_start(&f, s);
  exchange_notification_words(&f, s);
  s->next_value = wtl_heap_alloc(&self->mem, sizeof *s->next_value, sizeof *s->next_value);
  if (!s->next_value) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no space (raise SHMEM_SYMMETRIC_SIZE)");
  *s->next_value = 0;
  armci_exit_start(self, s);
  self->front = s;
  wtl_barrier(self, &site);
  return 0;
}

int PARMCI_Init(void)
{
  return init(0);
}
ARMCI_TWIN(int, Init, void)

int PARMCI_Init_args(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  return init(0);
}
ARMCI_TWIN(int, Init_args, int *argc, char ***argv)

int PARMCI_Init_thread(int level)
{
  return init(level);
}
ARMCI_TWIN(int, Init_thread, int level)

/* A later start, next to others, must be one of the same processes. */
static int init_among(int level, WTL_MPI_COMM comm)
{
  if (!wtl_self && !armci_comm_confine(&comm))
    return wtl_message_print("ARMCI_Init_thread_comm: call it between MPI_Init and MPI_Finalize"), -1;
  return init(level);
}

int PARMCI_Init_thread_comm(int level, WTL_MPI_COMM comm)
{
  return init_among(level, comm);
}
ARMCI_TWIN(int, Init_thread_comm, int level, WTL_MPI_COMM comm)

int PARMCI_Init_mpi_comm(WTL_MPI_COMM comm)
{
  return init_among(0, comm) == 0;
}
ARMCI_TWIN(int, Init_mpi_comm, WTL_MPI_COMM comm)

int PARMCI_Initialized(void)
{
  return wtl_self && wtl_self->front;
}
ARMCI_TWIN(int, Initialized, void)

int PARMCI_Finalize(void)
{
  if (!PARMCI_Initialized()) return 0; /* a program may call it any number of times */
  wtl_pe *self = wtl_self;
  armci_state *s = armci_of(self);
  { /* the frame ends while there is still a profile */
    ARMCI_ENTER(ARMCI_Finalize, 0);
    armci_wait_all(self, f.site);
    wtl_global_fence(self, f.site, -1);
    armci_synchronize(&f, s->world, 0, 0);
    if (s->starts == 1)
      armci_exit_synchronize(self, f.site);
    else
      wtl_barrier(self, f.site);
  }
  if (--s->starts == 0) {
    wtl_heap_free(&self->mem, s->next_value);
    wtl_heap_free(&self->mem, s->left);
    wtl_global_free(self, s->notified);
    free_state(self);
  }
  wtl_job_stop();
  return 0;
}
ARMCI_TWIN(int, Finalize, void)

void ARMCI_Cleanup(void)
{
  /* The arenas have no name, so they end with the processes. */
}

void ARMCI_Error(const char *msg, int code)
{
  const char *text = msg ? msg : "";
  size_t n = strlen(text);
  /* Programs of Global Arrays end the text with a line break; this message is one line. */
  while (n > 0 && text[n - 1] == '\n') n--;
  wtl_pe_fail(code & 255 ? code & 255 : 1, "ARMCI_Error: %.*s (%d)", (int)n, text, code);
}

void armci_msg_abort(int code)
{
  wtl_job_exit(code & 255 ? code & 255 : 1);
}
