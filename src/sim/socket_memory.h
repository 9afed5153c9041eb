/*
 * socket_memory.h - simulates the memory of a socket. The cores that read and write it at the same time share its
 * bandwidth: each gets an equal part, or the bandwidth of a core alone where that is less.
 */
#ifndef WTL_SIM_SOCKET_MEMORY_H
#define WTL_SIM_SOCKET_MEMORY_H

#include <cstdint>
#include <map>
#include <vector>

#include "sim/schedule.h"
#include "sim/simulator.h"

namespace sim {

class Memory {
public:
  explicit Memory(const wtl_sim_prices *p) : prices(p) {}
  /* Copies `bytes` in the calling thread and returns when they are done. `pace`: the present pace of its core. In the
   * past `meanwhile` seconds the core has already copied part of them, beside each core that copied about then. */
  void copy(double bytes, const double *pace, double meanwhile);
  /* The pace of a core has changed. */
  void replan();

private:
  struct Mover {
    Turns *thread;
    const double *pace;
    double left, rate; /* bytes; bytes a second */
  };
  double alone(double pace) const { return 1 / wtl_sim_copy_s(prices->levels[WTL_SIM_MEMORY], pace); }
  double together(double pace) const;
  double copied(const double *pace, double meanwhile) const;
  void let_pass();
  void share();
  void plan();
  static void end_first(void *memory, uint64_t number);

  const wtl_sim_prices *prices;
  std::vector<Mover> movers;
  std::map<const double *, double> last; /* by core: the time of its last copy */
  double since = 0;
  uint64_t plans = 0;
};

} // namespace sim

#endif
