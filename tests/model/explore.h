/* explore.h - every state that a machine can reach, and whether a sleeper is lost in one of them. */
#ifndef WTL_TESTS_MODEL_EXPLORE_H
#define WTL_TESTS_MODEL_EXPLORE_H

#include "machine.h"

namespace model {

struct verdict {
  size_t states = 0, lost = 0; /* lost: reached, but nothing that can happen leads on to the end of all that must end */
  std::vector<std::string>
      trace; /* the shortest way to a lost sleeper: to where nothing happens any more, if there is such a state */
};

verdict explore(const machine &m, const std::vector<std::string> &locations);

} // namespace model

#endif
