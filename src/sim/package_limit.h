/*
 * package_limit.h - keeps the watts of a package within a limit, as RAPL does (Intel SDM, volume 3B, 15.10.3).
 *
 * The limit is for the running average of the package's watts over a time window. This average follows the watts by
 * 1 - exp(-t / window). More watts are allowed while the average is below the limit. Then no core runs at more than the
 * highest clock at which the package stays within the limit. From then on the average is compared each millisecond:
 * below the limit the cores may run one clock faster, else they go back. So the average stays at the limit.
 */
#ifndef WTL_SIM_PACKAGE_LIMIT_H
#define WTL_SIM_PACKAGE_LIMIT_H

#include <cstddef>
#include <cstdint>
#include <functional>

namespace sim {

class PowerLimit {
public:
  /* A package. `watts`: of the package if no core ran at more than a clock, in W. `obey`:
   * sets the cores' clocks again after a change of highest(). */
  struct Package {
    size_t clocks;
    double idle_w;
    std::function<double(size_t)> watts;
    std::function<void()> obey;
  };
  /* The package was idle before. */
  PowerLimit(Package p, double window_s);
  /* Sets the limit. More watts than the package draws: none. */
  void set(double watts);
  /* A core of the package has changed its activity or clock. */
  void changed();
  /* The highest clock at which the package's cores may run now. */
  size_t highest() const { return highest_; }

private:
  size_t within() const;
  void count();
  void allow(size_t highest);
  void plan();
  void act();
  static void act_at(void *limit, uint64_t number);

  Package package;
  double window;
  size_t highest_;
  double limit = 0, average, drawn, since = 0; /* drawn: at present; the average is that of `since` */
  uint64_t plans = 0;
  unsigned idle_acts = 0; /* since a core changed its activity */
};

} // namespace sim

#endif
