/*
 * core.h - simulates a PE's core: its computing threads, its clock, its state and the power that it draws. Several
 * threads that compute at once share the core evenly.
 *
 * Work is measured in the seconds that it takes at the base clock.
 */
#ifndef WTL_SIM_CORE_H
#define WTL_SIM_CORE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/package_limit.h"
#include "sim/schedule.h"
#include "sim/simulator.h"
#include "sim/socket_memory.h"

namespace sim {

constexpr int IDLE_MODES = 3; /* enum wtl_sim_idle_mode */

/* Activities of a core. Time and joules are counted for each. Waking up and changing the clock draw the same power as
 * computing. */
enum Part { COMPUTES, SPINS, YIELDS, SLEEPS, WAKES, CHANGES, PARTS };
extern const char *const part_names[PARTS];

/* Clocks of the platform in rising order: the nominal frequency of each, its speed, and the watts of a core at it,
 * computing and for each way to rest. The watts include the core's share of the idle node. */
struct Clocks {
  struct Watts {
    double busy, resting[IDLE_MODES];
  };
  std::vector<uint32_t> khz;
  std::vector<double> speed; /* relative to the base clock */
  std::vector<Watts> watts;
  size_t base = 0;
};

class Core;

/* The memory and the uncore of a socket. The uncore draws power while at least one core of the socket is awake. The
 * cores that are awake share that time equally. */
struct Socket {
  explicit Socket(const wtl_sim_prices *prices) : memory(prices) {}
  Memory memory;
  int awake = 0;
  double since = 0, each_s = 0; /* each_s: sum of time divided by the number of awake cores */
  std::vector<Core *> cores;
  std::unique_ptr<PowerLimit> limit; /* nullptr: none was ever set */
};

/* A clock domain: its cores run at the highest clock that one of them requests, as far as power limits allow. */
struct Domain {
  size_t clock = 0;
  std::vector<Core *> cores;
};

/* A number with a decimal point in any locale of the program. */
std::string text_of(double number);

/* Parses the clocks. khz, speeds: "k,k,...". watts: "resting:busy:busy,..." in SimGrid's form, for each clock one
 * triple for each way to rest. Returns false if they do not fit together. */
bool read_clocks(const std::string &khz, const std::string &speeds, const std::string &watts, size_t base, Clocks *out);

class Core {
public:
  Core(const Clocks *c, Socket *s, Domain *d);

  /* Does `work` seconds of work in the calling thread. Returns when they are done. */
  void compute(double work);
  /* Copies so many bytes within memory, on behalf of the calling thread. Other threads compute meanwhile. In the past
   * `meanwhile` seconds the core has already copied part of them. */
  void copy(double bytes, double meanwhile);
  wtl_sim_idle_mode set_idle_mode(wtl_sim_idle_mode how);
  wtl_sim_idle_mode idle_mode() const { return polling ? WTL_SIM_SPINS : idle_mode_; }
  /* Adds or removes a polling thread. While there is one, the core spins in any state. */
  void set_polling(bool does);
  /* Makes it the core of an agent, which sleeps until a thread computes or polls. It requests no clock of its own. */
  void follow();
  /* Requests a clock. Returns true if the domain's clock has changed because of it. */
  bool set_clock(size_t clock);
  /* Sets the power limit of its package (package_limit.h). `uncore_w`: drawn while a core is awake. `part`: the part of
   * the package's cores that is simulated. The others are taken to do the same. */
  void limit_package(double limit_w, double uncore_w, double window_s, double part);
  /* Keeps the core busy with waking up or changing the clock, on behalf of the calling thread. */
  void hold(Part part, double seconds);
  /* Turns `seconds` of the past sleep into waking up. The uncore counts as awake for them if the whole socket
   * sleeps. */
  void was_awake(double seconds);
  size_t clock() const { return clock_; }
  /* The clock that its domain requests. */
  size_t wanted() const;
  /* The watts of its present activity at a clock. */
  double watts(size_t clock) const;
  /* Sets the domain's clock. Returns true if it has changed. */
  bool settle();
  /* Seconds that a second of work takes at the present clock. */
  double pace() const { return pace_; }
  /* Seconds in which the core computed, polled, yielded or changed its clock, and all joules, up to now. */
  double on_core_s();
  double joules();
  double cycles(); /* of computing, up to now */
  /* Figures as of the last call of a function above. The joules include the core's share of the idle node. */
  double seconds_of(Part part) const { return seconds[part]; }
  double joules_of(Part part) const { return by_part[part]; }
  double uncore_s() const { return uncore; } /* its share of the socket's time awake */
  double wall_s() const { return wall; }
  /* Stops counting, and requests the lowest clock. */
  void stop();

private:
  struct Job {
    Turns *thread;
    double left;
  };
  Part part() const;
  void let_pass();
  void plan();
  void run_at(size_t clock);
  template <typename How> void become(How how);
  static void end_job(void *core, uint64_t number);

  const Clocks *clocks;
  Socket *socket;
  Domain *domain;
  size_t clock_, wants;
  double pace_ = 1;
  int waking = 0, changing = 0, polling = 0, copying = 0;
  double seconds[PARTS] = {}, by_part[PARTS] = {};
  double uncore = 0, uncore_from = 0, wall = 0;
  wtl_sim_idle_mode idle_mode_ = WTL_SIM_SPINS;
  std::vector<Job> jobs;
  Turns *next = nullptr; /* the thread whose job ends first */
  uint64_t plans = 0;
  double since = 0, on_core = 0, joules_ = 0, cycles_ = 0;
  bool stopped = false;
};

} // namespace sim

#endif
