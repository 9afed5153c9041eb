/*
 * exit_message.h - what the simulator writes before it ends: a reader that is gone must not change its exit code, which is
 * the job's. Until then SIGPIPE is the simulated program's.
 */
#ifndef WTL_SIM_EXIT_MESSAGE_H
#define WTL_SIM_EXIT_MESSAGE_H

#include <string_view>

namespace sim {

/* Blocks SIGPIPE, for good. */
void hold_sigpipe();

/* Says a line on standard error; the process must end after it. In a signal handler, too. */
void last_words(std::string_view line);

} // namespace sim

#endif
