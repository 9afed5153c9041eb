/*
 * companions.h - MPI for simulated PEs: SimGrid's own (SMPI). Each PE has a companion, an actor of SimGrid's that is an
 * MPI process and makes the PE's calls for it, one at a time. The PE meanwhile waits as it waits for anything, with its
 * core, clock and threads as ever: only what a call takes of time is SimGrid's to say.
 */
#ifndef WTL_SIM_COMPANIONS_H
#define WTL_SIM_COMPANIONS_H

#include <cstddef>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/schedule.h"

namespace sim {

/* What SMPI is to know of the machine. */
struct Messaging {
  std::vector<simgrid::s4u::Host *> hosts;
  size_t eager;   /* bytes from which a sender waits for its receiver */
  double latency; /* of the wires, s */
  /* A message is handed over, or taken: what that takes of the PE's core, in s. Its bytes are counted where it is
   * handed over. */
  double (*handed_over)(int from, int to, size_t bytes);
  double (*taken)(int at, size_t bytes);
};

/* Once, before any call. */
void open_messaging(const Messaging &messaging);

/* Has PE `pe`'s companion run call(arguments); between turns, act(what, 0) is called when that is done. */
void carry_out(int pe, void (*call)(void *), void *arguments, Act act, void *what);

} // namespace sim

#endif
