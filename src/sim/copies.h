/*
 * copies.h - a copy of the simulated program for each PE. The file is copied into memory once for each and loaded from
 * there: the dynamic loader tells objects by their file, so each copy has its own variables, and its calls of
 * simulator.h bind to this program.
 */
#ifndef WTL_SIM_COPIES_H
#define WTL_SIM_COPIES_H

#include <string>
#include <vector>

namespace sim {

struct Copy {
  int (*main)(int, char **, char **);
  void (*end)(int); /* wtl_sim_end */
  const char *(*call_name)(unsigned);
};

/* False with the reason in `error`. */
bool load_copies(const char *program, size_t n, std::vector<Copy> *out, std::string *error);

/* What the copies share with each other of the libraries that are loaded by now; empty: nothing. */
std::string shared_so_far(const char *program);

} // namespace sim

#endif
