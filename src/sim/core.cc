/* core.cc - shares a core's time among its threads, and counts its seconds and joules by activity. */
#include "sim/core.h"

#include <algorithm>
#include <charconv>

namespace sim {

const char *const part_names[PARTS] = {"computes", "spins", "yields", "sleeps", "wakes", "changes"};

static bool read_numbers(const std::string &text, std::vector<double> *out)
{
  double number;
  for (const char *at = text.data(), *end = at + text.size(); at < end; at++) {
    auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) return false;
    out->push_back(number);
    at = read.ptr;
  }
  return true;
}

std::string text_of(double number)
{
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

bool read_clocks(const std::string &khz, const std::string &speeds, const std::string &watts, size_t base, Clocks *out)
{
  std::vector<double> names, speed, numbers; /* numbers: resting, busy, busy, resting, ... */
  if (!read_numbers(khz, &names) || !read_numbers(speeds, &speed) || !read_numbers(watts, &numbers)) return false;
  if (base >= names.size() || speed.size() != names.size() || numbers.size() != names.size() * IDLE_MODES * 3)
    return false;
  for (size_t clock = 0; clock < names.size(); clock++) {
    out->khz.push_back(static_cast<uint32_t>(names[clock]));
    out->speed.push_back(speed[clock] / speed[base]);
  }
  for (size_t clock = 0; clock < out->khz.size(); clock++) {
    const double *row = &numbers[clock * IDLE_MODES * 3];
    out->watts.push_back({row[1], {row[0], row[3], row[6]}});
  }
  out->base = base;
  return true;
}

Core::Core(const Clocks *c, Socket *s, Domain *d) : clocks(c), socket(s), domain(d), clock_(c->base), wants(c->base)
{
  socket->awake++;
  domain->clock = c->base;
  domain->cores.push_back(this);
  socket->cores.push_back(this);
}

Part Core::part() const
{
  if (!jobs.empty() || copying) return COMPUTES;
  if (changing) return CHANGES;
  if (waking) return WAKES;
  return idle_mode() == WTL_SIM_SPINS ? SPINS : idle_mode() == WTL_SIM_YIELDS ? YIELDS : SLEEPS;
}

static void let_pass(Socket *s)
{
  if (s->awake) s->each_s += (now() - s->since) / s->awake;
  s->since = now();
}

void Core::let_pass()
{
  double took = now() - since;
  since = now();
  if (stopped) return;
  sim::let_pass(socket);
  Part what = part();
  if (what != SLEEPS) uncore += socket->each_s - uncore_from;
  uncore_from = socket->each_s;
  if (took <= 0) return;
  double joules = took * watts(clock_);
  if (what != SLEEPS && what != WAKES) on_core += took;
  if (what == COMPUTES) cycles_ += took * clocks->speed[clock_] * clocks->khz[clocks->base] * 1e3;
  seconds[what] += took;
  by_part[what] += joules;
  joules_ += joules;
  wall += took;
  for (Job &job : jobs) job.left -= took / (pace_ * static_cast<double>(jobs.size()));
}

double Core::watts(size_t clock) const
{
  Part what = part();
  const Clocks::Watts &w = clocks->watts[clock];
  return what == SPINS || what == YIELDS || what == SLEEPS ? w.resting[idle_mode()] : w.busy;
}

/* Changes the core's activity by `how`. The time up to now is counted for the old activity. */
template <typename How> void Core::become(How how)
{
  let_pass();
  Part before = part();
  how();
  if (!stopped) socket->awake += (part() != SLEEPS) - (before != SLEEPS);
  if (socket->limit && part() != before) socket->limit->changed();
}

/* Schedules the end of the job that ends first if nothing changes until then. */
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
  if (c->plans != number) return; /* a later plan replaced this one */
  c->become([c] {
    for (auto job = c->jobs.begin(); job != c->jobs.end();)
      if (job->thread == c->next || job->left <= 0) {
        go_on(job->thread);
        job = c->jobs.erase(job);
      } else {
        ++job;
      }
  });
  c->plan();
}

void Core::compute(double work)
{
  become([&] { jobs.push_back({running(), work}); });
  plan();
  wait();
}

void Core::copy(double bytes, double meanwhile)
{
  become([&] { ++copying; });
  socket->memory.copy(bytes, &pace_, meanwhile);
  become([&] { --copying; });
}

wtl_sim_idle_mode Core::set_idle_mode(wtl_sim_idle_mode how)
{
  wtl_sim_idle_mode before = idle_mode_;
  if (how != before) become([&] { idle_mode_ = how; });
  return before;
}

void Core::set_polling(bool does)
{
  become([&] { polling += does ? 1 : -1; });
}

bool Core::set_clock(size_t clock)
{
  wants = clock;
  bool changed = settle();
  if (socket->limit) socket->limit->changed();
  return changed;
}

size_t Core::wanted() const
{
  size_t most = 0;
  for (const Core *c : domain->cores) most = std::max(most, c->wants);
  return most;
}

bool Core::settle()
{
  size_t most = wanted();
  for (const Core *c : domain->cores)
    if (c->socket->limit) most = std::min(most, c->socket->limit->highest());
  if (most == domain->clock) return false;
  domain->clock = most;
  for (Core *c : domain->cores) c->run_at(most);
  return true;
}

void Core::run_at(size_t clock)
{
  let_pass();
  clock_ = clock;
  pace_ = 1 / clocks->speed[clock];
  plan();
  socket->memory.replan();
}

void Core::hold(Part what, double duration)
{
  int *count = what == WAKES ? &waking : &changing;
  if (duration <= 0) return;
  become([&] { ++*count; });
  pass(duration);
  become([&] { --*count; });
}

void Core::was_awake(double duration)
{
  let_pass();
  const Clocks::Watts &watts = clocks->watts[clock_];
  double slept = duration * watts.resting[WTL_SIM_SLEEPS], woke = duration * watts.busy;
  seconds[SLEEPS] -= duration;
  seconds[WAKES] += duration;
  by_part[SLEEPS] -= slept;
  by_part[WAKES] += woke;
  joules_ += woke - slept;
  if (!socket->awake) uncore += duration;
}

void Core::stop()
{
  become([this] {
    idle_mode_ = WTL_SIM_SLEEPS;
    polling = 0;
  });
  if (part() != SLEEPS) socket->awake--; /* another thread of the PE still computes */
  stopped = true;
  wants = 0;
  settle();
}

void Core::follow()
{
  set_idle_mode(WTL_SIM_SLEEPS);
  wants = 0;
}

void Core::limit_package(double limit_w, double uncore_w, double window_s, double part)
{
  Socket *s = socket;
  size_t top = clocks->khz.size() - 1;
  auto all = [s, uncore_w, part](size_t highest) {
    double sum = 0;
    for (const Core *c : s->cores) sum += c->watts(std::min(highest, c->wanted()));
    return sum / part + (s->awake ? uncore_w : 0);
  };
  auto obey = [s] {
    for (Core *c : s->cores) c->settle();
  };
  double idle_w = clocks->watts[top].resting[WTL_SIM_SLEEPS] * static_cast<double>(s->cores.size()) / part;
  if (!s->limit) s->limit = std::make_unique<PowerLimit>(PowerLimit::Package{top + 1, idle_w, all, obey}, window_s);
  s->limit->set(limit_w);
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

double Core::cycles()
{
  let_pass();
  return cycles_;
}

} // namespace sim
