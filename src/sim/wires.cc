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

/* Messages of one PE to another. */
struct Stream {
  uint64_t sent = 0, delivered = 0;
  double left = 0;                                   /* when the last one did */
  std::unique_ptr<std::map<uint64_t, void *>> early; /* those that overtook others */
};

struct Message {
  int from, to;
  uint64_t number;
  void *what;
  size_t bytes;
  Stream *stream;
};

/* Until when it is busy, each way, with short messages. */
struct Link {
  double out = 0, in = 0;
};

/*
 * Carries one message at a time. SimGrid tells nobody but who waits for it that a transfer is over, so each flow has an
 * actor that waits; those that have none rest until they are needed again.
 */
struct Courier {
  s4u::SemaphorePtr bell = s4u::Semaphore::create(0);
  Message *message = nullptr;
};

Network net;
std::vector<Link> links;
std::vector<std::unordered_map<uint64_t, Stream>> streams; /* by sender; by receiver and stream */
std::vector<std::unique_ptr<Courier>> couriers;
std::vector<Courier *> resting; /* the last to rest is the first to go: its stack is warm */
struct Landed {
  Act act;
  void *what;
};
std::deque<Landed> landed; /* what SimGrid is through with */
s4u::SemaphorePtr landing; /* as often as there are such */
size_t flows;              /* what it is not */
/* What has not ended by then never will: it waits for what does not come. */
constexpr double NEVER_S = 1e12;
uint64_t messages, bytes;

void deliver(Message *m)
{
  Stream &s = *m->stream;
  if (m->number == s.delivered) {
    s.delivered++;
    net.deliver(m->to, m->what);
    while (s.early && !s.early->empty() && s.early->begin()->first == s.delivered) {
      s.delivered++;
      net.deliver(m->to, s.early->begin()->second);
      s.early->erase(s.early->begin());
    }
  } else {
    if (!s.early) s.early = std::make_unique<std::map<uint64_t, void *>>();
    (*s.early)[m->number] = m->what;
  }
  delete m;
}

void have_arrived(void *message, uint64_t)
{
  deliver(static_cast<Message *>(message));
}

/* Its last byte is at the receiver's link, if that is free. */
void reach(void *message, uint64_t)
{
  Message *m = static_cast<Message *>(message);
  Link &link = links[static_cast<size_t>(m->to)];
  link.in = std::max(now(), link.in + static_cast<double>(m->bytes) / net.bandwidth);
  if (link.in > now())
    at(link.in, have_arrived, m, 0);
  else
    deliver(m);
}

void carry(Courier *c)
{
  for (;;) {
    Message *m = c->message;
    s4u::Comm::sendto(net.hosts[static_cast<size_t>(m->from)], net.hosts[static_cast<size_t>(m->to)], m->bytes);
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
  s4u::Actor::create("courier", net.hosts.front(), carry, c)->daemonize();
}

void leave(void *message, uint64_t)
{
  Message *m = static_cast<Message *>(message);
  if (m->bytes > SHORT_BYTES) {
    start_flow(m);
    return;
  }
  Link &link = links[static_cast<size_t>(m->from)];
  link.out = std::max(now(), link.out) + static_cast<double>(m->bytes) / net.bandwidth;
  at(link.out + net.latency, reach, m, 0);
}

} // namespace

void open_wires(const Network &network)
{
  net = network;
  links.resize(net.hosts.size());
  streams.resize(net.hosts.size());
  landing = s4u::Semaphore::create(0);
}

void send(int from, int to, void *what, size_t n, int stream, double after)
{
  Stream &s = streams[static_cast<size_t>(from)][static_cast<uint64_t>(to) * 2 + static_cast<uint64_t>(stream)];
  messages++;
  bytes += n;
  s.left = std::max(s.left, now() + after);
  at(s.left, leave, new Message{from, to, s.sent++, what, n, &s}, 0);
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
