/*
 * wattle-simulator PLATFORM.xml OUT.json N PROGRAM [ARGUMENT]... - runs N copies of a program, built by oshcc --sim, on the hosts
 * of a SimGrid platform, PE i on host "pe-i". OUT.json receives what the machine saw; exit code: the largest of the PEs'.
 *
 * Copies: the file is copied into memory once for each PE and loaded from there. The dynamic loader tells objects by their
 * file, so each copy has its own variables, and its calls of simulator.h bind to this program.
 */
#include "sim/simulator.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <memory>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>
#include <xbt/log.h>

namespace s4u = simgrid::s4u;

namespace {

struct Pe;

struct Thread {
  Pe *pe = nullptr;
  s4u::ActorPtr actor;
  s4u::SemaphorePtr bell = s4u::Semaphore::create(0);
  const void *word = nullptr; /* what it blocks on */
  bool woken = false, ended = false;
  void *(*run)(void *) = nullptr;
  void *arg = nullptr, *result = nullptr;
  unsigned call = 0; /* what it waits for */
  uintptr_t site = 0;
  alignas(64) char local[WTL_SIM_LOCAL_BYTES] = {};
};

struct Message {
  int from, to, stream;
  uint64_t number;
  void *what;
};

/* Messages of one PE to another, put in order. */
struct Stream {
  uint64_t sent = 0, delivered = 0;
  std::map<uint64_t, void *> early;
};

struct Pe {
  int number = 0;
  s4u::Host *host = nullptr;
  int (*main)(int, char **, char **) = nullptr;
  void (*end)(int) = nullptr; /* wtl_os_end of its copy */
  const char *(*call_name)(unsigned) = nullptr;
  int status = -1; /* -1: it still runs */
  wtl_sim_rest rest = WTL_SIM_SPINS;
  size_t clock = 0;
  int computing = 0; /* threads that do */
  double since = 0, on_core = 0;
  double joules = 0;
  std::deque<void *> inbox;
  bool nudged = false;
  std::map<std::string, std::string> said, says;
  std::vector<std::unique_ptr<Thread>> threads;
  std::unordered_map<uint64_t, Stream> to; /* by receiver and stream */
};

enum { RESTS = 3 }; /* P-states of a clock, by what the core draws when idle: enum wtl_sim_rest */

std::vector<std::unique_ptr<Pe>> pes;
std::unordered_map<const void *, std::deque<Thread *>> blocked;
Thread *here; /* who runs */
std::vector<uint32_t> clocks_khz;
size_t base_clock;
wtl_sim_prices prices;
double change_s; /* of a clock */
int meeting;     /* PEs that are there */
uint64_t messages, bytes;
const char *program;

/* Every call that may let others run ends with this. */
void back(Thread *me)
{
  here = me;
}

[[noreturn]] void fail(const char *what, const std::string &why)
{
  fprintf(stderr, "wattle-simulator: %s: %s\n", what, why.c_str());
  exit(69);
}

/* --- the core ------------------------------------------------------------------------------------------------------ */

bool is_on_core(const Pe *pe)
{
  return pe->computing || pe->rest != WTL_SIM_SLEEPS;
}

void account(Pe *pe)
{
  double now = s4u::Engine::get_clock();
  if (is_on_core(pe)) pe->on_core += now - pe->since;
  pe->since = now;
}

void set_state(Pe *pe)
{
  pe->host->set_pstate(static_cast<int>(pe->clock * RESTS + pe->rest));
}

double number_of(const s4u::Host *host, const char *property)
{
  const char *text = host->get_property(property);
  if (!text) fail("the platform", std::string("host ") + host->get_cname() + " has no property " + property);
  return atof(text);
}

/* --- threads ------------------------------------------------------------------------------------------------------- */

bool block(Thread *me, const void *word, double seconds)
{
  bool late = false;
  me->word = word;
  me->woken = false;
  blocked[word].push_back(me);
  if (std::isinf(seconds))
    me->bell->acquire();
  else
    late = me->bell->acquire_timeout(seconds);
  back(me);
  if (late && me->woken) me->bell->acquire(), back(me); /* woken at the very moment: the bell has rung */
  if (!me->woken) {
    auto at = blocked.find(word);
    for (auto it = at->second.begin(); it != at->second.end(); ++it)
      if (*it == me) {
        at->second.erase(it);
        break;
      }
    if (at->second.empty()) blocked.erase(at);
  }
  me->word = nullptr;
  return me->woken;
}

void wake(const void *word, int n)
{
  Thread *me = here;
  auto at = blocked.find(word);
  if (at == blocked.end()) return;
  std::vector<Thread *> called;
  for (; n > 0 && !at->second.empty(); n--) {
    called.push_back(at->second.front());
    at->second.pop_front();
  }
  if (at->second.empty()) blocked.erase(at);
  for (Thread *t : called) t->woken = true;
  for (Thread *t : called) t->bell->release();
  back(me);
}

/* --- messages ------------------------------------------------------------------------------------------------------ */

void arrive(const Message &m)
{
  Pe *to = pes[static_cast<size_t>(m.to)].get();
  Stream &s = pes[static_cast<size_t>(m.from)]->to[static_cast<uint64_t>(m.to) * 2 + static_cast<uint64_t>(m.stream)];
  s.early[m.number] = m.what;
  bool any = false;
  for (; !s.early.empty() && s.early.begin()->first == s.delivered; s.delivered++, any = true) {
    to->inbox.push_back(s.early.begin()->second);
    s.early.erase(s.early.begin());
  }
  if (any) wake(&to->inbox, 1);
}

/*
 * Carries one message at a time. SimGrid tells nobody but who waits for it that a transfer is over, so each message has an actor that
 * waits; those that have none rest until they are needed again.
 */
struct Courier {
  s4u::SemaphorePtr bell = s4u::Semaphore::create(0);
  Message message = {};
  size_t bytes = 0;
};

std::vector<std::unique_ptr<Courier>> couriers;
std::vector<Courier *> resting; /* the last to rest is the first to go: its stack is warm */

void carry(Courier *c)
{
  for (;;) {
    const Message m = c->message;
    s4u::Comm::sendto(pes[static_cast<size_t>(m.from)]->host, pes[static_cast<size_t>(m.to)]->host, c->bytes);
    arrive(m);
    resting.push_back(c);
    c->bell->acquire();
  }
}

void post(const Message &m, size_t n)
{
  if (!resting.empty()) {
    Courier *c = resting.back();
    resting.pop_back();
    c->message = m;
    c->bytes = n;
    c->bell->release();
    return;
  }
  couriers.push_back(std::make_unique<Courier>());
  Courier *c = couriers.back().get();
  c->message = m;
  c->bytes = n;
  s4u::Actor::create("courier", pes.front()->host, carry, c)->daemonize();
}

/* --- threads of PEs ------------------------------------------------------------------------------------------------- */

Thread *new_thread(Pe *pe)
{
  pe->threads.push_back(std::make_unique<Thread>());
  Thread *t = pe->threads.back().get();
  t->pe = pe;
  return t;
}

void serve(Thread *t)
{
  here = t;
  t->result = t->run(t->arg);
  t->ended = true;
  wake(t, 1);
}

/* --- PEs ----------------------------------------------------------------------------------------------------------- */

/* Up to here the file is mapped; what follows is for debuggers. */
off_t loaded_bytes(int file)
{
  ElfW(Ehdr) head;
  ElfW(Phdr) segment;
  off_t end = 0;
  if (pread(file, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (int i = 0; i < head.e_phnum; i++) {
    off_t at = static_cast<off_t>(head.e_phoff) + static_cast<off_t>(i) * head.e_phentsize;
    if (pread(file, &segment, sizeof segment, at) != sizeof segment) return 0;
    if (segment.p_type == PT_LOAD) end = std::max(end, static_cast<off_t>(segment.p_offset + segment.p_filesz));
  }
  return end;
}

int copy_file(int from, off_t bytes)
{
  int to = memfd_create("wattle-pe", MFD_CLOEXEC);
  off_t at = 0;
  while (to >= 0 && at < bytes)
    if (sendfile(to, from, &at, static_cast<size_t>(bytes - at)) <= 0) {
      close(to);
      return -1;
    }
  return to;
}

/* Returns the copy's descriptor, which must stay open while others are loaded: the dynamic loader takes what has a name that it knows for
 * what it has. */
int load(Pe *pe, int file, off_t bytes)
{
  int fd = copy_file(file, bytes);
  if (fd < 0) fail(program, std::string("no memory for a copy: ") + strerror(errno));
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  void *copy = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *main = copy ? dlsym(copy, "main") : nullptr, *end = main ? dlsym(copy, "wtl_os_end") : nullptr;
  if (!end) fail(program, std::string("not a program built by oshcc --sim: ") + dlerror());
  memcpy(&pe->main, &main, sizeof main);
  memcpy(&pe->end, &end, sizeof end);
  void *call_name = dlsym(copy, "wtl_sim_call_name");
  memcpy(&pe->call_name, &call_name, sizeof call_name);
  return fd;
}

struct Ended {
  int status;
};

void run(Pe *pe, int argc, char **argv)
{
  Thread *me = pe->threads.front().get();
  here = me;
  try {
    int status = pe->main(argc, argv, environ);
    pe->end(status);
    pe->status = status;
  } catch (const Ended &end) {
    pe->status = end.status;
  }
  account(pe);
  pe->joules = sg_host_get_consumed_energy(pe->host);
}

/* --- what is told at the end --------------------------------------------------------------------------------------- */

void tell(FILE *f, const char *end)
{
  fprintf(f, "{\"schema\":1,\"end\":\"%s\",\"simulated_s\":%.17g,\"messages\":%lu,\"bytes\":%lu,\"pes\":[", end,
          s4u::Engine::get_clock(), static_cast<unsigned long>(messages), static_cast<unsigned long>(bytes));
  for (auto &pe : pes)
    fprintf(f, "%s\n{\"pe\":%d,\"status\":%d,\"on_core_s\":%.17g,\"cpu_j\":%.17g}", pe->number ? "," : "", pe->number,
            pe->status, pe->on_core, pe->joules);
  fprintf(f, "\n]");
}

FILE *out;

/* Time cannot go on. Each PE's threads that are no servants say what they wait for. */
void on_deadlock()
{
  fflush(stdout);
  tell(out, "deadlock");
  fprintf(out, ",\"waits\":[");
  bool first = true;
  fprintf(stderr, "wattle-simulator: deadlock at %.9g s: no PE can go on\n", s4u::Engine::get_clock());
  for (auto &pe : pes)
    for (auto &t : pe->threads) {
      if (t->ended || !t->actor || t->actor->is_daemon() || (t == pe->threads.front() && pe->status >= 0)) continue;
      Dl_info where = {};
      const char *call = t->site && pe->call_name ? pe->call_name(t->call) : "no call of the program's";
      unsigned long offset = 0;
      if (t->site && dladdr(reinterpret_cast<void *>(t->site), &where))
        offset = t->site - reinterpret_cast<uintptr_t>(where.dli_fbase);
      fprintf(stderr, "wattle-simulator: PE %d waits in %s, %s+0x%lx\n", pe->number, call, program, offset);
      fprintf(out, "%s\n{\"pe\":%d,\"call\":\"%s\",\"offset\":%lu}", first ? "" : ",", pe->number, call, offset);
      first = false;
    }
  fprintf(out, "\n]}\n");
  fclose(out);
  _exit(70);
}

void raise_limit_of_files()
{
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void read_prices()
{
  const s4u::Host *host = pes.front()->host;
  prices = {number_of(host, "wake_s"), number_of(host, "block_s"), number_of(host, "message_s"),
            number_of(host, "byte_s")};
  change_s = number_of(host, "clock_change_s");
  base_clock = static_cast<size_t>(number_of(host, "base_clock"));
  for (const char *at = host->get_property("clocks_khz"); *at;) {
    char *end;
    clocks_khz.push_back(static_cast<uint32_t>(strtoul(at, &end, 10)));
    at = *end ? end + 1 : end;
  }
}

} // namespace

/* --- simulator.h ---------------------------------------------------------------------------------------------------- */

int wtl_sim_pe(void)
{
  return here->pe->number;
}

int wtl_sim_pes(void)
{
  return static_cast<int>(pes.size());
}

double wtl_sim_now(void)
{
  return s4u::Engine::get_clock();
}

void *wtl_sim_local(void)
{
  return here->local;
}

void *wtl_sim_thread(void)
{
  return here;
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
  Thread *me = here;
  Pe *pe = me->pe;
  account(pe);
  pe->computing++;
  s4u::this_actor::execute(seconds * 1e3 * clocks_khz[base_clock]);
  back(me);
  account(pe);
  pe->computing--;
}

enum wtl_sim_rest wtl_sim_set_rest(enum wtl_sim_rest how)
{
  Thread *me = here;
  Pe *pe = me->pe;
  enum wtl_sim_rest before = pe->rest;
  if (how == before) return before;
  account(pe);
  pe->rest = how;
  set_state(pe);
  back(me);
  return before;
}

enum wtl_sim_rest wtl_sim_resting(void)
{
  return here->pe->rest;
}

double wtl_sim_cpu_seconds(void)
{
  account(here->pe);
  return here->pe->on_core;
}

double wtl_sim_joules(void)
{
  Thread *me = here;
  double joules = sg_host_get_consumed_energy(me->pe->host);
  back(me);
  return joules;
}

size_t wtl_sim_clocks(void)
{
  return clocks_khz.size();
}

size_t wtl_sim_base_clock(void)
{
  return base_clock;
}

uint32_t wtl_sim_clock_khz(size_t clock)
{
  return clocks_khz[clock];
}

void wtl_sim_set_clock(size_t clock)
{
  Thread *me = here;
  if (clock == me->pe->clock) return;
  me->pe->clock = clock;
  set_state(me->pe);
  back(me);
  wtl_sim_pause(change_s);
}

void wtl_sim_pause(double seconds)
{
  Thread *me = here;
  s4u::this_actor::sleep_for(seconds);
  back(me);
}

bool wtl_sim_block(const void *word, double seconds)
{
  return block(here, word, seconds);
}

void wtl_sim_wake(const void *word, int n)
{
  wake(word, n);
}

void *wtl_sim_spawn(void *(*run)(void *), void *arg, bool daemon)
{
  Thread *me = here, *t = new_thread(me->pe);
  t->run = run;
  t->arg = arg;
  t->actor = s4u::Actor::create("pe-" + std::to_string(me->pe->number) + "-thread", me->pe->host, serve, t);
  if (daemon) t->actor->daemonize();
  back(me);
  return t;
}

void *wtl_sim_join(void *thread)
{
  Thread *t = static_cast<Thread *>(thread);
  while (!t->ended) block(here, t, INFINITY);
  return t->result;
}

void wtl_sim_exit(int status)
{
  throw Ended{status};
}

void wtl_sim_send(int to, void *what, size_t n, int stream)
{
  Thread *me = here;
  Pe *pe = me->pe;
  Stream &s = pe->to[static_cast<uint64_t>(to) * 2 + static_cast<uint64_t>(stream)];
  Message m = {pe->number, to, stream, s.sent++, what};
  messages++;
  bytes += n;
  post(m, n);
  back(me);
}

void *wtl_sim_take(void)
{
  std::deque<void *> &inbox = here->pe->inbox;
  if (inbox.empty()) return nullptr;
  void *what = inbox.front();
  inbox.pop_front();
  return what;
}

bool wtl_sim_has_message(void)
{
  return !here->pe->inbox.empty();
}

void wtl_sim_await(void)
{
  Pe *pe = here->pe;
  if (pe->inbox.empty() && !pe->nudged) block(here, &pe->inbox, INFINITY);
  pe->nudged = false;
}

void wtl_sim_nudge(void)
{
  Pe *pe = here->pe;
  pe->nudged = true;
  wake(&pe->inbox, 1);
}

void wtl_sim_publish(const char *key, const char *value)
{
  here->pe->says[key] = value;
}

bool wtl_sim_lookup(int pe, const char *key, char *value, size_t size)
{
  const auto &said = pes[static_cast<size_t>(pe)]->said;
  auto at = said.find(key);
  if (at == said.end()) return false;
  snprintf(value, size, "%s", at->second.c_str());
  return true;
}

void wtl_sim_meet(void)
{
  if (++meeting < static_cast<int>(pes.size())) {
    block(here, &meeting, INFINITY);
    return;
  }
  meeting = 0;
  for (auto &pe : pes) {
    for (auto &line : pe->says) pe->said[line.first] = line.second;
    pe->says.clear();
  }
  wake(&meeting, static_cast<int>(pes.size()));
}

void wtl_sim_waits(unsigned call, uintptr_t site)
{
  here->call = call;
  here->site = site;
}

/* --- main ---------------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
  if (argc < 5 || atoi(argv[3]) < 1) {
    fprintf(stderr, "usage: wattle-simulator PLATFORM.xml OUT.json N PROGRAM [ARGUMENT]...\n");
    return 64;
  }
  int none = 1, n = atoi(argv[3]);
  raise_limit_of_files();
  xbt_log_control_set("root.thres:critical");
  xbt_log_control_set("ker_engine.app:file:/dev/null"); /* a deadlock is told here (on_deadlock), by PE */
  sg_host_energy_plugin_init();
  s4u::Engine engine(&none, argv);
  s4u::Engine::set_config("network/model:CM02"); /* the platform's numbers as they are */
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/crosstraffic:no");
  s4u::Engine::set_config("contexts/stack-size:1024"); /* KiB */
  engine.load_platform(argv[1]);
  s4u::Engine::on_deadlock_cb(on_deadlock);
  program = realpath(argv[4], nullptr);
  int file = program ? open(program, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) fail(argv[4], strerror(errno));
  off_t bytes = loaded_bytes(file);
  if (!(out = fopen(argv[2], "w"))) fail(argv[2], strerror(errno));
  for (int i = 0; i < n; i++) {
    pes.push_back(std::make_unique<Pe>());
    Pe *pe = pes.back().get();
    pe->number = i;
    pe->host = s4u::Host::by_name("pe-" + std::to_string(i));
  }
  read_prices();
  std::vector<int> copies;
  for (auto &pe : pes) {
    pe->clock = base_clock;
    pe->host->set_pstate(static_cast<int>(pe->clock * RESTS + pe->rest));
    copies.push_back(load(pe.get(), file, bytes));
    Thread *first = new_thread(pe.get());
    first->actor = s4u::Actor::create("pe-" + std::to_string(pe->number), pe->host, run, pe.get(), argc - 4, argv + 4);
  }
  for (int copy : copies) close(copy);
  close(file);
  engine.run();
  int status = 0;
  for (auto &pe : pes) status = std::max(status, pe->status);
  tell(out, "finished");
  fprintf(out, "}\n");
  fclose(out);
  fflush(stdout);
  _exit(status); /* copies of the program have nothing to say any more */
}
