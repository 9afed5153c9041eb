#include "sim/core.h"

#include <algorithm>
#include <cstdlib>

namespace sim {

bool read_clocks(const std::string &khz, const std::string &watts, size_t base, Clocks *out)
{
  std::vector<double> numbers; /* resting, busy, busy, resting, ... */
  char *end = nullptr;
  for (const char *at = khz.c_str(); *at; at = *end ? end + 1 : end)
    out->khz.push_back(static_cast<uint32_t>(strtoul(at, &end, 10)));
  for (const char *at = watts.c_str(); *at; at = *end ? end + 1 : end) {
    numbers.push_back(strtod(at, &end));
    if (end == at) return false;
  }
  if (numbers.size() != out->khz.size() * RESTS * 3 || base >= out->khz.size()) return false;
  for (size_t clock = 0; clock < out->khz.size(); clock++) {
    const double *row = &numbers[clock * RESTS * 3];
    out->watts.push_back({row[1], {row[0], row[3], row[6]}});
  }
  out->base = base;
  return true;
}

void Core::let_pass()
{
  double seconds = now() - since;
  since = now();
  if (seconds <= 0 || stopped) return;
  const Clocks::Watts &watts = clocks->watts[clock_];
  if (!jobs.empty() || rest_ != WTL_SIM_SLEEPS) on_core += seconds;
  joules_ += seconds * (jobs.empty() ? watts.resting[rest_] : watts.busy);
  for (Job &job : jobs) job.left -= seconds / (pace_ * static_cast<double>(jobs.size()));
}

/* When the first of the jobs will be done, if nothing changes until then. */
void Core::plan()
{
  plans++;
  if (jobs.empty()) return;
  auto first = std::min_element(jobs.begin(), jobs.end(), [](const Job &a, const Job &b) { return a.left < b.left; });
  next = first->thread;
  double left = std::max(first->left, 0.0);
  at(now() + left * pace_ * static_cast<double>(jobs.size()), end_job, this, plans);
}

void Core::end_job(void *core, uint64_t number)
{
  Core *c = static_cast<Core *>(core);
  if (c->plans != number) return; /* something changed */
  c->let_pass();
  for (auto job = c->jobs.begin(); job != c->jobs.end();)
    if (job->thread == c->next || job->left <= 0) {
      go_on(job->thread);
      job = c->jobs.erase(job);
    } else {
      ++job;
    }
  c->plan();
}

void Core::compute(double work)
{
  let_pass();
  jobs.push_back({running(), work});
  plan();
  wait();
}

wtl_sim_rest Core::set_rest(wtl_sim_rest how)
{
  wtl_sim_rest before = rest_;
  if (how != before) let_pass();
  rest_ = how;
  return before;
}

bool Core::set_clock(size_t clock)
{
  if (clock == clock_) return false;
  let_pass();
  clock_ = clock;
  pace_ = static_cast<double>(clocks->khz[clocks->base]) / clocks->khz[clock];
  plan();
  return true;
}

void Core::stop()
{
  let_pass();
  stopped = true;
}

double Core::on_core_s()
{
  let_pass();
  return on_core;
}

double Core::joules()
{
  let_pass();
  return joules_;
}

} // namespace sim
