/*
 * schedule.h - keeps simulated time, runs the threads of all PEs one at a time, and calls functions at future times.
 *
 * Each thread of a PE has its own stack; all run in the simulator's one thread. A turn lasts until the thread blocks.
 * Events of the same time happen in the order in which they were requested, so a run is the same each time. Times are
 * in seconds.
 */
#ifndef WTL_SIM_SCHEDULE_H
#define WTL_SIM_SCHEDULE_H

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <ucontext.h>

namespace sim {

/* The scheduler's part of a thread. */
struct Turns {
  void (*begin)(Turns *) = nullptr; /* the thread's function, set by its creator */
  bool ended = false;

  /* Private to schedule.cc. */
  ucontext_t context = {}; /* for its first turn */
  jmp_buf place = {};      /* for all later turns */
  bool has_run = false;
  char *stack = nullptr;
  uint64_t waits = 0; /* number of the present wait: a time limit of an earlier one has no effect */
  bool woken = false;
  const Turns *waker = nullptr; /* the thread that ended its last block; nullptr: an event */
  bool was_roused = false;      /* `rouse` ended its last block */
  const void *word = nullptr;   /* the word that the thread blocks on; nullptr: on none */
  Turns *behind = nullptr;      /* the next thread that blocks on it */
};

double now();
Turns *running(); /* the thread whose turn it is; nullptr between turns */

/* Makes the thread ready for its first turn, after all that are ready already. */
void start(Turns *thread);
/* Ends the caller's turn. It gets no other one before go_on. */
void wait();
void go_on(Turns *thread);

/* Schedules act(what, tag) for time `when`, between turns. */
using Act = void (*)(void *what, uint64_t tag);
void at(double when, Act act, void *what, uint64_t tag);

/* Blocks the caller for `seconds`. */
void pass(double seconds);

/* Blocks the caller until `wake` for that word, at most `seconds` (INFINITY: no limit). True if it was woken. */
bool block(const void *word, double seconds);
/* Wakes up to `n` threads that block on `word`, in the order in which they blocked. */
void wake(const void *word, int n);
bool is_awaited(const void *word);
/* Wakes this thread if it blocks, on any word. False: it does not. */
bool rouse(Turns *thread);

/*
 * Runs all threads until `over` returns true; it is called whenever no thread is ready. `advance(until)` advances the
 * simulation of the network. It returns the time reached: `until`, or an earlier time at which something happened.
 * Returns false on a deadlock: no thread is ready and no event is due.
 */
bool run(const std::function<bool()> &over, const std::function<double(double)> &advance);

} // namespace sim

#endif
