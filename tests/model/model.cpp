/*
 * The doorbell, the agent and active messages on two memory models, every way they can go. usage: model [NAME]: runs
 * one scenario of scenarios.def, or all; exit code 1 if one does not turn out as it must. A mutant's shortest lost
 * wake-up is printed.
 */
#include <cstdio>
#include <cstring>

#include "explore.h"
#include "litmus.h"
#include "messages.h"
#include "notice.h"
#include "protocol.h"

namespace {

using namespace model;

using system_of = std::vector<program> (*)(mutant);

struct scenario {
  const char *name;
  mutant wrong;
  bool tso_holds, c11_holds;
  system_of threads;
};

constexpr bool HOLDS = true, LOSES = false;

const scenario scenarios[] = {
#define SCENARIO(name, mutant_name, tso, c11, ...)                                                                     \
  {#name, mutant::mutant_name, tso, c11, [](mutant m) -> std::vector<program> {                                        \
     (void)m;                                                                                                          \
     return __VA_ARGS__;                                                                                               \
   }},
#include "scenarios.def"
#undef SCENARIO
};

/* Does what arrives matter, and is the scenario small enough to have the mailbox's descriptor in both ways? */
bool has_two_ways(const scenario &s)
{
  bool network = false;
  for (const program &p : s.threads(s.wrong)) {
    if (!p.begun.empty()) return false;
    network |= p.name == "network";
  }
  return network && s.wrong != mutant::arm_without_look; /* a socket reports data that are there, after any check */
}

void print(const char *where, const verdict &v, bool as_it_must)
{
  std::printf("  %s: %zu states, %zu of them lose a sleeper%s\n", where, v.states, v.lost,
              as_it_must ? "" : "   <-- NOT AS IT MUST BE");
  for (const std::string &line : v.trace) std::printf("      %s\n", line.c_str());
}

bool touches(const step &s)
{
  return s.what != act::fence && s.what != act::fence_of && s.what != act::choose && s.what != act::set &&
         s.what != act::copy && s.what != act::branch && s.what != act::jump && s.what != act::end;
}

bool changes(const step &s)
{
  return touches(s) && s.what != act::load;
}

/* Gives new numbers to the locations that the threads touch, and adds up their initial values. Locations that stay 0
 * share one number. */
std::vector<std::string> number_locations(std::vector<program> &threads, std::vector<uint8_t> &begin)
{
  std::vector<std::string> all = location_names(), names = {"what stays 0"};
  std::vector<uint8_t> number(all.size());
  auto give_number = [&](int loc) {
    if (number[(size_t)loc]) return;
    number[(size_t)loc] = (uint8_t)names.size();
    names.push_back(all[(size_t)loc]);
  };
  for (const program &p : threads) {
    for (const step &s : p.steps)
      if (changes(s)) give_number(s.loc);
    for (auto [loc, value] : p.begun) give_number(loc);
  }
  begin.resize(names.size());
  for (program &p : threads) {
    for (step &s : p.steps) s.loc = touches(s) ? number[s.loc] : (uint8_t)0;
    for (auto [loc, value] : p.begun) begin[number[(size_t)loc]] = (uint8_t)(begin[number[(size_t)loc]] + value);
  }
  return names;
}

bool run_on(const scenario &s, memory kind, machine::descriptor fd, const char *where)
{
  std::vector<program> threads = s.threads(s.wrong);
  std::vector<uint8_t> begin;
  std::vector<std::string> names = number_locations(threads, begin);
  verdict v = explore(machine(kind, fd, threads, begin), names);
  bool holds = v.lost == 0, must = kind == memory::tso ? s.tso_holds : s.c11_holds;
  print(where, v, holds == must);
  return holds == must;
}

bool run(const scenario &s)
{
  bool good = true;
  std::printf("%s\n", s.name);
  good &= run_on(s, memory::tso, machine::descriptor::eventfd, "TSO");
  good &= run_on(s, memory::c11, machine::descriptor::eventfd, "C11");
  if (!has_two_ways(s)) return good;
  good &= run_on(s, memory::tso, machine::descriptor::socket, "TSO, socket");
  good &= run_on(s, memory::c11, machine::descriptor::socket, "C11, socket");
  return good;
}

} // namespace

int main(int argc, char **argv)
{
  int found = 0, bad = 0;
  for (const scenario &s : scenarios) {
    if (argc > 1 && std::strcmp(argv[1], s.name) != 0) continue;
    found++;
    bad += !run(s);
    std::fflush(stdout);
  }
  if (found == 0) std::fprintf(stderr, "model: no scenario %s\n", argc > 1 ? argv[1] : "");
  return bad != 0 || found == 0;
}
