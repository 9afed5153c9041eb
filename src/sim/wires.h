/*
 * wires.h - messages on their way from PE to PE. Each PE has a link of its own to one switch.
 *
 * Two models, by a message's size. A short one (up to SHORT_BYTES) waits for those before it on its sender's link,
 * takes its bytes' time there and the network's latency, and then waits for those before it on its receiver's link: no
 * more than two sums. Of a longer one SimGrid makes a flow, which shares links with other flows. Neither sort slows the
 * other down.
 *
 * Messages of one PE to another arrive in the order they were sent, by stream.
 */
#ifndef WTL_SIM_WIRES_H
#define WTL_SIM_WIRES_H

#include <cstddef>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/schedule.h"

namespace sim {

constexpr size_t SHORT_BYTES = 1024;

struct Network {
  double latency, bandwidth; /* s; B/s */
  std::vector<simgrid::s4u::Host *> hosts;
  void (*deliver)(int to, void *what); /* a message is there */
};

/* Once, before any message. */
void open_wires(const Network &network);

/* Hands over a message that leaves `after` seconds from now. */
void send(int from, int to, void *what, size_t bytes, int stream, double after);

/* Something else that SimGrid carries out (between turns), until the actor that does says so: then act(what, 0) is
 * called between turns. */
void begin_apart();
void land(Act act, void *what);

/* For sim::run, from a SimGrid actor: what SimGrid simulates goes on. */
double advance_flows(double until);

uint64_t messages_sent();
uint64_t bytes_sent();

} // namespace sim

#endif
