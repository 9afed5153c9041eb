#include "sim/companions.h"

#include <algorithm>
#include <memory>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/wires.h"

namespace s4u = simgrid::s4u;

/* An MPI process: SimGrid exports it and has no header for it. */
namespace simgrid::smpi {
class ActorExt {
public:
  static simgrid::xbt::Extension<s4u::Actor, ActorExt> EXTENSION_ID;
  MPI_Comm comm_world() const;
};
} // namespace simgrid::smpi

namespace sim {

namespace {

struct Companion {
  s4u::SemaphorePtr bell = s4u::Semaphore::create(0);
  void (*call)(void *) = nullptr;
  void *arguments = nullptr;
  Act act = nullptr;
  void *what = nullptr;
};

constexpr char JOB[] = "job";
/* What a test that finds nothing takes, about a miss of the cache: as in the wait door (src/wait/door.c). */
constexpr char LOOK_S[] = "1e-7";
/* What SimGrid's MPI adds to a message. */
constexpr double ENVELOPE_BYTES = 16;

Messaging messaging;
std::vector<std::unique_ptr<Companion>> companions; /* none before the first call */
std::unordered_map<const s4u::Host *, int> pe_of;

/* What stands for it SimGrid finds by asking which process asks. Where it looks for a message from any source, nobody
 * does, so there the name must be the thing itself: from the first MPI_Init on. */
void name_world()
{
  static bool is_named;
  if (is_named) return;
  MPI_Comm world = s4u::Actor::self()->extension<simgrid::smpi::ActorExt>()->comm_world();
  if (world == MPI_COMM_NULL) return;
  MPI_COMM_WORLD = world;
  is_named = true;
}

void serve(Companion *c)
{
  for (;;) {
    c->bell->acquire();
    c->call(c->arguments);
    name_world();
    land(c->act, c->what);
  }
}

/* Of what a long message takes of its receiver's core SimGrid does not ask. It has come when that is over, so the wires
 * are later by it. */
double latency_of_long(double bytes, const s4u::Host *, const s4u::Host *to, const std::vector<s4u::Link *> &,
                       const std::unordered_set<s4u::NetZone *> &)
{
  double n = bytes - ENVELOPE_BYTES;
  if (n < static_cast<double>(messaging.eager)) return 1;
  return 1 + messaging.taken(pe_of.at(to), static_cast<size_t>(n)) / messaging.latency;
}

/* The copies of the program are apart by themselves, and what they compute is counted by themselves. */
void start_smpi()
{
  smpi_init_options();
  s4u::Engine::set_config("smpi/privatization:no");
  s4u::Engine::set_config("smpi/simulate-computation:no");
  s4u::Engine::set_config("smpi/coll-selector:ompi");
  s4u::Engine::set_config(std::string("smpi/test:") + LOOK_S);
  s4u::Engine::set_config(std::string("smpi/iprobe:") + LOOK_S);
  s4u::Engine::set_config("smpi/grow-injected-times:no"); /* it grows for all ranks together */
  s4u::Engine::set_config("smpi/send-is-detached-thresh:" + std::to_string(messaging.eager));
  SMPI_init();
  auto hand_over = [](size_t bytes, s4u::Host *from, s4u::Host *to) {
    return messaging.handed_over(pe_of.at(from), pe_of.at(to), bytes);
  };
  smpi_register_op_cost_callback(SmpiOperation::SEND, hand_over);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, hand_over);
  smpi_register_op_cost_callback(SmpiOperation::RECV, [](size_t bytes, s4u::Host *, s4u::Host *to) {
    return messaging.taken(pe_of.at(to), bytes);
  });
  s4u::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(latency_of_long);
}

void start_companions()
{
  start_smpi();
  SMPI_app_instance_register(JOB, nullptr, static_cast<int>(messaging.hosts.size()));
  for (s4u::Host *host : messaging.hosts) {
    std::string rank = std::to_string(companions.size());
    pe_of[host] = static_cast<int>(companions.size());
    companions.push_back(std::make_unique<Companion>());
    s4u::ActorPtr actor = s4u::Actor::init("mpi-" + rank, host);
    actor->set_property("instance_id", JOB);
    actor->set_property("rank", rank);
    Companion *c = companions.back().get();
    actor->start([c] { serve(c); });
  }
}

struct Order {
  void (*call)(void *);
  void *arguments;
  Act act;
  void *what;
};

void begin(void *order, uint64_t pe)
{
  std::unique_ptr<Order> o(static_cast<Order *>(order));
  if (companions.empty()) start_companions();
  Companion &c = *companions[pe];
  c.call = o->call;
  c.arguments = o->arguments;
  c.act = o->act;
  c.what = o->what;
  begin_apart();
  c.bell->release();
}

} // namespace

void open_messaging(const Messaging &m)
{
  messaging = m;
}

void carry_out(int pe, void (*call)(void *), void *arguments, Act act, void *what)
{
  at(now(), begin, new Order{call, arguments, act, what},
     static_cast<uint64_t>(pe)); /* SimGrid is spoken to between turns */
}

} // namespace sim
