/* companions.cc - starts SimGrid's MPI library and passes the PEs' MPI calls to their companions. */
#include "sim/companions.h"

#include <algorithm>
#include <memory>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/wires.h"

/* SimGrid 4 sets factors of the network at a zone and has no header of network models. */
#if __has_include(<simgrid/kernel/resource/NetworkModelIntf.hpp>)
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#define HAS_NETWORK_MODEL
#endif

namespace s4u = simgrid::s4u;

/* An MPI process. SimGrid exports this class without a header. */
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
/* Time of a test that finds nothing, about a cache miss, as in the wait door (wtl_os_test_missed). */
constexpr char TEST_S[] = "1e-7";
/* SimGrid's MPI adds this to each message. */
constexpr double ENVELOPE_BYTES = 16;

Messaging messaging;
std::vector<std::unique_ptr<Companion>> companions;  /* none before the first call */
std::unordered_map<const s4u::Host *, int> first_pe; /* of a host */

/* The PE whose companion calls; `at` is its host. */
int caller(const s4u::Host *at)
{
  const s4u::Actor *self = s4u::Actor::self();
  const char *rank = self ? self->get_property("rank") : nullptr;
  return messaging.node_pes > 1 && rank ? std::stoi(rank) : first_pe.at(at);
}

/* SimGrid's MPI_COMM_WORLD is a placeholder, resolved for the calling process. Its search for a message from any source
 * runs in no process. So from the first MPI_Init on the variable holds the communicator itself. */
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

/* Returns the factor of the latency, to which two times are added. Cards hold a message to another node up. SimGrid
 * does not ask how long the receiver's core is busy with a long message, and the message is complete only after that
 * time. */
double latency_of_long(double bytes, const s4u::Host *from, const s4u::Host *to, const std::vector<s4u::Link *> &links,
                       const std::unordered_set<s4u::NetZone *> &)
{
  double n = bytes - ENVELOPE_BYTES;
  bool is_near = from == to && messaging.node_pes > 1;
  double added = is_near ? 0 : messaging.beside_links + held_up(std::max(n, 0.0)), latency = 0;
  for (const s4u::Link *link : links) latency += link->get_latency();
  if (is_near) latency = messaging.latency;
  if (n >= static_cast<double>(messaging.eager))
    added += messaging.taken(first_pe.at(from), first_pe.at(to), static_cast<size_t>(n));
  return added > 0 && latency > 0 ? 1 + added / latency : 1;
}

/* SMPI need not separate the program's variables, because each PE runs its own copy. It need not measure computation,
 * because the copies count it (libc_calls.c). */
void start_smpi()
{
  smpi_init_options();
  s4u::Engine::set_config("smpi/privatization:no");
  s4u::Engine::set_config("smpi/simulate-computation:no");
  s4u::Engine::set_config("smpi/coll-selector:ompi");
  s4u::Engine::set_config(std::string("smpi/test:") + TEST_S);
  s4u::Engine::set_config(std::string("smpi/iprobe:") + TEST_S);
  s4u::Engine::set_config("smpi/grow-injected-times:no"); /* it grows for all ranks together */
  s4u::Engine::set_config("smpi/send-is-detached-thresh:" + std::to_string(messaging.eager));
  s4u::Engine::set_config("smpi/async-small-thresh:" +
                          std::to_string(messaging.eager)); /* they need no receive to leave */
  SMPI_init();
  auto hand_over = [](size_t bytes, s4u::Host *from, s4u::Host *to) {
    return messaging.handed_over(caller(from), first_pe.at(to), bytes);
  };
  smpi_register_op_cost_callback(SmpiOperation::SEND, hand_over);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, hand_over);
  smpi_register_op_cost_callback(SmpiOperation::RECV, [](size_t bytes, s4u::Host *from, s4u::Host *to) {
    return messaging.taken(first_pe.at(from), caller(to), bytes);
  });
  const s4u::NetZone *root = s4u::Engine::get_instance()->get_netzone_root();
#ifdef HAS_NETWORK_MODEL
  root->get_network_model()->set_lat_factor_cb(latency_of_long);
#else
  root->set_latency_factor_cb(latency_of_long);
#endif
}

void start_companions()
{
  start_smpi();
  SMPI_app_instance_register(JOB, nullptr, messaging.pes);
  for (int pe = 0; pe < messaging.pes; pe++) {
    s4u::Host *host = messaging.hosts[static_cast<size_t>(pe / messaging.node_pes)];
    std::string rank = std::to_string(pe);
    first_pe.try_emplace(host, pe);
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
     static_cast<uint64_t>(pe)); /* SimGrid is only called between turns */
}

} // namespace sim
