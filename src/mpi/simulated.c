/* simulated.c - lets the companion of a simulated rank carry out its MPI calls (simulated.h). */
#include "mpi/simulated.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sigpipe.h"
#include "govern/steps.h"
#include "profile/modules.h"
#include "sim/libc_calls.h"

/* --- calls by the companion --- */

static void end_plain(void *done, uint64_t tag)
{
  (void)tag;
  *(bool *)done = true;
  wtl_sim_wake(done, 1);
}

void wtl_mpi_hand_over(void (*call)(void *), void *arguments)
{
  bool done = false;
  if (!wtl_sim_thread()) {
    call(arguments); /* inside a function of the program that MPI has called */
    return;
  }
  wtl_sim_catch_up();
  wtl_sim_carry_out(call, arguments, end_plain, &done);
  while (!done) wtl_sim_block(&done, INFINITY);
}

typedef struct waited {
  wtl_bell *bell;
  wtl_site *site;
  uint64_t began; /* tick */
  bool done;
} waited;

static bool is_done(void *of)
{
  return ((const waited *)of)->done;
}

/* Runs between turns of the simulator. So it rings the bell itself, without functions that ask which PE they run on. */
static void end_waited(void *of, uint64_t tag)
{
  waited *w = of;
  (void)tag;
  w->done = true;
  atomic_fetch_add_explicit(&w->bell->rung, 1, memory_order_relaxed);
  wtl_sim_wake(&w->bell->rung, INT_MAX);
}

/*
 * A real MPI process sleeps in steps: a sleep and a test, again and again, until the test succeeds. Here the thread
 * blocks until the call is over, and the steps are computed afterwards. So a call that never ends is a deadlock, and no
 * test costs an event.
 */
static enum wtl_sleep sleep_in_steps(void *of, double seconds)
{
  waited *w = of;
  wtl_door *d = &wtl_mpi_self->door;
  double wake_s = wtl_sim_price()->wake, tick_s = d->stages.ns_per_tick * 1e-9;
  uint64_t at = wtl_ticks(), n_steps = 0, now;
  (void)seconds; /* without a limit */
  wtl_sim_catch_up();
  while (!w->done) wtl_sim_block(&w->bell->rung, INFINITY);
  now = wtl_ticks();
  do {
    at += wtl_steps_next(&d->stages, &w->site->length, at - w->began) + (uint64_t)(wake_s / tick_s);
    n_steps++;
  } while (at < now);
  wtl_sim_pause((double)(at - now) * tick_s);
  wtl_sim_was_awake((double)n_steps * wake_s);
  atomic_fetch_add_explicit(&d->sleeps, n_steps - 1, memory_order_relaxed); /* the door counts one */
  return WTL_SLEPT_WOKEN;
}

void wtl_mpi_carry_out(wtl_mpi_frame *f, void (*call)(void *), void *arguments)
{
  waited w = {.bell = &wtl_mpi_self->bell, .site = f->site};
  const wtl_sleeper sleeper = {sleep_in_steps, &w, -1};
  wtl_sim_catch_up();
  wtl_sim_carry_out(call, arguments, end_waited, &w);
  w.began = wtl_ticks();
  wtl_door_wait_on_sleeper(&wtl_mpi_self->door, f->site, &sleeper, is_done, &w);
  wtl_steps_waited(&f->site->length, wtl_ticks() - w.began);
}

void wtl_mpi_failed(wtl_mpi_frame *f, MPI_Comm comm, int code)
{
  MPI_Errhandler handler;
  wtl_module *modules = NULL;
  size_t n_modules = 0;
  char words[MPI_MAX_ERROR_STRING] = "";
  int n;
  if (comm == MPI_COMM_NULL) comm = MPI_COMM_WORLD;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
  if (handler != MPI_ERRORS_ARE_FATAL) {
    if (handler != MPI_ERRORS_RETURN) PMPI_Comm_call_errhandler(comm, code);
    return;
  }
  PMPI_Error_string(code, words, &n);
  int module = wtl_module_of(f->site->addr, &modules, &n_modules);
  uintptr_t at = f->site->addr - (module < 0 ? 0 : modules[module].base) - 1; /* within the call, as in profiles */
  wtl_message_print("%s at program+0x%llx: %s", wtl_call_of(wtl_mpi_self->door.calls, f->site->call)->name,
                    (unsigned long long)at, words);
  wtl_mpi_abandon();
  PMPI_Abort(comm, code);
}

/* --- not needed in simulation: wake-ups within a node, the search for loops of tests --- */

wtl_mpi_memory wtl_mpi_wakeup_make(const wtl_mpi_rank *self)
{
  (void)self;
  return (wtl_mpi_memory){0};
}

