/*
 * core.h - a PE's core: who computes on it, at which clock, how it rests, and what it draws meanwhile. Several threads that compute
 * at once share it evenly.
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

/* Clocks of the platform, and the watts of a core at each: computing, and by how it rests. */
struct Clocks {
  struct Watts {
    double busy, resting[RESTS];
  };
  std::vector<uint32_t> khz;
  std::vector<Watts> watts;
  size_t base = 0;
};

/* khz: "k,k,..."; watts: "resting:busy:busy,...", for each clock one for each way to rest, as SimGrid writes watts. False if they do
 * not fit together. */
bool read_clocks(const std::string &khz, const std::string &watts, size_t base, Clocks *out);

class Core {
public:
  explicit Core(const Clocks *c) : clocks(c), clock_(c->base) {}

  /* The calling thread's work. */
  void compute(double work);
  wtl_sim_rest set_rest(wtl_sim_rest how);
  wtl_sim_rest rest() const { return rest_; }
  /* False if it is so already. */
  bool set_clock(size_t clock);
  size_t clock() const { return clock_; }
  /* Seconds that a second's work takes. */
  double pace() const { return pace_; }
  /* So far: seconds in which it computed or looked on, and joules. */
  double on_core_s();
  double joules();
  /* From now on it counts no more. */
  void stop();

private:
  struct Job {
    Turns *thread;
    double left;
  };
  void let_pass();
  void plan();
  static void end_job(void *core, uint64_t number);

  const Clocks *clocks;
  size_t clock_;
  double pace_ = 1;
  wtl_sim_rest rest_ = WTL_SIM_SPINS;
  std::vector<Job> jobs;
  Turns *next = nullptr; /* whose job ends first */
  uint64_t plans = 0;
  double since = 0, on_core = 0, joules_ = 0;
  bool stopped = false;
};

} // namespace sim

#endif
