/* socket_memory.cc - shares a socket's memory among the cores that use it. */
#include "sim/socket_memory.h"

#include <algorithm>
#include <cmath>

namespace sim {

void Memory::let_pass()
{
  for (Mover &m : movers) m.left -= (now() - since) * m.rate;
  since = now();
}

/* Copied bytes a second of all cores. They depend on the clock as those of one core do. */
double Memory::together(double pace) const
{
  return 1 / wtl_sim_copy_s({0, prices->copy_socket, prices->levels[WTL_SIM_MEMORY].clock}, pace);
}

/* Cores that compute and copy alternately do not end each copy at the same moment, so the last copy of another one may
 * be over when the computing begins. */
double Memory::copied(const double *pace, double meanwhile) const
{
  double sharing = 1;
  for (auto [core, when] : last) sharing += core != pace && when >= now() - 2 * meanwhile;
  return meanwhile * std::min(alone(*pace), together(*pace) / sharing);
}

/* The memory controller has the clock of the fastest core. */
void Memory::share()
{
  double fastest = INFINITY;
  for (Mover &m : movers) {
    m.rate = alone(*m.pace);
    fastest = std::min(fastest, *m.pace);
  }
  double left = together(fastest);
  if (std::isinf(left)) return;
  auto n = static_cast<double>(movers.size());
  std::sort(movers.begin(), movers.end(), [](const Mover &a, const Mover &b) { return a.rate < b.rate; });
  for (Mover &m : movers) {
    m.rate = std::min(m.rate, left / n--);
    left -= m.rate;
  }
}

/* Schedules the end of the copy that ends first if nothing changes until then. */
void Memory::plan()
{
  plans++;
  if (movers.empty()) return;
  share();
  auto first = std::min_element(movers.begin(), movers.end(),
                                [](const Mover &a, const Mover &b) { return a.left / a.rate < b.left / b.rate; });
  std::iter_swap(movers.begin(), first);
  at(now() + std::max(movers.front().left, 0.0) / movers.front().rate, end_first, this, plans);
}

void Memory::end_first(void *memory, uint64_t number)
{
  Memory *m = static_cast<Memory *>(memory);
  if (m->plans != number) return; /* a later plan replaced this one */
  m->let_pass();
  go_on(m->movers.front().thread);
  m->movers.erase(m->movers.begin());
  m->plan();
}

void Memory::copy(double bytes, const double *pace, double meanwhile)
{
  if (std::isinf(alone(*pace))) return; /* at no price */
  if (meanwhile > 0) bytes -= copied(pace, meanwhile);
  last[pace] = now();
  if (bytes <= 0) return;
  let_pass();
  movers.push_back({running(), pace, bytes, 0});
  plan();
  wait();
  last[pace] = now();
}

void Memory::replan()
{
  if (movers.empty()) return;
  let_pass();
  plan();
}

} // namespace sim
