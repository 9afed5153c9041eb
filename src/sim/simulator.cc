/*
 * simulator.cc - is the main program of the simulator and implements simulator.h.
 *
 *   wattle-simulator PLATFORM.xml OUT.json N PROGRAM [ARGUMENT]...
 *
 * It runs N copies of a program, built by oshcc --sim, on the hosts of a SimGrid platform, "node-0" and so on, as many
 * on each as the platform's node_pes says. It writes time, messages and joules to OUT.json. Its exit code is the
 * largest of the PEs' exit codes.
 */
#include "sim/simulator.h"

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <unistd.h>
#include <vector>
#include <xbt/log.h>

#include "os/floats.h"
#include "sim/companions.h"
#include "sim/core.h"
#include "sim/exit_message.h"
#include "sim/node_memory.h"
#include "sim/program_copies.h"
#include "sim/schedule.h"
#include "sim/wires.h"

namespace s4u = simgrid::s4u;

namespace {

struct Pe;

struct Thread : sim::Turns {
  Pe *pe = nullptr;
  bool serves = false; /* the report of a deadlock leaves it out */
  bool polls_memory = false, polls_network = false;
  bool has_seen = false; /* something has arrived for it while it did not block */
  void *(*run)(void *) = nullptr;
  void *arg = nullptr, *result = nullptr;
  unsigned call = 0; /* the routine in which it waits */
  uintptr_t site = 0;
  alignas(64) char local[WTL_SIM_LOCAL_BYTES] = {};
};

struct Pe {
  Pe(int n, const sim::Clocks *clocks, sim::Socket *s, sim::Domain *d) : number(n), core(clocks, s, d) {}
  int number;
  double network_bytes = 0, memory_bytes = 0;
  size_t registered[2] = {0, 0}; /* bytes that MPI has registered with the card to send, to receive */
  sim::Core core;
  std::unique_ptr<sim::Core> agent; /* the core of threads that serve; nullptr: `core` */
  sim::Copy copy = {};
  int status = -1; /* exit code; -1: it still runs */
  std::deque<void *> inbox;
  bool nudged = false;
  std::map<std::string, std::string> said, says;
  std::vector<std::unique_ptr<Thread>> threads;
  std::set<int> addresses; /* PEs of the node whose memory its program may store to directly */
  bool stored_directly = false;
};

std::vector<std::unique_ptr<Pe>> pes;
sim::Clocks clocks;
wtl_sim_prices prices;
wtl_sim_draws draws;
bool agent_core;                         /* threads that serve have a core of their own */
size_t node_pes, socket_pes, domain_pes; /* number of consecutive PEs on a node, in a socket, in a clock domain */
std::vector<std::unique_ptr<sim::Socket>> sockets;
std::vector<std::unique_ptr<sim::Domain>> domains;
size_t at_barrier, ended; /* number of PEs that wait in wtl_sim_barrier, that have ended */
const char *program;
int arguments;
char **argument;
FILE *out;
size_t eager; /* bytes from which an MPI message uses the rendezvous protocol */
double latency, limit_window;
uint64_t mpi_messages, mpi_bytes;

[[noreturn]] void fail(const char *what, const std::string &why)
{
  sim::last_words("wattle-simulator: " + std::string(what) + ": " + why + "\n");
  exit(69);
}

Thread *here()
{
  return static_cast<Thread *>(sim::running());
}

sim::Core &core_of(const Thread *t)
{
  return t->serves && t->pe->agent ? *t->pe->agent : t->pe->core;
}

/* Reports which PE failed. The kernel cannot know it, because all PEs are in this process. */
void report_failed_pe(int number)
{
  char line[128];
  int n = snprintf(line, sizeof line, "wattle-simulator: PE %d failed: %s\n", here() ? here()->pe->number : -1,
                   sigdescr_np(number));
  if (here()) sim::last_words({line, static_cast<size_t>(n)});
  raise(number); /* SA_RESETHAND has restored the default action */
}

/* Installs the handlers on their own stack, because a PE may have used up its stack. */
void install_handlers()
{
  static char stack[65536];
  stack_t own = {};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  struct sigaction action = {};
  action.sa_handler = report_failed_pe;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  if (sigaltstack(&own, nullptr) != 0) return;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

Thread *new_thread(Pe *pe, void (*begin)(sim::Turns *))
{
  pe->threads.push_back(std::make_unique<Thread>());
  Thread *t = pe->threads.back().get();
  t->pe = pe;
  t->begin = begin;
  return t;
}

struct Ended {
  int status;
};

void end_pe(Pe *pe, int status)
{
  WTL_FLOATS_APART;
  if (pe->status >= 0) return; /* another thread has ended it */
  pe->status = status;
  pe->core.stop();
  if (pe->agent) pe->agent->stop();
  ended++;
}

void serve(sim::Turns *turns)
{
  Thread *t = static_cast<Thread *>(turns);
  try {
    t->result = t->run(t->arg);
  } catch (const Ended &end) {
    end_pe(t->pe, end.status);
  }
  t->ended = true;
  sim::wake(t, 1);
}

/* Returns a copy of the arguments for a PE, because programs change them. It is never freed. */
char **own_arguments()
{
  char **mine = static_cast<char **>(calloc(static_cast<size_t>(arguments) + 1, sizeof *mine));
  for (int i = 0; mine && i < arguments; i++)
    if (!(mine[i] = strdup(argument[i]))) fail(program, "no memory for its arguments");
  if (!mine) fail(program, "no memory for its arguments");
  return mine;
}

void run_program(sim::Turns *turns)
{
  Pe *pe = static_cast<Thread *>(turns)->pe;
  char **mine = own_arguments();
  fesetenv(&pe->copy.floats);
  try {
    int status = pe->copy.main(arguments, mine, environ);
    pe->copy.end(status);
    end_pe(pe, status);
  } catch (const Ended &end) {
    end_pe(pe, end.status);
  }
}

void show(Thread *t)
{
  t->has_seen = !sim::rouse(t);
}

void show_direct_stores(const Pe *of)
{
  for (int pe : of->addresses)
    for (auto &t : pes[static_cast<size_t>(pe)]->threads)
      if (t->polls_memory) show(t.get());
}

void deliver(int to, void *what)
{
  Pe *pe = pes[static_cast<size_t>(to)].get();
  pe->inbox.push_back(what);
  if (sim::is_awaited(&pe->inbox)) {
    sim::wake(&pe->inbox, 1);
    return;
  }
  /* A thread that polls takes the message itself while the one that serves the network still wakes up. Networks without
   * cards were fitted without this. */
  for (auto &t : pe->threads)
    if (prices.has_cards && t->polls_network) {
      show(t.get());
      pe->nudged = true; /* the thread that serves the network may have more to do with the message */
    }
}

void count_bytes(int number, size_t n)
{
  Pe *pe = pes[static_cast<size_t>(number)].get();
  pe->network_bytes += static_cast<double>(n);
  pe->memory_bytes += static_cast<double>(n);
}

/* Counts the bytes of a message at both ends. Without cards that move bytes by themselves the kernel copies them
 * between its memory and the program's: each byte is read and written once more. */
void count_bytes(int from, int to, size_t n)
{
  for (int end : {from, to}) {
    count_bytes(end, n);
    if (!prices.has_cards) pes[static_cast<size_t>(end)]->memory_bytes += 2 * static_cast<double>(n);
  }
}

/* Returns the time that the bytes of an MPI message take of an end's core. They are copied, unless a card moves those
 * of a rendezvous. MPI libraries keep memory registered (Open MPI: mpi_leave_pinned), and programs use their buffers
 * again, so only a longer message than all before it registers memory. */
double mpi_bytes_at(Pe *pe, bool receives, size_t n)
{
  if (!prices.has_cards || n < eager) return static_cast<double>(n) * prices.byte;
  size_t &known = pe->registered[receives];
  if (n <= known) return 0;
  double pages = std::ceil(static_cast<double>(n - known) / 4096);
  known = n;
  return prices.enroll + pages * prices.page;
}

/* Several PEs share a node, and these two are among them. */
bool are_near(int a, int b)
{
  return node_pes > 1 && static_cast<size_t>(a) / node_pes == static_cast<size_t>(b) / node_pes;
}

/* Returns the time of an end of an MPI message within a node, which is copied in and out. Bytes of another rank are at
 * best in the cache that the two share. */
double mpi_near(int number, size_t n)
{
  Pe *pe = pes[static_cast<size_t>(number)].get();
  wtl_sim_level level = std::max(wtl_sim_level_of(2 * n), WTL_SIM_L3);
  if (level == WTL_SIM_MEMORY) pe->memory_bytes += 2 * static_cast<double>(n);
  double pace = pe->core.pace();
  return prices.near * pace + static_cast<double>(n) * wtl_sim_copy_s(prices.levels[level], pace);
}

/* Returns the time that sending an MPI message takes of the sender's core at its clock. A message of at least `eager`
 * bytes also takes the time of a request to the receiver and its reply. */
double mpi_handed_over(int from, int to, size_t n)
{
  if (are_near(from, to)) return mpi_near(from, n);
  mpi_messages++;
  mpi_bytes += n;
  count_bytes(from, to, n);
  Pe *pe = pes[static_cast<size_t>(from)].get();
  double pace = pe->core.pace(), asks = 0;
  if (n >= eager)
    asks = 2 * sim::latency(from, to) +
           (prices.message + prices.receive) * (pace + pes[static_cast<size_t>(to)]->core.pace());
  return asks + (prices.message + mpi_bytes_at(pe, false, n)) * pace;
}

double mpi_taken(int from, int number, size_t n)
{
  if (are_near(from, number)) return mpi_near(number, n);
  Pe *pe = pes[static_cast<size_t>(number)].get();
  return (prices.receive + mpi_bytes_at(pe, true, n)) * pe->core.pace();
}

/* --- the platform ------------------------------------------------------------------------------------------------- */

double number_of(const s4u::Host *host, const char *property)
{
  const char *text = host->get_property(property);
  if (!text) fail("the platform", std::string("host ") + host->get_cname() + " has no property " + property);
  double number = 0;
  std::from_chars(text, text + strlen(text), number);
  return number;
}

/* Reads the machine from one host, because all hosts are equal. */
void read_machine(const s4u::Host *host)
{
  const char *khz = host->get_property("clocks_khz"), *watts = host->get_property("wattage_per_state"),
             *speeds = host->get_property("clock_speeds");
  auto number = [=](const char *property) { return number_of(host, property); };
  prices = {number("wake_s"),
            number("block_s"),
            number("near_s"),
            number("message_s"),
            number("receive_s"),
            number("byte_s"),
            number("clock_change_s"),
            number("leaves_s"),
            number("acknowledge_s"),
            number("record_s"),
            number("segment_B"),
            number("serve_s"),
            {number("call_s"), number("far_s"), number("request_s"), number("handler_s")},
            number("post_s"),
            number("register_s"),
            number("register_page_s"),
            number("fetch_s"),
            number("latency_s"),
            number("rma") != 0,
            number("copy_socket_s"),
            {}};
  for (size_t level = 0; level < WTL_SIM_LEVELS; level++) {
    auto of_level = [&](const char *what) { return number(("level" + std::to_string(level) + what).c_str()); };
    prices.levels[level] = {static_cast<size_t>(of_level("_B")), of_level("_copy_s"), of_level("_clock")};
  }
  draws = {number("idle_w"),
           number("uncore_w"),
           number("uncore_w_plus_minus"),
           number("network_w"),
           number("network_w_plus_minus"),
           number("network_byte_j"),
           number("network_byte_j_plus_minus"),
           number("dram_w"),
           number("dram_w_plus_minus"),
           number("dram_byte_j"),
           number("dram_byte_j_plus_minus")};
  agent_core = number("agent_core") != 0;
  limit_window = number("limit_window_s");
  node_pes = static_cast<size_t>(number("node_pes"));
  socket_pes = static_cast<size_t>(number("socket_pes"));
  domain_pes = static_cast<size_t>(number("domain_pes"));
  if (!khz || !speeds || !watts || !node_pes || !socket_pes || !domain_pes ||
      !sim::read_clocks(khz, speeds, watts, static_cast<size_t>(number("base_clock")), &clocks))
    fail("the platform", "clocks_khz, clock_speeds, wattage_per_state and base_clock do not fit together");
}

void read_platform(const char *file, int n)
{
  s4u::Engine *engine = s4u::Engine::get_instance();
  s4u::Engine::set_config("network/model:CM02"); /* without factors on the platform's figures */
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/crosstraffic:no");
  engine->load_platform(file);
  s4u::Host *first = engine->host_by_name_or_null("node-0");
  if (!first) fail(file, "there is no host node-0");
  read_machine(first);
  sim::Network network = {0, 0, 0, 0, node_pes, 0, 0, {}, deliver, count_bytes};
  for (size_t node = 0; node * node_pes < static_cast<size_t>(n); node++) {
    s4u::Host *host = engine->host_by_name_or_null("node-" + std::to_string(node));
    if (!host) fail(file, "there is no host node-" + std::to_string(node));
    network.hosts.push_back(host);
  }
  network.latency = latency = number_of(network.hosts.front(), "latency_s");
  network.bandwidth = number_of(network.hosts.front(), "bandwidth_Bps");
  network.operation = number_of(network.hosts.front(), "operation_s");
  network.packet = number_of(network.hosts.front(), "packet_B");
  network.least_links = static_cast<size_t>(number_of(network.hosts.front(), "topology"));
  network.beside_links = number_of(network.hosts.front(), "beside_links_s");
  sim::open_wires(network);
  eager = static_cast<size_t>(number_of(network.hosts.front(), "eager_B"));
  sim::open_messaging(
      {network.hosts, n, static_cast<int>(node_pes), eager, latency, network.beside_links, mpi_handed_over, mpi_taken});
}

/* The PE's place among those that share sockets and clocks. PEs that have a node each still share them: then a PE
 * stands for one core of a node that is full of others like it. */
size_t place_of(int pe)
{
  return node_pes == 1 ? static_cast<size_t>(pe) : static_cast<size_t>(pe) % node_pes;
}

void start_pes(int n)
{
  std::vector<sim::Copy> copies;
  std::string why;
  if (!sim::load_copies(program, static_cast<size_t>(n), &copies, &why)) fail(program, why);
  for (int i = 0; i < n; i++) {
    size_t place = place_of(i);
    if (place % socket_pes == 0) sockets.push_back(std::make_unique<sim::Socket>(&prices));
    if (place % domain_pes == 0) domains.push_back(std::make_unique<sim::Domain>());
    pes.push_back(std::make_unique<Pe>(i, &clocks, sockets.back().get(), domains.back().get()));
    pes.back()->copy = copies[static_cast<size_t>(i)];
    if (agent_core) {
      pes.back()->agent = std::make_unique<sim::Core>(&clocks, sockets.back().get(), domains.back().get());
      pes.back()->agent->follow();
    }
    sim::start(new_thread(pes.back().get(), run_program));
  }
}

/* --- the report --------------------------------------------------------------------------------------------------- */

wtl_sim_energy energy_of(Pe *pe)
{
  wtl_sim_energy e = {};
  sim::Core &core = pe->core;
  double all = core.joules(), node_s = core.wall_s(), uncore_s = core.uncore_s();
  e.idle = draws.idle_w * node_s;
  e.core = all - e.idle;
  if (pe->agent) { /* its share of the idle node is in idle_w */
    e.core += pe->agent->joules() - draws.idle_w * pe->agent->wall_s();
    uncore_s += pe->agent->uncore_s();
  }
  e.uncore = draws.uncore_w * uncore_s;
  e.network_idle = draws.network_w * node_s;
  e.network = draws.network_byte_j * pe->network_bytes;
  e.dram_idle = draws.dram_w * node_s;
  e.dram = draws.dram_byte_j * pe->memory_bytes / 2; /* a payload byte is one read and one write */
  e.uncore_plus_minus = draws.uncore_w_plus_minus * uncore_s;
  e.network_plus_minus = draws.network_w_plus_minus * node_s + draws.network_byte_j_plus_minus * pe->network_bytes;
  e.dram_plus_minus = draws.dram_w_plus_minus * node_s + draws.dram_byte_j_plus_minus * pe->memory_bytes / 2;
  return e;
}

/* Figures of a PE's cores. */
double seconds_of(Pe *pe, sim::Part part)
{
  return pe->core.seconds_of(part) + (pe->agent ? pe->agent->seconds_of(part) : 0);
}

double joules_of(Pe *pe, sim::Part part)
{
  double joules = pe->core.joules_of(part) + (pe->agent ? pe->agent->joules_of(part) : 0);
  return joules - draws.idle_w * seconds_of(pe, part);
}

double on_core_s(Pe *pe)
{
  return pe->core.on_core_s() + (pe->agent ? pe->agent->on_core_s() : 0);
}

/* Writes a PE's figures. The joules of the core's activities are without its share of the idle node, which has its own
 * entry. */
void write_pe(Pe *pe)
{
  wtl_sim_energy e = energy_of(pe);
  const struct {
    const char *name;
    double joules;
  } shares[] = {{"idle", e.idle}, {"uncore", e.uncore},      {"network", e.network}, {"network_idle", e.network_idle},
                {"dram", e.dram}, {"dram_idle", e.dram_idle}};
  fprintf(out, "{\"pe\":%d,\"status\":%d,\"on_core_s\":%s,\"cpu_j\":%s,\"seconds\":{", pe->number, pe->status,
          sim::text_of(on_core_s(pe)).c_str(), sim::text_of(e.core + e.idle).c_str());
  for (int p = 0; p < sim::PARTS; p++)
    fprintf(out, "%s\"%s\":%s", p ? "," : "", sim::part_names[p],
            sim::text_of(seconds_of(pe, static_cast<sim::Part>(p))).c_str());
  fprintf(out, "},\"joules\":{");
  for (int p = 0; p < sim::PARTS; p++)
    fprintf(out, "\"%s\":%s,", sim::part_names[p], sim::text_of(joules_of(pe, static_cast<sim::Part>(p))).c_str());
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
    fprintf(out, "%s\"%s\":%s", i ? "," : "", shares[i].name, sim::text_of(shares[i].joules).c_str());
  fprintf(out, "}}");
}

void write_report(const char *end)
{
  fprintf(out, "{\"schema\":1,\"end\":\"%s\",\"simulated_s\":%s,\"messages\":%lu,\"bytes\":%lu,\"pes\":[", end,
          sim::text_of(sim::now()).c_str(), static_cast<unsigned long>(sim::messages_sent() + mpi_messages),
          static_cast<unsigned long>(sim::bytes_sent() + mpi_bytes));
  for (auto &pe : pes) {
    fprintf(out, "%s\n", pe->number ? "," : "");
    write_pe(pe.get());
  }
  fprintf(out, "\n]");
}

/* Reports a deadlock: for each thread of the program, the routine in which it waits. Standard error names only the
 * first. wattle prints the others with lines of the program. */
void write_deadlock()
{
  size_t waits = 0;
  std::string first, noun = "PE";
  write_report("deadlock");
  fprintf(out, ",\"waits\":[");
  for (auto &pe : pes)
    for (auto &t : pe->threads) {
      if (t->ended || t->serves) continue;
      Dl_info where = {};
      const char *call = t->site && pe->copy.call_name ? pe->copy.call_name(t->call) : "no call of the program's";
      unsigned long offset = 0;
      if (t->site && dladdr(reinterpret_cast<void *>(t->site), &where))
        offset = t->site - reinterpret_cast<uintptr_t>(where.dli_fbase);
      if (!waits) noun = strncmp(call, "MPI_", 4) == 0 ? "rank" : "PE";
      if (!waits) first = noun + " " + std::to_string(pe->number) + " waits in " + call;
      fprintf(out, "%s\n{\"pe\":%d,\"call\":\"%s\",\"offset\":%lu}", waits ? "," : "", pe->number, call, offset);
      waits++;
    }
  fprintf(out, "\n]");
  std::string at = sim::text_of(std::round(sim::now() * 1e9) / 1e9);
  sim::last_words("wattle-simulator: deadlock at " + at + " s: no " + noun + " can continue; " + first +
                  (waits > 1 ? ", and " + std::to_string(waits - 1) + " more wait\n" : "\n"));
}

/* The Fortran library writes its last lines in a destructor, and there are none at the end of run_all. */
void flush_fortran()
{
  void *library = dlopen("libgfortran.so.5", RTLD_NOW | RTLD_NOLOAD), *at = nullptr;
  if (library) at = dlsym(library, "_gfortran_flush_i4");
  void (*flush)(int *);
  memcpy(&flush, &at, sizeof flush);
  if (flush) flush(nullptr); /* all units */
}

/* Runs all PEs in one SimGrid actor, and ends the process. */
void run_all()
{
  bool good = sim::run([] { return ended == pes.size(); }, sim::advance_flows);
  int status = good ? 0 : 70;
  for (auto &pe : pes) status = std::max(status, pe->status);
  sim::hold_sigpipe();
  flush_fortran();
  fflush(stdout);
  if (good)
    write_report("finished");
  else
    write_deadlock();
  fprintf(out, "}\n");
  fclose(out);
  _exit(status); /* without destructors and exit handlers of the copies */
}

} // namespace

/* --- simulator.h -------------------------------------------------------------------------------------------------- */

int wtl_sim_pe(void)
{
  return here()->pe->number;
}

int wtl_sim_pes(void)
{
  return static_cast<int>(pes.size());
}

int wtl_sim_pes_a_node(void)
{
  return static_cast<int>(node_pes);
}

int *wtl_sim_first_pes(void)
{
  static std::vector<int> first;
  for (size_t pe = first.size() * node_pes; pe < pes.size(); pe += node_pes) first.push_back(static_cast<int>(pe));
  return first.data();
}

void *wtl_sim_node_memory(size_t n, int *file, size_t *place)
{
  return sim::node_memory(n, WTL_SIM_ALIGN, (pes.size() + node_pes - 1) / node_pes, file, place);
}

double wtl_sim_now(void)
{
  return sim::now();
}

double wtl_sim_pace(void)
{
  WTL_FLOATS_APART;
  return core_of(here()).pace();
}

void *wtl_sim_local(void)
{
  return here()->local;
}

void *wtl_sim_thread(void)
{
  return here();
}

const char *wtl_sim_program(void)
{
  return program;
}

const wtl_sim_prices *wtl_sim_price(void)
{
  return &prices;
}

void wtl_sim_compute(double seconds)
{
  WTL_FLOATS_APART;
  Pe *pe = here()->pe;
  core_of(here()).compute(seconds);
  show_direct_stores(pe);
}

void wtl_sim_move(double bytes, double meanwhile)
{
  WTL_FLOATS_APART;
  Pe *pe = here()->pe;
  core_of(here()).copy(bytes / 2, meanwhile);
  show_direct_stores(pe);
}

enum wtl_sim_idle_mode wtl_sim_set_idle_mode(enum wtl_sim_idle_mode how)
{
  WTL_FLOATS_APART;
  return core_of(here()).set_idle_mode(how);
}

enum wtl_sim_idle_mode wtl_sim_get_idle_mode(void)
{
  return core_of(here()).idle_mode();
}

void wtl_sim_set_polling(bool does)
{
  WTL_FLOATS_APART;
  core_of(here()).set_polling(does);
}

double wtl_sim_cpu_seconds(void)
{
  WTL_FLOATS_APART;
  return on_core_s(here()->pe);
}

double wtl_sim_cycles(void)
{
  WTL_FLOATS_APART;
  return here()->pe->core.cycles();
}

wtl_sim_energy wtl_sim_joules(void)
{
  WTL_FLOATS_APART;
  return energy_of(here()->pe);
}

void wtl_sim_count_bytes(double bytes)
{
  WTL_FLOATS_APART;
  here()->pe->memory_bytes += bytes;
}

size_t wtl_sim_clocks(void)
{
  return clocks.khz.size();
}

size_t wtl_sim_base_clock(void)
{
  return clocks.base;
}

uint32_t wtl_sim_clock_khz(size_t clock)
{
  return clocks.khz[clock];
}

bool wtl_sim_set_clock(int slot, size_t clock)
{
  WTL_FLOATS_APART;
  sim::Core &own = core_of(here());
  size_t node = static_cast<size_t>(here()->pe->number) / node_pes * node_pes, first = static_cast<size_t>(slot);
  size_t end = std::min({first + (node_pes == 1 ? 1 : domain_pes), node_pes, pes.size() - node});
  bool changed = false;
  for (size_t i = first; i < end; i++) changed |= pes[node + i]->core.set_clock(clock);
  if (changed) own.hold(sim::CHANGES, prices.clock_change);
  return changed;
}

void wtl_sim_limit_package(int slot, double watts)
{
  WTL_FLOATS_APART;
  size_t me = static_cast<size_t>(here()->pe->number), node = me / node_pes * node_pes;
  size_t pe = node_pes == 1 ? me : std::min(node + static_cast<size_t>(slot), pes.size() - 1);
  size_t first = pe - place_of(static_cast<int>(pe)) % socket_pes;
  /* A PE on a node of its own stands for one core of a full package, also where the job has fewer PEs. */
  size_t simulated = node_pes == 1 ? std::min(socket_pes, pes.size() - first) : socket_pes;
  double part = static_cast<double>(simulated) / static_cast<double>(socket_pes);
  pes[pe]->core.limit_package(watts, draws.uncore_w, limit_window, part);
}

int wtl_sim_cores_of_package(void)
{
  return static_cast<int>(node_pes == 1 ? 1 : socket_pes);
}

int wtl_sim_cores_of_clock(void)
{
  return static_cast<int>(node_pes == 1 ? 1 : domain_pes);
}

void wtl_sim_pause(double seconds)
{
  WTL_FLOATS_APART;
  sim::pass(seconds);
}

void wtl_sim_wake_up(void)
{
  WTL_FLOATS_APART;
  core_of(here()).hold(sim::WAKES, prices.wake);
}

void wtl_sim_was_awake(double seconds)
{
  WTL_FLOATS_APART;
  core_of(here()).was_awake(seconds);
}

bool wtl_sim_block(const void *word, double seconds)
{
  WTL_FLOATS_APART;
  if (here()->has_seen) {
    here()->has_seen = false;
    here()->was_roused = true;
    here()->waker = nullptr;
    return true;
  }
  return sim::block(word, seconds);
}

void wtl_sim_wake(const void *word, int n)
{
  sim::wake(word, n);
}

bool wtl_sim_is_awaited(const void *word)
{
  return sim::is_awaited(word);
}

bool wtl_sim_was_woken_by_other(void)
{
  const Thread *waker = static_cast<const Thread *>(here()->waker);
  return waker && &core_of(waker) != &core_of(here());
}

bool wtl_sim_was_roused(void)
{
  return here()->was_roused;
}

void *wtl_sim_spawn(void *(*run)(void *), void *arg, bool serves)
{
  Thread *t = new_thread(here()->pe, serve);
  t->run = run;
  t->arg = arg;
  t->serves = serves;
  sim::start(t);
  return t;
}

void *wtl_sim_join(void *thread)
{
  Thread *t = static_cast<Thread *>(thread);
  while (!t->ended) sim::block(t, INFINITY);
  return t->result;
}

void wtl_sim_loaded(void)
{
  const std::string why = pes.size() > 1 ? sim::shared_so_far(program) : "";
  if (!why.empty()) fail(program, why);
}

void wtl_sim_exit(int status)
{
  throw Ended{status};
}

void wtl_sim_send(int to, void *what, size_t n, int stream, double after)
{
  WTL_FLOATS_APART;
  count_bytes(here()->pe->number, to, n);
  sim::send(here()->pe->number, to, what, n, stream, after);
}

void wtl_sim_hand_back(int to, void *what)
{
  WTL_FLOATS_APART;
  deliver(to, what);
}

void *wtl_sim_take(void)
{
  std::deque<void *> &inbox = here()->pe->inbox;
  if (inbox.empty()) return nullptr;
  void *what = inbox.front();
  inbox.pop_front();
  return what;
}

bool wtl_sim_has_message(void)
{
  return !here()->pe->inbox.empty();
}

bool wtl_sim_await(double seconds)
{
  WTL_FLOATS_APART;
  Pe *pe = here()->pe;
  if (pe->inbox.empty() && !pe->nudged) sim::block(&pe->inbox, seconds);
  bool came = !pe->inbox.empty() || pe->nudged;
  pe->nudged = false;
  return came;
}

void wtl_sim_nudge(void)
{
  Pe *pe = here()->pe;
  pe->nudged = true;
  sim::wake(&pe->inbox, 1);
}

void wtl_sim_transfer(int from, int to, size_t n, double after, wtl_sim_step *step, void *what)
{
  WTL_FLOATS_APART;
  count_bytes(from, n); /* at the other end when they are there: a PE may measure its joules */
  sim::send(from, to, what, n, sim::STREAMS - 1, after, step);
}

void wtl_sim_later(double seconds, wtl_sim_step *step, void *what)
{
  WTL_FLOATS_APART;
  sim::at(sim::now() + seconds, step, what, 0);
}

void wtl_sim_stored(int pe)
{
  for (auto &t : pes[static_cast<size_t>(pe)]->threads)
    if (t->polls_memory && t->polls_network) show(t.get());
}

void wtl_sim_poll(bool memory, bool network)
{
  Thread *t = here();
  t->polls_memory = memory;
  t->polls_network = network;
  t->has_seen = false;
}

void wtl_sim_has_address(int pe)
{
  Pe *other = pes[static_cast<size_t>(pe)].get();
  here()->pe->addresses.insert(pe);
  if (other->stored_directly) return;
  other->stored_directly = true;
  for (auto &t : other->threads) show(t.get()); /* it waits as if no other PE had an address */
}

bool wtl_sim_is_stored_directly(void)
{
  return here()->pe->stored_directly;
}

void wtl_sim_carry_out(void (*call)(void *), void *arguments, void (*over)(void *, uint64_t), void *what)
{
  sim::carry_out(here()->pe->number, call, arguments, over, what);
}

void *wtl_sim_entry(const char *name)
{
  static void *const here = dlopen(nullptr, RTLD_NOW); /* RTLD_DEFAULT would search the calling copy first */
  return dlsym(here, name);
}

void wtl_sim_publish(const char *key, const char *value)
{
  here()->pe->says[key] = value;
}

bool wtl_sim_lookup(int pe, const char *key, char *value, size_t size)
{
  const auto &said = pes[static_cast<size_t>(pe)]->said;
  auto at = said.find(key);
  if (at == said.end()) return false;
  snprintf(value, size, "%s", at->second.c_str());
  return true;
}

void wtl_sim_barrier(void)
{
  if (++at_barrier < pes.size()) {
    sim::block(&at_barrier, INFINITY);
    return;
  }
  at_barrier = 0;
  for (auto &pe : pes) {
    for (auto &line : pe->says) pe->said[line.first] = line.second;
    pe->says.clear();
  }
  sim::wake(&at_barrier, static_cast<int>(pes.size()));
}

void wtl_sim_waits(unsigned call, uintptr_t site)
{
  here()->call = call;
  here()->site = site;
}

/* --- main --------------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
  if (argc < 5 || atoi(argv[3]) < 1) {
    sim::last_words("usage: wattle-simulator PLATFORM.xml OUT.json N PROGRAM [ARGUMENT]...\n");
    return 64;
  }
  int none = 1, n = atoi(argv[3]);
  xbt_log_control_set("root.thres:critical");
  s4u::Engine engine(&none, argv);
  install_handlers();
  std::signal(SIGINT, SIG_DFL); /* SimGrid's handler destroys objects that its actors still use, and aborts */
  read_platform(argv[1], n);
  program = realpath(argv[4], nullptr);
  if (!program) fail(argv[4], strerror(errno));
  int file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 || !(out = fdopen(file, "w"))) fail(argv[2], strerror(errno));
  arguments = argc - 4;
  argument = argv + 4;
  start_pes(n);
  s4u::Actor::init("pes", engine.host_by_name("node-0"))->start(run_all);
  engine.run();
  return 70; /* not reached: run_all ends the process */
}
