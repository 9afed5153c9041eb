/*
 * Blocking calls that stay as they are: those without a twin (MPI_Win_flush), and reductions whose order shows.
 *
 * Inside of one only the MPI itself can say that it found nothing to do. Open MPI does: told to yield when idle (a
 * parameter of its own, set in rank.c), it calls sched_yield where progress found no event. In a process with the
 * preload library that name is ours, and each such call a turn of the wait door. (In a test it says that this one found
 * nothing at all; and so one without it did.) MPICH over UCX is heard as it looks
 * (ucx_progress.c). Nothing else is changed: algorithm, messages and bits are the program's own. Another MPICH, or one with
 * MPI_THREAD_MULTIPLE, does not say: there such a call is a wait as a whole, for the governor, which can only go by how
 * long the last ones at its site were.
 */
#include "mpi/mpi_front.h"

/* Open MPI looks for events once in each flush, whether it waits or not: who finds nothing so often does wait. */
enum { LOOKS_OF_A_WAIT = 2 };

void wtl_mpi_keep(wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_governor *g = wtl_mpi_self->door.governor;
  t->site = f->site;
  t->looks = 0;
  t->keeping = true;
  if (WTL_LIKELY(!g)) return;
  t->entered = wtl_ticks();
  if (wtl_governor_wait(g, f->site, t->entered) == 0) wtl_governor_slack(g, t->entered);
}

void wtl_mpi_kept(wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_governor *g = wtl_mpi_self->door.governor;
  bool idled = t->turns.idle != 0, told = idled && t->turns.governed; /* the door knows of it; the governor does */
  t->keeping = false;
  wtl_door_test_wait_end(&wtl_mpi_self->door, f->site, &t->turns, true);
  if (WTL_LIKELY(!g) || told) return;
  if (idled)
    wtl_governor_continue(g, f->site, t->entered, wtl_ticks());
  else
    wtl_governor_continue_unrecorded(g, f->site, t->entered, wtl_ticks());
}

/* Who asks for spinning has the MPI as it is, which gives its core away where processes outnumber cores. */
static bool rests_here(void)
{
  const wtl_stages *s = &wtl_mpi_self->door.stages;
  return s->policy != WTL_WAIT_SPIN || !s->crowded;
}

bool wtl_mpi_idle(void)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  if (!t->inside) return false;
  if (!t->keeping) { /* within a test: who waits decides what comes next */
    if (t->result == WTL_TEST_UNKNOWN) t->result = WTL_TEST_IDLE;
    return rests_here();
  }
  if (t->looks < LOOKS_OF_A_WAIT) {
    if (++t->looks == LOOKS_OF_A_WAIT) t->looked = wtl_ticks();
    return rests_here() && !wtl_mpi_self->door.stages.yields;
  }
  uint64_t now = wtl_ticks();
  wtl_door_test_failed(&wtl_mpi_self->door, t->site, &t->turns, &wtl_mpi_self->kept, now - t->looked);
  t->looked = wtl_ticks();
  return rests_here();
}

void wtl_mpi_moved(void)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  wtl_door_test_wait_end(&wtl_mpi_self->door, t->site, &t->turns, true);
  t->looks = 0;
}
