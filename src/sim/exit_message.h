/*
 * exit_message.h - writes the simulator's last line to standard error. A closed pipe there must not change the exit
 * code, which is that of the job. Until then SIGPIPE acts as the simulated program has set it.
 */
#ifndef WTL_SIM_EXIT_MESSAGE_H
#define WTL_SIM_EXIT_MESSAGE_H

#include <string_view>

namespace sim {

/* Blocks SIGPIPE permanently. */
void hold_sigpipe();

/* Writes a line to standard error. The process must end after it. May be called in a signal handler. */
void last_words(std::string_view line);

} // namespace sim

#endif
