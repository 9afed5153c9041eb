/*
 * shared_state.h - finds variables that the PEs would share although each PE has a copy of the program. The dynamic
 * loader keeps one object for all copies, so such a program computes wrong results. It is refused, with the variable's
 * name.
 *
 *   STB_GNU_UNIQUE   GCC's mark for C++ inline variables and for statics of templates and inline functions
 *   libraries        A shared library that the copies need is loaded once. All its calls of the program's functions
 *                    would go to the first PE's copy. Libraries of the system are not examined.
 */
#ifndef WTL_SIM_SHARED_STATE_H
#define WTL_SIM_SHARED_STATE_H

#include <set>
#include <string>

namespace sim {

/* Returns the files that this process has loaded. */
std::set<std::string> loaded_files();

/* Describes a variable of the program that the PEs would share; empty: there is none. */
std::string shared_by_mark(const char *program);

/* Does the same for the libraries loaded since `before`, and for their calls of the program's functions. */
std::string shared_in_libraries(const char *program, const std::set<std::string> &before);

} // namespace sim

#endif
