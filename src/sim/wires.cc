/* wires.cc - computes when short messages arrive and has SimGrid simulate the long ones. */
#include "sim/wires.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "sim/schedule.h"

namespace s4u = simgrid::s4u;

namespace sim {

namespace {

struct Message;

/* Messages from one PE to another that arrive in order. */
struct Stream {
  uint64_t sent = 0, delivered = 0;
  double left = 0;                                      /* time at which the last message left */
  std::unique_ptr<std::map<uint64_t, Message *>> early; /* messages that overtook earlier ones */
};

struct Message {
  int from, to;
  uint64_t number;
  void *what;
  size_t bytes;
  Stream *stream;
  Act arrived; /* of a transfer; else nullptr */
};

/* Times until which a node's link is busy with short messages, in each direction. */
struct Link {
  double out = 0, in = 0;
};

/*
 * An actor that waits for the end of one flow at a time: SimGrid reports the end of a transfer only to a waiting actor.
 * Couriers without a flow are kept for the next one.
 */
struct Courier {
  s4u::SemaphorePtr bell = s4u::Semaphore::create(0);
  Message *message = nullptr;
};

/* A link between two switches or routers of a topology: when short messages have passed it. */
struct Cable {
  double until, bandwidth;
};

/* The way between two nodes of a topology. */
struct Way {
  double latency = 0; /* s, of all its links */
  std::vector<size_t> cables;
};

Network net;
std::vector<Cable> cables;
std::unordered_map<const s4u::Link *, size_t> cable_numbers;
std::unordered_map<uint64_t, Way> ways; /* those that a message has taken */
std::vector<Link> links;
std::vector<std::unordered_map<uint64_t, Stream>> streams; /* by sender; by receiver and stream */
std::vector<std::unique_ptr<Courier>> couriers;
std::vector<Courier *> resting; /* the last is used first, because its stack is in the cache */
struct Landed {
  Act act;
  void *what;
};
std::deque<Landed> landed; /* activities that SimGrid has finished */
s4u::SemaphorePtr landing; /* counts them */
size_t flows;              /* activities that have not been taken from `landed` yet */
/* An activity that has not ended by this time never ends. */
constexpr double NEVER_S = 1e12;
uint64_t messages, bytes;

size_t node_of(int pe)
{
  return static_cast<size_t>(pe) / net.node_pes;
}

/* The first and the last link are those of the nodes: messages wait for them anyway. In a torus links connect nodes. */
const Way &way(size_t from, size_t to)
{
  auto [at, is_new] = ways.try_emplace(from * net.hosts.size() + to);
  Way &w = at->second;
  if (!is_new) return w;
  std::vector<s4u::Link *> links;
  net.hosts[from]->route_to(net.hosts[to], links, &w.latency);
  size_t own = net.least_links == 2 ? 1 : 0;
  for (size_t i = own; i + own < links.size(); i++) {
    auto [number, is_unknown] = cable_numbers.try_emplace(links[i], cables.size());
    if (is_unknown) cables.push_back({0, links[i]->get_bandwidth()});
    w.cables.push_back(number->second);
  }
  return w;
}

/* Returns when a short message that leaves its sender's link at `when` reaches its receiver's. It waits for those
 * before it on each link between. */
double pass(const Message *m, double when)
{
  if (!net.least_links) return when + net.latency;
  const Way &w = way(node_of(m->from), node_of(m->to));
  for (size_t number : w.cables) {
    Cable &cable = cables[number];
    when = std::max(when, cable.until);
    cable.until = when + static_cast<double>(m->bytes) / cable.bandwidth;
  }
  return when + net.beside_links + w.latency;
}

void hand_over(Message *m)
{
  m->stream->delivered++;
  if (m->arrived) {
    net.carried(m->to, m->bytes);
    m->arrived(m->what, 0);
  } else {
    net.deliver(m->to, m->what);
  }
  delete m;
}

void deliver(Message *m)
{
  Stream &s = *m->stream;
  if (m->number != s.delivered) {
    if (!s.early) s.early = std::make_unique<std::map<uint64_t, Message *>>();
    (*s.early)[m->number] = m;
    return;
  }
  hand_over(m);
  while (s.early && !s.early->empty() && s.early->begin()->first == s.delivered) {
    Message *next = s.early->begin()->second;
    s.early->erase(s.early->begin());
    hand_over(next);
  }
}

/* The time for which a short message keeps a link and, if it is a transfer, the card busy. */
double busy(const Message *m)
{
  double carried = static_cast<double>(m->bytes) / net.bandwidth;
  return m->arrived ? std::max(carried, net.operation) : carried;
}

void have_arrived(void *message, uint64_t)
{
  deliver(static_cast<Message *>(message));
}

/* The last byte reaches the receiver's link, and the message arrives when that link has carried it. */
void reach(void *message, uint64_t)
{
  Message *m = static_cast<Message *>(message);
  Link &link = links[node_of(m->to)];
  link.in = std::max(now(), link.in + busy(m));
  if (link.in > now())
    at(link.in, have_arrived, m, 0);
  else
    deliver(m);
}

void carry(Courier *c)
{
  for (;;) {
    Message *m = c->message;
    s4u::Comm::sendto(net.hosts[node_of(m->from)], net.hosts[node_of(m->to)], m->bytes);
    land(have_arrived, m);
    resting.push_back(c);
    c->bell->acquire();
  }
}

void start_flow(Message *m)
{
  begin_apart();
  if (!resting.empty()) {
    Courier *c = resting.back();
    resting.pop_back();
    c->message = m;
    c->bell->release();
    return;
  }
  couriers.push_back(std::make_unique<Courier>());
  Courier *c = couriers.back().get();
  c->message = m;
  s4u::Actor::init("courier", net.hosts.front())->start(carry, c)->daemonize();
}

void leave(void *message, uint64_t)
{
  Message *m = static_cast<Message *>(message);
  if (m->bytes > SHORT_BYTES) {
    start_flow(m);
    return;
  }
  Link &link = links[node_of(m->from)];
  link.out = std::max(now(), link.out) + busy(m);
  at(pass(m, link.out), reach, m, 0);
}

} // namespace

double latency(int from, int to)
{
  return net.least_links ? net.beside_links + way(node_of(from), node_of(to)).latency : net.latency;
}

double held_up(double bytes)
{
  return 2 * std::min(bytes, net.packet) / net.bandwidth;
}

void open_wires(const Network &network)
{
  net = network;
  links.resize(net.hosts.size());
  streams.resize(net.hosts.size() * net.node_pes);
  landing = s4u::Semaphore::create(0);
  for (size_t i = 0; net.least_links == 2 && i < net.hosts.size() && net.hosts.size() > 1; i++) {
    std::vector<s4u::Link *> links;
    net.hosts[i]->route_to(net.hosts[(i + 1) % net.hosts.size()], links, nullptr);
    links.front()->set_bandwidth(net.bandwidth); /* that of the card */
    links.back()->set_bandwidth(net.bandwidth);
  }
}

void send(int from, int to, void *what, size_t n, int stream, double after, Act arrived)
{
  Stream &s = streams[static_cast<size_t>(from)][static_cast<uint64_t>(to) * STREAMS + static_cast<uint64_t>(stream)];
  double beside = n > SHORT_BYTES ? net.beside_links : 0; /* of a flow, which has the latency of its links only */
  messages++;
  bytes += n;
  s.left = std::max(s.left, now() + after);
  at(s.left + beside + held_up(static_cast<double>(n)), leave, new Message{from, to, s.sent++, what, n, &s, arrived},
     0);
}

void begin_apart()
{
  if (!flows++ && now() > s4u::Engine::get_clock()) s4u::this_actor::sleep_until(now());
}

void land(Act act, void *what)
{
  landed.push_back({act, what});
  landing->release();
}

double advance_flows(double until)
{
  double left = until - s4u::Engine::get_clock();
  if (!flows || until <= now() || left <= 0) return until;
  if (landing->acquire_timeout(std::min(left, NEVER_S))) return until;
  Landed next = landed.front();
  landed.pop_front();
  flows--;
  at(std::clamp(s4u::Engine::get_clock(), now(), until), next.act, next.what, 0);
  return std::clamp(s4u::Engine::get_clock(), now(), until);
}

uint64_t messages_sent()
{
  return messages;
}

uint64_t bytes_sent()
{
  return bytes;
}

} // namespace sim
