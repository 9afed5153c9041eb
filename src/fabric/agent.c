#include "fabric/agent.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* About what a wake-up costs (35-66 us seen): looking on for as long costs at most twice what sleeping at once would.
 */
enum { LINGER_NS = 100000 };

struct wtl_agent {
  wtl_net *net;
  pthread_t thread;
  int epoll, wake;         /* wake: an eventfd that ends the sleep on the network */
  _Atomic int others;      /* threads that make progress themselves */
  _Atomic int sleepers;    /* threads that sleep and count on this one */
  _Atomic uint32_t visits; /* how often they began to */
  _Atomic uint32_t nudges; /* futex word: take over now */
  _Atomic bool parked;     /* it waits on `nudges`, not on the network */
  _Atomic bool stop;
};

static void look_up_later(wtl_agent *a, uint32_t nudges)
{
  struct timespec t = {.tv_nsec = 1000000};
  a->parked = true;
  syscall(SYS_futex, &a->nudges, FUTEX_WAIT_PRIVATE, nudges, &t, NULL, 0);
  a->parked = false;
}

static void nudge(wtl_agent *a)
{
  a->nudges++;
  if (a->parked) syscall(SYS_futex, &a->nudges, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Looks on for a while after something arrived, if a thread sleeps: true if more came. */
static bool linger(wtl_agent *a)
{
  uint64_t until = wtl_clock_ns() + LINGER_NS;
  while (a->sleepers > 0 && a->others == 0 && !a->stop && wtl_clock_ns() < until) {
    sched_yield(); /* the thread that was just woken may have only this core */
    if (wtl_net_progress(a->net)) return true;
  }
  return false;
}

static void *serve(void *arg)
{
  wtl_agent *a = arg;
  uint32_t seen = a->visits;
  struct epoll_event event;
  while (!a->stop) {
    uint32_t nudges = a->nudges, visits = a->visits;
    /* Somebody serves the network, or did a moment ago and is likely to again; but who sleeps counts on this thread. */
    if (a->others > 0 || (visits != seen && a->sleepers == 0)) {
      seen = visits;
      look_up_later(a, nudges);
      continue;
    }
    if (wtl_net_progress(a->net)) {
      while (linger(a)) continue;
      continue;
    }
    if (!wtl_net_arm(a->net)) continue;
    if (a->others == 0 && !a->stop) epoll_wait(a->epoll, &event, 1, wtl_net_patience(a->net));
  }
  return NULL;
}

static int watch(int epoll, int fd)
{
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Signals are the program's business, not this thread's. */
static int start_thread(wtl_agent *a)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(&a->thread, NULL, serve, a);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

wtl_agent *wtl_agent_start(wtl_net *net, char *error, size_t size)
{
  wtl_agent *a = calloc(1, sizeof *a);
  a->net = net;
  a->epoll = epoll_create1(EPOLL_CLOEXEC);
  a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (a->epoll < 0 || a->wake < 0 || watch(a->epoll, a->wake) || watch(a->epoll, wtl_net_descriptor(net)) ||
      start_thread(a)) {
    snprintf(error, size, "the progress agent does not start: %s", strerror(errno));
    free(a);
    return NULL;
  }
  return a;
}

void wtl_agent_stop(wtl_agent *a)
{
  uint64_t one = 1;
  a->stop = true;
  (void)!write(a->wake, &one, sizeof one);
  nudge(a);
  pthread_join(a->thread, NULL);
  close(a->epoll);
  close(a->wake);
  free(a);
}

/* --- what waiting threads call: any of them, several at a time ---------------------------------------------------- */

static bool progress(void *agent)
{
  return wtl_net_progress(((wtl_agent *)agent)->net);
}

static bool is_silent(void *agent)
{
  return wtl_net_is_silent(((wtl_agent *)agent)->net);
}

static void stand_by(void *agent)
{
  wtl_agent *a = agent;
  a->others++;
  a->visits++;
}

static void take_over(void *agent)
{
  wtl_agent *a = agent;
  a->sleepers++;
  a->others--;
  nudge(a);
}

static void relieved(void *agent)
{
  ((wtl_agent *)agent)->sleepers--;
}

static void resume(void *agent)
{
  ((wtl_agent *)agent)->others--;
}

wtl_pump wtl_agent_pump(wtl_agent *a)
{
  return (wtl_pump){a, progress, is_silent, stand_by, take_over, relieved, resume};
}
