/*
 * program_tests.c - treats tests that the program makes itself as a wait.
 *
 * A program without MPI_Wait waits by tests: one finds nothing, and another follows with no work in between. Such a
 * chain of tests is a wait of the door, at the site of the last test.
 *
 * A chain ends when a test succeeds, unless it did so before in the same state. It also ends when another call follows
 * or when the program's state changes (test_loop.c), and when more time passes between two tests than a loop around
 * them needs.
 */
#include "mpi/mpi_front.h"
#include "os/floats.h"

/* The longest time between two tests of a loop that does nothing else. After a sleep or a yield the loop's code may
 * have left the caches. */
enum { BETWEEN_NS = 250, BETWEEN_COLD_NS = 2000 };

void wtl_mpi_end_polling(void)
{
  wtl_door_test_wait_end(&wtl_mpi_self->door, NULL, &wtl_mpi_here.polling, false);
}

uint64_t wtl_mpi_continue_polling(void)
{
  WTL_FLOATS_APART;
  const wtl_mpi_thread *t = &wtl_mpi_here;
  const wtl_stages *s = &wtl_mpi_self->door.stages;
  uint64_t now = wtl_ticks();
  double between = t->polling.slept || s->yields ? BETWEEN_COLD_NS : BETWEEN_NS;
  if (t->polling.idle && (double)(now - t->polled) * s->ns_per_tick > between) wtl_mpi_end_polling();
  return now;
}

void wtl_mpi_note_test(wtl_mpi_frame *f, uint64_t from, bool found)
{
  wtl_mpi_rank *self = wtl_mpi_self;
  wtl_mpi_thread *t = &wtl_mpi_here;
  bool in_chain = t->polling.idle != 0, again = found && wtl_mpi_test_loop_found_again(&t->loop);
  wtl_mpi_loop_state state = found ? WTL_MPI_LOOP_UNKNOWN : wtl_mpi_test_loop_check(&t->loop);
  if ((found && !again) || t->result == WTL_TEST_PROGRESS) wtl_wakeup_others(&self->door.ring);
  if (found && !again) {
    wtl_door_test_wait_end(&self->door, f->site, &t->polling, true);
  } else if (state == WTL_MPI_LOOP_ONLY_TESTS) {
    t->polling.may_compute = true;
    t->polling.result = t->result;
    wtl_door_test_failed(&self->door, f->site, &t->polling, &self->polls, wtl_ticks() - from);
  } else if (state == WTL_MPI_LOOP_COMPUTES) {
    wtl_mpi_end_polling();
  }
  if (t->polling.idle) t->polled = wtl_ticks();
  if (in_chain) { /* its time is recorded as waiting */
    f->site->exact_calls++;
    t->inside = NULL;
  } else {
    wtl_mpi_close(f);
  }
}
