/* exit_message.cc - writes a line to standard error with SIGPIPE blocked. */
#include "sim/exit_message.h"

#include <csignal>
#include <unistd.h>

namespace sim {

void hold_sigpipe()
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void last_words(std::string_view line)
{
  hold_sigpipe();
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

} // namespace sim
