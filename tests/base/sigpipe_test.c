/* Writes to a pipe or a socket without a reader: an error, and nothing else happens to the program. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sigpipe.h"
#include "power/check.h"

static volatile sig_atomic_t heard;

static void hear(int number)
{
  (void)number;
  heard++;
}

/* Returns a descriptor without a reader. */
static int unread(bool is_socket)
{
  int ends[2];
  if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) != 0) _exit(2);
  close(ends[0]);
  return ends[1];
}

static void a_write_without_a_reader_is_an_error_and_no_signal(void)
{
  for (int is_socket = 0; is_socket < 2; is_socket++) {
    int fd = unread(is_socket);
    sigset_t pending;
    CHECK(wtl_write(fd, "x", 1) == -1 && errno == EPIPE); /* its signal would have ended the test */
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
    close(fd);
  }
}

static void the_programs_own_handler_gets_signals_of_its_own_writes_only(void)
{
  int fd = unread(false);
  struct sigaction mine = {.sa_handler = hear}, now;
  sigaction(SIGPIPE, &mine, NULL);
  heard = 0;
  CHECK(wtl_write(fd, "x", 1) == -1 && heard == 0);
  sigaction(SIGPIPE, NULL, &now);
  CHECK(now.sa_handler == hear);
  CHECK(write(fd, "x", 1) == -1 && heard == 1);
  signal(SIGPIPE, SIG_DFL);
  close(fd);
}

static void a_signal_of_the_programs_that_waits_goes_on_waiting(void)
{
  int fd = unread(false);
  sigset_t set, pending, mask;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  CHECK(write(fd, "x", 1) == -1 && wtl_write(fd, "x", 1) == -1 && errno == EPIPE);
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 1);
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  CHECK(sigismember(&mask, SIGPIPE) == 1); /* and it stays blocked */
  sigtimedwait(&set, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  close(fd);
}

static void a_message_without_a_reader_ends_no_process(void)
{
  int fd = unread(false), before = dup(STDERR_FILENO);
  dup2(fd, STDERR_FILENO);
  wtl_message_print("hello");
  dup2(before, STDERR_FILENO);
  close(before);
  close(fd);
}

TESTS(TEST(a_write_without_a_reader_is_an_error_and_no_signal),
      TEST(the_programs_own_handler_gets_signals_of_its_own_writes_only),
      TEST(a_signal_of_the_programs_that_waits_goes_on_waiting), TEST(a_message_without_a_reader_ends_no_process))
