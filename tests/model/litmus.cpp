/* litmus.cpp - checks the memory models by litmus tests. */
#include "litmus.h"

#include "doorbell.h"

namespace model {

namespace {

enum { FIRST, SECOND, THIRD };

constexpr location OUTCOMES = VISITS;

program storer(const std::string &name, const std::vector<std::pair<location, int>> &stores, order how)
{
  program p(name, false);
  for (auto [loc, value] : stores) p.store(loc, value, how, "store");
  p.end();
  return p;
}

/* Loads two locations and counts if it saw these values. */
program reader(const std::string &name, location a, int first, location b, int second, order how, bool fenced)
{
  program p(name, false);
  p.load(FIRST, a, how, "first load");
  if (fenced) p.fence("fence");
  p.load(SECOND, b, how, "second load");
  p.when([=](const registers &r) { return r[FIRST] == first && r[SECOND] == second; },
         [&] {
           p.rmw(
               NO_REGISTER, OUTCOMES, [](int old) { return old + 1; }, order::relaxed, "that is it");
         });
  p.end();
  return p;
}

/* Stores to one location and counts if it then still finds the other empty. */
program storer_and_reader(const std::string &name, location mine, location other, order stores, order loads,
                          bool fenced)
{
  program p(name, false);
  p.store(mine, 1, stores, "store");
  if (fenced) p.fence("fence");
  p.load(FIRST, other, loads, "load");
  p.when([](const registers &r) { return r[FIRST] == 0; },
         [&] {
           p.rmw(
               NO_REGISTER, OUTCOMES, [](int old) { return old + 1; }, order::relaxed, "that is it");
         });
  p.end();
  return p;
}

program judge(int all)
{
  program p("judge", true);
  p.load(THIRD, OUTCOMES, order::acquire, "how many?");
  p.when([all](const registers &r) { return r[THIRD] == all; },
         [&] {
           p.set(THIRD, 0);
           p.does(act::futex_wait, WAKE, THIRD, "all of them: sleeps for ever");
         });
  p.end();
  return p;
}

} // namespace

std::vector<program> message_passing(order stores, order loads)
{
  return {storer("writer", {{X, 1}, {Y, 1}}, stores), reader("reader", Y, 1, X, 0, loads, false), judge(1)};
}

std::vector<program> store_buffering(order stores, order loads, bool fenced)
{
  return {storer_and_reader("one", X, Y, stores, loads, fenced),
          storer_and_reader("other", Y, X, stores, loads, fenced), judge(2)};
}

std::vector<program> independent_reads(order loads, bool fenced)
{
  return {storer("x's writer", {{X, 1}}, order::release), storer("y's writer", {{Y, 1}}, order::release),
          reader("one", X, 1, Y, 0, loads, fenced), reader("other", Y, 1, X, 0, loads, fenced), judge(2)};
}

std::vector<program> coherence()
{
  return {storer("writer", {{X, 1}, {X, 2}}, order::relaxed), reader("reader", X, 2, X, 1, order::relaxed, false),
          judge(1)};
}

} // namespace model
