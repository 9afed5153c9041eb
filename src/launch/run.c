/* run.c - runs the launcher as a child process and waits for its end. */
#include "launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sigpipe.h"

static volatile pid_t child;
static volatile sig_atomic_t ended_by; /* the signal that asked for the job's end */

/*
 * Forwards signals to the launcher. The terminal sends Ctrl-C to the launcher, too, so a signal of the kernel is not
 * forwarded.
 */
static void pass_on(int signal, siginfo_t *info, void *context)
{
  int saved = errno;
  (void)context;
  if (signal != SIGUSR1 && signal != SIGUSR2) ended_by = signal;
  if (child > 0 && info->si_code != SI_KERNEL) kill(child, signal);
  errno = saved;
}

/* A signal that was ignored at the start, as by nohup, stays ignored. */
static void catch_signals(void)
{
  static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  struct sigaction a = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&a.sa_mask);
  for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) {
    struct sigaction before;
    if (sigaction(forwarded[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(forwarded[i], &a, NULL);
  }
}

/* ---- the launcher's output ---- */

typedef struct output {
  int from, to; /* the launcher's pipe (-1 after its end), and the descriptor that receives its output */
  int (*reported_code)(const char *line); /* as in launcher.h */
  int reported;                           /* first exit code found; -1: none */
  char line[512];                         /* the current line so far, cut to the size of the buffer */
  size_t length;
} output;

static void scan_lines(output *h, const char *text, size_t n)
{
  for (size_t i = 0; i < n && h->reported < 0; i++) {
    if (text[i] != '\n') {
      if (h->length < sizeof h->line - 1) h->line[h->length++] = text[i];
      continue;
    }
    h->line[h->length] = '\0';
    h->reported = h->reported_code(h->line);
    h->length = 0;
  }
}

static bool write_all(int fd, const char *text, size_t n)
{
  while (n > 0) {
    ssize_t done = wtl_write(fd, text, n);
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) text += done, n -= (size_t)done;
  }
  return true;
}

static bool stop(output *h)
{
  if (h->from >= 0) close(h->from); /* the launcher's next write fails, so it learns that its reader is gone */
  h->from = -1;
  return false;
}

/* Forwards at most one buffer. Returns false and closes `from` at the end, and if `to` no longer accepts it. */
static bool forward(output *h)
{
  char text[65536];
  ssize_t n = h->from < 0 ? 0 : read(h->from, text, sizeof text);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return stop(h);
  scan_lines(h, text, (size_t)n);
  return write_all(h->to, text, (size_t)n) || stop(h);
}

/* Forwards without waiting what is still in the pipe, then closes it. */
static void drain(output *h)
{
  if (h->from < 0) return;
  fcntl(h->from, F_SETFL, fcntl(h->from, F_GETFL) | O_NONBLOCK);
  while (forward(h)) continue;
}

/* ---- its process ---- */

/* Runs in the child process. */
__attribute__((noreturn)) static void become(char **line, pid_t parent, int report_stream, const int *pipe_ends)
{
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* launchers end their job and clean up on SIGTERM */
  if (getppid() != parent) _exit(WTL_EXIT_UNAVAILABLE);
  if (pipe_ends[1] >= 0) dup2(pipe_ends[1], report_stream);
  execv(line[0], line);
  fprintf(stderr, "oshrun: %s: %s\n", line[0], strerror(errno));
  _exit(WTL_EXIT_UNAVAILABLE);
}

enum { STUCK_MS = 500 };

/* Waits for the launcher's end. Kills it if it is stuck for 1.5 s, and returns true then. */
static bool watch(const wtl_launcher *l, pid_t launcher, output *h)
{
  struct pollfd p[2] = {{.fd = (int)syscall(SYS_pidfd_open, launcher, 0), .events = POLLIN},
                        {.fd = h->from, .events = POLLIN}};
  int stuck = 0;
  while ((p[0].fd >= 0 || p[1].fd >= 0) && stuck < 3) {
    int n = poll(p, 2, l->is_stuck ? STUCK_MS : -1);
    if (n > 0 && p[1].revents && !forward(h)) p[1].fd = -1;
    if (n > 0 && p[0].revents) break;
    if (n == 0) stuck = l->is_stuck(launcher) ? stuck + 1 : 0;
  }
  if (p[0].fd >= 0) close(p[0].fd);
  if (stuck < 3) return false;
  fprintf(stderr, "oshrun: the launcher does not end, although its PEs or one of its nodes have ended; ended it\n");
  kill(launcher, SIGKILL);
  return true;
}

static int code_of(const wtl_launcher *l, int status, int reported, bool stuck)
{
  int code = WEXITSTATUS(status);
  if (WIFSIGNALED(status) && ended_by) return 128 + ended_by; /* some launchers crash while they are being ended */
  if (WIFSIGNALED(status)) {
    if (!stuck)
      fprintf(stderr, "oshrun: the launcher was ended by signal %d (%s); its PEs end with it\n", WTERMSIG(status),
              strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
  }
  return l->exit_code(code, reported, ended_by);
}

/* Opens standard streams that are closed. Otherwise the next file opened would get their descriptors. */
static void open_standard_streams(void)
{
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
}

void wtl_run_reset(void)
{
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGCHLD, SIG_DFL);
  wtl_sigpipe_outlive(); /* the launcher gets SIGPIPE itself, and ends the job */
  open_standard_streams();
}

int wtl_run(const wtl_launcher *l, const wtl_command *c, char **line)
{
  pid_t me = getpid();
  int status, ends[2] = {-1, -1};
  output h = {.to = l->report_stream, .reported_code = l->reported_code, .reported = -1};
  if (l->report_stream && pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1; /* only its own code is known */
  h.from = ends[0];
  if (l->prepare) l->prepare(c);
  child = fork();
  if (child < 0) {
    fprintf(stderr, "oshrun: fork: %s\n", strerror(errno));
    if (l->remove_remains) l->remove_remains();
    return WTL_EXIT_OSERR;
  }
  if (child == 0) become(line, me, l->report_stream, ends);
  if (ends[1] >= 0) close(ends[1]);
  catch_signals();
  bool stuck = watch(l, child, &h);
  drain(&h);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return WTL_EXIT_OSERR;
  if (l->remove_remains) l->remove_remains();
  return code_of(l, status, h.reported, stuck);
}
