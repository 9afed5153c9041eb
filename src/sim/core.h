/*
 * core.h - a PE's core: who computes on it, at which clock, how it rests, and what it draws meanwhile. Several threads
 * that compute at once share it evenly.
 *
 * Work is measured in the seconds that it takes at the base clock.
 */
#ifndef WTL_SIM_CORE_H
#define WTL_SIM_CORE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "sim/simulator.h"

namespace sim {

constexpr int RESTS = 3; /* enum wtl_sim_rest */

/* Where a core's time and joules go; those of each are kept apart. Waking up and changing the clock draw what computing
 * does. */
enum Part { COMPUTES, SPINS, YIELDS, SLEEPS, WAKES, CHANGES, PARTS };
extern const char *const part_names[PARTS];

/* Clocks of the platform: what each is called, how fast it is, and the watts of a core at it, its share of the idle
 * node included: computing, and by how it rests. */
struct Clocks {
  struct Watts {
    double busy, resting[RESTS];
  };
  std::vector<uint32_t> khz;
  std::vector<double> speed; /* over the base clock's */
  std::vector<Watts> watts;
  size_t base = 0;
};

class Core;

/* What the cores of a socket share: the uncore draws as long as one of them is awake, and those that are share it
 * alike. */
struct Socket {
  int awake = 0;
  double since = 0, each_s = 0; /* each_s: time divided by how many were awake, summed */
};

/* Cores that have one clock: the highest that one of them asks for. */
struct Domain {
  size_t clock = 0;
  std::vector<Core *> cores;
};

/* khz, speeds: "k,k,..."; watts: "resting:busy:busy,...", for each clock one for each way to rest, as SimGrid writes
 * watts. False if they do not fit together. */
bool read_clocks(const std::string &khz, const std::string &speeds, const std::string &watts, size_t base, Clocks *out);

class Core {
public:
  Core(const Clocks *c, Socket *s, Domain *d);

  /* The calling thread's work. */
  void compute(double work);
  wtl_sim_rest set_rest(wtl_sim_rest how);
  wtl_sim_rest rest() const { return lookers ? WTL_SIM_SPINS : rest_; }
  /* Another thread than the one that rests looks on, or does no more. */
  void look_on(bool does);
  /* Asks for a clock. True where the domain's clock has changed by this. */
  bool set_clock(size_t clock);
  /* The calling thread wakes up, or changes the clock, for so long. */
  void hold(Part part, double seconds);
  /* So much of its sleep was waking up. The uncore woke with it only where all other cores of the socket sleep now. */
  void was_awake(double seconds);
  size_t clock() const { return clock_; }
  /* Seconds that a second's work takes. */
  double pace() const { return pace_; }
  /* So far: seconds in which it computed or looked on, and joules. */
  double on_core_s();
  double joules();
  double seconds_of(Part part) const { return seconds[part]; } /* up to the last that was asked above */
  double joules_of(Part part) const { return by_part[part]; }  /* the same; with its share of the idle node */
  double uncore_s() const { return uncore; }                   /* its share of the socket's time awake */
  double wall_s() const { return wall; }
  /* From now on it counts no more, and asks for no clock. */
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
  bool settle();
  template <typename How> void become(How how);
  static void end_job(void *core, uint64_t number);

  const Clocks *clocks;
  Socket *socket;
  Domain *domain;
  size_t clock_, wants;
  double pace_ = 1;
  int waking = 0, changing = 0, lookers = 0;
  double seconds[PARTS] = {}, by_part[PARTS] = {};
  double uncore = 0, uncore_from = 0, wall = 0;
  wtl_sim_rest rest_ = WTL_SIM_SPINS;
  std::vector<Job> jobs;
  Turns *next = nullptr; /* whose job ends first */
  uint64_t plans = 0;
  double since = 0, on_core = 0, joules_ = 0;
  bool stopped = false;
};

} // namespace sim

#endif
