/*
 * schedule.h - simulated time, and who has his turn: the threads of all PEs, each on a stack of its own, run one at a
 * time in the simulator's one thread, and what is to happen at some time to come.
 *
 * Everything that happens at one time happens in the order in which it was asked for, so a run is the same each time.
 * Times are in seconds.
 */
#ifndef WTL_SIM_SCHEDULE_H
#define WTL_SIM_SCHEDULE_H

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <ucontext.h>

namespace sim {

/* The part of a thread that this file runs it by. */
struct Turns {
  void (*begin)(Turns *) = nullptr; /* what it runs, set by who makes it */
  bool ended = false;

  /* The schedule's own. */
  ucontext_t context = {}; /* for its first turn */
  jmp_buf place = {};      /* where it goes on */
  bool has_run = false;
  char *stack = nullptr;
  uint64_t waits = 0; /* number of the present wait: what was to end an earlier one ends none */
  bool woken = false;
  const void *word = nullptr; /* what it blocks on */
  Turns *behind = nullptr;    /* who does so, too */
};

double now();
Turns *running(); /* nullptr between turns */

/* Gives it its first turn, as soon as others had theirs. */
void start(Turns *thread);
/* The caller has no turn until go_on. */
void wait();
void go_on(Turns *thread);

/* Calls act(what, tag) at a time, between turns. */
using Act = void (*)(void *what, uint64_t tag);
void at(double when, Act act, void *what, uint64_t tag);

/* Lets time pass for the caller. */
void pass(double seconds);

/* Blocks the caller until `wake` for that word, `seconds` at most (INFINITY: for ever). True if it was woken. */
bool block(const void *word, double seconds);
/* Wakes up to `n` that block on `word`, those that came first first. */
void wake(const void *word, int n);
bool is_awaited(const void *word);

/*
 * Runs all until `over`, which is asked whenever nobody has a turn. `advance(until)` lets time pass for what is
 * simulated elsewhere and returns how far it got: to `until`, or less if something happened there. False: nobody can go
 * on.
 */
bool run(const std::function<bool()> &over, const std::function<double(double)> &advance);

} // namespace sim

#endif
