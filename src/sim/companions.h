/*
 * companions.h - runs the MPI calls of simulated PEs by SimGrid's MPI library (SMPI).
 *
 * Each PE has a companion: a SimGrid actor that is an MPI process and makes the PE's calls, one at a time. The PE waits
 * meanwhile as in any other wait, with its own core, clock and threads. SimGrid only decides how long a call takes.
 */
#ifndef WTL_SIM_COMPANIONS_H
#define WTL_SIM_COMPANIONS_H

#include <cstddef>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/schedule.h"

namespace sim {

/* The machine's properties that SMPI needs. */
struct Messaging {
  std::vector<simgrid::s4u::Host *> hosts; /* of the nodes */
  int pes, node_pes;                       /* all of them, and those on a host */
  size_t eager;        /* bytes from which the rendezvous protocol applies: the sender waits for its receiver */
  double latency;      /* of the wires, s */
  double beside_links; /* the part of it that the links of a topology do not have, s; 0 with one switch */
  /* Return the time in s that sending (`handed_over`) and receiving (`taken`) a message take of the PE's core. The
   * first also counts the message's bytes. SimGrid names only the host of the other end: `to` and `from` are its first
   * PE. */
  double (*handed_over)(int from, int to, size_t bytes);
  double (*taken)(int from, int at, size_t bytes);
};

/* Sets the machine's properties. Called once, before carry_out. */
void open_messaging(const Messaging &messaging);

/* Runs call(arguments) in PE `pe`'s companion. When that is done, act(what, 0) is called between turns (schedule.h). */
void carry_out(int pe, void (*call)(void *), void *arguments, Act act, void *what);

} // namespace sim

#endif
