/*
 * wires.h - simulates the network that carries messages from PE to PE. Each node has its own link to a switch. There is
 * one switch, or SimGrid has a topology of several.
 *
 * There are two models, by a message's size. A short message (up to SHORT_BYTES) waits for earlier ones on its sender's
 * link, takes the time of its bytes and the latency, and then waits for earlier ones on its receiver's link. This costs
 * the simulator only two additions. A longer message is a SimGrid flow, which shares links with other flows. Short
 * messages and flows do not slow each other down.
 *
 * A transfer is a message from a network card to another one, which stores or reads memory by itself. It ends in a
 * function of its sender, not at a PE. A short one keeps either card busy for at least the time of an operation.
 *
 * Messages from one PE to another arrive in the order in which they were sent, within a stream.
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
  double latency, bandwidth, operation; /* s; B/s; s: of a card, for a transfer */
  double packet;                        /* B: cards take and store each packet of so many bytes whole */
  size_t node_pes;                      /* consecutive PEs that share a host, its link and its card */
  size_t least_links;                   /* between two nodes of a topology; 0: there is one switch */
  double beside_links;                  /* s: the part of `latency` that no link of the topology has */
  std::vector<simgrid::s4u::Host *> hosts;
  void (*deliver)(int to, void *what);   /* called when a message has arrived */
  void (*carried)(int pe, size_t bytes); /* called when a transfer has arrived */
};

/* Returns the latency in s between two PEs of different nodes, without waiting for other messages. */
double latency(int from, int to);

/* Returns the time in s that the two cards hold a message up. Its first packet is in the sender's card before it
 * leaves, and its last one in the receiver's card before it is stored. */
double held_up(double bytes);

/* Sets the network. Called once, before any message. */
void open_wires(const Network &network);

/* Sends a message that leaves `after` seconds from now. `arrived`: called with `what` when it has arrived, instead of
 * `deliver`; the message is a transfer. */
void send(int from, int to, void *what, size_t bytes, int stream, double after, Act arrived = nullptr);
constexpr int STREAMS = 3; /* 0 and 1: messages; 2: transfers */

/* begin_apart announces, between turns, an activity of another SimGrid actor. The actor calls `land` at its end. Then
 * act(what, 0) is called between turns. */
void begin_apart();
void land(Act act, void *what);

/* Advances SimGrid's simulation, for sim::run. Called in a SimGrid actor. */
double advance_flows(double until);

uint64_t messages_sent();
uint64_t bytes_sent();

} // namespace sim

#endif
