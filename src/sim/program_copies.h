/*
 * program_copies.h - loads a copy of the simulated program for each PE. The program's file is copied into memory once
 * for each PE and loaded from there. The dynamic loader distinguishes objects by their file, so each copy has its own
 * variables. Its calls of simulator.h bind to the simulator.
 */
#ifndef WTL_SIM_PROGRAM_COPIES_H
#define WTL_SIM_PROGRAM_COPIES_H

#include <cfenv>
#include <string>
#include <vector>

namespace sim {

struct Copy {
  int (*main)(int, char **, char **);
  void (*end)(int); /* wtl_sim_end */
  const char *(*call_name)(unsigned);
  fenv_t floats; /* the floating-point environment that its constructors have left */
};

/* Loads `n` copies. On failure returns false, with the reason in `error`. */
bool load_copies(const char *program, size_t n, std::vector<Copy> *out, std::string *error);

/* Describes a variable or call that the copies share through the libraries loaded by now; empty: there is none. */
std::string shared_so_far(const char *program);

} // namespace sim

#endif
