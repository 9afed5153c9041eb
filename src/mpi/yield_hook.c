/*
 * yield_hook.c - lets the wait door control the core in blocking calls that stay unchanged.
 *
 * Inside such a call only the MPI itself knows that it is idle. Where it shows this, all blocking calls stay unchanged.
 * Elsewhere only those stay that have no counterpart (MPI_Win_flush), or whose counterpart may give other bits. In
 * MPI_Init each process tests a request that cannot end, to find out which of the two holds, and all agree.
 *
 * Open MPI shows it: with mpi_yield_when_idle, which
 * mpi_life.c sets, it calls sched_yield when progress finds no event. The preload library replaces sched_yield, and
 * each such call is one turn of the wait door. In a test of Open MPI it means that the test found nothing at all. A
 * test without it found something. MPICH over UCX is observed at its progress (ucx_progress.c). Algorithm, messages and
 * bits stay those of the program.
 *
 * Another MPICH, or one with MPI_THREAD_MULTIPLE, shows nothing. There such a call is a single wait for the governor,
 * which can only use the length of the last waits at its site. Open MPI with MPI_THREAD_MULTIPLE shows it in one thread
 * for all that wait. A sleep of that thread would delay the others, so there a call becomes its counterpart, too.
 */
#include "mpi/mpi_front.h"

/*
 * Open MPI polls for events once in each flush, even if it does not wait. A second poll without an event is a wait.
 *
 * A turn of the door takes longer than such a poll, and a message that comes meanwhile is seen later. So one poll in
 * REPORTS_OF_A_TURN is a turn, which is one in some microseconds. A wait that ends before its first turn is part of the
 * call's own time. Where the door yields, each poll is a turn. After a sleep the first poll is one, and so are the next
 * ones as long as they take so long that events may have come.
 */
enum { REPORTS_OF_A_WAIT = 2, REPORTS_OF_A_TURN = 48 };

void wtl_mpi_govern_call(const wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_governor *g = wtl_mpi_self->door.governor;
  t->entered = wtl_ticks();
  if (wtl_governor_wait(g, f->site, t->entered) == 0) wtl_governor_slack(g, t->entered);
}

void wtl_mpi_end_call_wait(const wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_governor *g = wtl_mpi_self->door.governor;
  bool idled = t->call_wait.idle != 0,
       is_governed = idled && t->call_wait.governed; /* the governor knows of the wait */
  wtl_door_test_wait_end(&wtl_mpi_self->door, f->site, &t->call_wait, true);
  if (WTL_LIKELY(!g) || is_governed) return;
  if (idled)
    wtl_governor_continue(g, f->site, t->entered, wtl_ticks());
  else
    wtl_governor_continue_unrecorded(g, f->site, t->entered, wtl_ticks());
}

void wtl_mpi_end_left(void)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_mpi_frame left = {.site = t->site};
  if (t->is_unchanged) wtl_mpi_end_unchanged(&left);
  t->inside = NULL;
}

/* The stack grows down, so a call inside has a lower address. The memory of a frame that was left may hold others. */
__attribute__((no_sanitize("address"))) bool wtl_mpi_is_inside(const void *at)
{
  const wtl_mpi_frame *f = wtl_mpi_here.inside;
  if ((uintptr_t)f > (uintptr_t)at && f->self == f) return true;
  wtl_mpi_end_left();
  return false;
}

/* Returns whether the door controls the core. With WATTLE_WAIT=spin the MPI does: it yields where processes
 * outnumber cores. */
static bool door_controls_core(void)
{
  const wtl_stages *s = &wtl_mpi_self->door.stages;
  return s->policy != WTL_WAIT_SPIN || !s->crowded;
}

bool wtl_mpi_shows_idle(wtl_mpi_rank *self)
{
  enum { TAG = 1, MOST_TESTS = 1000 }; /* some find events that are left from MPI_Init */
  wtl_mpi_thread *t = &wtl_mpi_here;
  MPI_Request request; /* of a message that does not come */
  wtl_mpi_frame probe;
  int buffer, flag;
  if (PMPI_Irecv(&buffer, 1, MPI_INT, self->slot, TAG, self->node, &request) != MPI_SUCCESS) return false;
  wtl_mpi_self = self; /* for wtl_mpi_idle */
  t->inside = probe.self = &probe;
  t->is_unchanged = true;
  t->idle_reports = 0;
  for (int i = 0; i < MOST_TESTS && t->idle_reports == 0; i++) PMPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  t->inside = NULL;
  t->is_unchanged = false;
  wtl_mpi_self = NULL;
  PMPI_Cancel(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  return t->idle_reports > 0;
}

/* Returns whether this report is a turn of the door. */
static bool is_turn(const wtl_mpi_thread *t)
{
  const wtl_test_wait *w = &t->call_wait;
  return t->idle_reports >= REPORTS_OF_A_WAIT + REPORTS_OF_A_TURN || wtl_mpi_self->door.stages.yields ||
         (w->idle && (w->slept || w->moving_signs));
}

bool wtl_mpi_idle(void)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_test_wait *w = &t->call_wait;
  if (!t->inside || !wtl_mpi_self) return false; /* an error handler may have called MPI_Finalize inside */
  if (!t->is_unchanged) {                        /* inside a test, whose caller decides how to wait */
    if (t->result == WTL_TEST_UNKNOWN) t->result = WTL_TEST_IDLE;
    return door_controls_core();
  }
  if (++t->idle_reports <= REPORTS_OF_A_WAIT) {
    if (t->idle_reports == REPORTS_OF_A_WAIT) t->last_turn = wtl_ticks();
    return door_controls_core() && !wtl_mpi_self->door.stages.yields;
  }
  if (!is_turn(t)) return door_controls_core();
  if (!w->idle) wtl_door_test_wait_begin(&wtl_mpi_self->door, t->site, w, t->last_turn);
  wtl_door_test_failed(&wtl_mpi_self->door, t->site, w, &wtl_mpi_self->unchanged, wtl_ticks() - t->last_turn);
  t->last_turn = wtl_ticks();
  t->idle_reports = REPORTS_OF_A_WAIT;
  return door_controls_core();
}

void wtl_mpi_progressed(void)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  if (!wtl_mpi_self) return;
  wtl_door_test_wait_end(&wtl_mpi_self->door, t->site, &t->call_wait, true);
  t->idle_reports = 0;
}