void wtl_mpi_wakeup_open(wtl_mpi_rank *self, const wtl_mpi_memory *made)
{
  (void)self;
  (void)made;
}

void wtl_mpi_wakeup_close(const wtl_mpi_rank *self, const wtl_mpi_memory *made)
{
  (void)self;
  (void)made;
}

void wtl_mpi_wakeup_stop(wtl_mpi_rank *self)
{
  (void)self;
}

void wtl_mpi_leave_others(wtl_mpi_rank *self)
{
  (void)self;
}

bool wtl_mpi_is_left(const wtl_mpi_rank *self)
{
  (void)self;
  return false;
}

bool wtl_mpi_test_loop_found_again(wtl_mpi_test_loop *loop)
{
  (void)loop;
  return false;
}

wtl_mpi_loop_state wtl_mpi_test_loop_check(wtl_mpi_test_loop *loop)
{
  (void)loop;
  return WTL_MPI_LOOP_ONLY_TESTS;
}

/* --- start and end --- */

static int started(int rc)
{
  wtl_mpi_rank *self = rc == MPI_SUCCESS ? wtl_mpi_rank_make() : NULL;
  if (self) wtl_mpi_start(self, MPI_THREAD_SERIALIZED);
  return rc;
}

int MPI_Init(int *argc, char ***argv)
{
  return started(PMPI_Init(argc, argv));
}

/* A rank has one companion, so it makes one call at a time. */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  int unused, rc = PMPI_Init_thread(argc, argv, required, &unused);
  if (provided) *provided = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  return started(rc);
}

int MPI_Finalize(void)
{
  wtl_mpi_stop(WTL_ORIGIN);
  return PMPI_Finalize();
}

/* All ranks are one process. */
int wtl_handed_Abort(MPI_Comm comm, int code)
{
  (void)comm;
  wtl_sigpipe_hold(); /* the exit status must be the program's, even if its output is not read */
  fflush(NULL);
  _exit(code);
}

int MPI_Abort(MPI_Comm comm, int code)
{
  wtl_mpi_abandon();
  wtl_message_print("MPI_Abort(%d) ends the job", code);
  return PMPI_Abort(comm, code);
}

void wtl_mpi_find_fortran(void) {} /* entries are found by name */

/* --- Fortran --- */

wtl_mpi_fortran *wtl_mpi_fortran_of(const char *name)
{
  wtl_mpi_fortran *found;
  void *at = wtl_sim_entry(name);
  if (!at) {
    wtl_message_print("SimGrid's MPI has no %s", name);
    _exit(WTL_EXIT_UNAVAILABLE);
  }
  memcpy(&found, &at, sizeof found);
  return found;
}

static void init_f(void *ierror)
{
  ((void (*)(void *))wtl_mpi_fortran_of("mpi_init_"))(ierror);
}

void mpi_init_(MPI_Fint *ierror)
{
  wtl_mpi_hand_over(init_f, ierror);
  started(*ierror);
}

void mpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
  mpi_init_(ierror);
  *provided = *required < MPI_THREAD_SERIALIZED ? *required : MPI_THREAD_SERIALIZED;
}

void mpi_finalize_(MPI_Fint *ierror)
{
  wtl_mpi_stop(WTL_ORIGIN);
  *ierror = PMPI_Finalize();
}

void mpi_abort_(void *comm, const MPI_Fint *code, MPI_Fint *ierror)
{
  (void)comm;
  *ierror = MPI_Abort(MPI_COMM_WORLD, *code);
}

/* --- calls that an error handler has left: only looked for on a real machine --- */

void wtl_mpi_end_left(void)
{
  wtl_mpi_here.inside = NULL;
}

bool wtl_mpi_is_inside(const void *at)
{
  (void)at;
  return true;
}

/* --- the clock, and functions that SimGrid's header declares --- */

double MPI_Wtime(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double MPI_Wtick(void)
{
  return 1e-9;
}

double mpi_wtime_(void)
{
  return MPI_Wtime();
}

double mpi_wtick_(void)
{
  return MPI_Wtick();
}

int MPI_Pcontrol(int level, ...)
{
  (void)level;
  return MPI_SUCCESS;
}

static void comm_self(void *out)
{
  *(MPI_Comm *)out = ((MPI_Comm(*)(void))wtl_mpi_fortran_of("smpi_process_comm_self"))();
}

/* smpi.h defines MPI_COMM_SELF as a call of this function. */
MPI_Comm smpi_process_comm_self(void)
{
  MPI_Comm self = MPI_COMM_NULL;
  wtl_mpi_hand_over(comm_self, &self);
  return self;
}

/* Returns the name of a call, for the simulator's report of waiting PEs. */
const char *wtl_sim_mpi_call_name(unsigned call)
{
  return wtl_mpi_calls[call].name;
}
