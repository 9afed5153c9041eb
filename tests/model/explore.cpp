/* explore.cpp - explores all states of a set of threads. */
#include "explore.h"

#include <algorithm>
#include <unordered_map>

namespace model {

namespace {

struct visited {
  uint32_t before; /* the state it was first reached from */
  event by;
  bool over, stuck;
};

/* Breadth first, so that the way by which a state is first reached is a shortest one. */
struct search {
  const machine &m;
  std::unordered_map<std::string, uint32_t> numbers;
  std::vector<const std::string *> states;
  std::vector<visited> notes;
  std::vector<std::pair<uint32_t, uint32_t>> steps; /* to, from */

  uint32_t number_of(const state &s, uint32_t before, const event &by)
  {
    auto [it, is_new] = numbers.emplace(m.packed(s), (uint32_t)states.size());
    if (is_new) {
      states.push_back(&it->first);
      notes.push_back({before, by, m.is_over(s), true});
    }
    return it->second;
  }

  void run()
  {
    number_of(m.start(), 0, {});
    for (uint32_t i = 0; i < states.size(); i++) {
      if (notes[i].over) continue;
      m.next(m.unpacked(*states[i]), [&](const event &e, const state &to) {
        uint32_t number = number_of(to, i, e);
        if (number != i) notes[i].stuck = false;
        steps.push_back({number, i});
      });
    }
  }

  /* Backwards from where all has ended. */
  std::vector<bool> can_end()
  {
    std::vector<bool> can(states.size());
    std::vector<uint32_t> todo;
    std::sort(steps.begin(), steps.end());
    for (uint32_t i = 0; i < states.size(); i++)
      if (notes[i].over) can[i] = true, todo.push_back(i);
    while (!todo.empty()) {
      uint32_t to = todo.back();
      todo.pop_back();
      auto from = std::lower_bound(steps.begin(), steps.end(), std::make_pair(to, 0u));
      for (; from != steps.end() && from->first == to; ++from)
        if (!can[from->second]) can[from->second] = true, todo.push_back(from->second);
    }
    return can;
  }
};

} // namespace

verdict explore(const machine &m, const std::vector<std::string> &locations)
{
  search s{m, {}, {}, {}, {}};
  verdict v;
  s.run();
  std::vector<bool> can = s.can_end();
  uint32_t worst = 0;
  bool stuck = false;
  v.states = s.states.size();
  for (uint32_t i = (uint32_t)v.states; i-- > 0;) {
    if (can[i]) continue;
    v.lost++;
    if (!stuck || s.notes[i].stuck) worst = i;
    stuck |= s.notes[i].stuck;
  }
  if (!v.lost) return v;
  for (uint32_t i = worst; i != 0; i = s.notes[i].before) v.trace.push_back(m.words(s.notes[i].by, locations));
  std::reverse(v.trace.begin(), v.trace.end());
  return v;
}

} // namespace model
