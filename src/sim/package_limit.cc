/* package_limit.cc - averages a package's watts and chooses the highest clock of its cores. */
#include "sim/package_limit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/schedule.h"

namespace sim {

/* RAPL updates its counters about each millisecond (Intel SDM, volume 3B, 15.10.3). */
constexpr double PERIOD_S = 1e-3;

/* After so many windows without another activity the clock stays, so that a job of which all PEs wait for ever ends. */
constexpr double WINDOWS = 10;

PowerLimit::PowerLimit(Package p, double window_s)
    : package(std::move(p)), window(std::max(window_s, PERIOD_S)), highest_(package.clocks - 1),
      average(package.idle_w), drawn(package.watts(highest_))
{
}

/* The highest clock within the limit; the lowest one if there is none. */
size_t PowerLimit::within() const
{
  size_t clock = package.clocks - 1;
  while (clock > 0 && package.watts(clock) > limit) clock--;
  return clock;
}

void PowerLimit::count()
{
  average = drawn + (average - drawn) * std::exp((since - now()) / window);
  since = now();
}

void PowerLimit::set(double watts_)
{
  count();
  limit = watts_;
  idle_acts = 0;
  plan();
}

void PowerLimit::changed()
{
  count();
  drawn = package.watts(highest_);
  idle_acts = 0;
  if (limit > 0) plan();
}

void PowerLimit::allow(size_t highest)
{
  count();
  highest_ = highest;
  drawn = package.watts(highest_);
  package.obey();
}

/* Schedules the next act: at the moment when the average reaches the limit, or after the period. */
void PowerLimit::plan()
{
  plans++;
  bool is_free = highest_ + 1 == package.clocks;
  if (is_free && drawn <= limit) return;
  double reached = average < limit ? window * std::log((drawn - average) / (drawn - limit)) : 0;
  at(now() + (is_free ? reached : PERIOD_S), act_at, this, plans);
}

void PowerLimit::act()
{
  count();
  size_t fits = within(), before = highest_, top = package.clocks - 1;
  bool is_free = before == top;
  bool is_over = average >= limit || is_free; /* free: it has just been reached, but for rounding */
  bool settles = ++idle_acts * PERIOD_S > WINDOWS * window;
  size_t next = settles || is_over ? fits : std::min(before + 1, top);
  if (next != before) allow(next);
  if (!settles) plan();
}

void PowerLimit::act_at(void *limit, uint64_t number)
{
  PowerLimit *l = static_cast<PowerLimit *>(limit);
  if (l->plans == number) l->act();
}

} // namespace sim
