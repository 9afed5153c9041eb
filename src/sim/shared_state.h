/*
 * shared_state.h - variables that the PEs would share although each has a copy of the program: the dynamic loader keeps one
 * object for all copies. Such a program computes nonsense, so it is refused, by the variable's name.
 *
 *   STB_GNU_UNIQUE   GCC's mark for statics of templates and inline functions, and for inline variables, of C++
 *   libraries        a shared library that the copies need is loaded once; those of the system are the machine's. What it
 *                    calls of the program would be the first PE's
 */
#ifndef WTL_SIM_SHARED_STATE_H
#define WTL_SIM_SHARED_STATE_H

#include <set>
#include <string>

namespace sim {

/* The files that this process has loaded. */
std::set<std::string> loaded_files();

/* What is wrong with the program's own variables; empty: nothing. */
std::string shared_by_mark(const char *program);

/* What is wrong with the libraries that were loaded since `before`; empty: nothing. */
std::string shared_in_libraries(const char *program, const std::set<std::string> &before);

} // namespace sim

#endif
