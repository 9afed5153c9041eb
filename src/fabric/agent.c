/* agent.c - the thread that makes progress while the program computes, and the functions that waiting threads call. */
#include "fabric/agent.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/floats.h"
#include "os/os.h"
#include "os/yielder.h"

/*
 * For PAUSE_NS the agent leaves the network to the threads that make progress themselves; then it checks whether they
 * still do. Each check costs them a thread switch, so the interval doubles up to LONGEST_PAUSE_NS. While a thread
 * sleeps on the network, the limit is LONGEST_SLEEP_PAUSE_NS, for that thread nudges the agent when its wait ends.
 */
enum { PAUSE_NS = 1000000, LONGEST_PAUSE_NS = 4000000, LONGEST_SLEEP_PAUSE_NS = 1000000000 };

/* About the cost of a wake-up (35-66 us measured). To poll for as long costs at most twice what an immediate sleep
 * costs. */
enum { LINGER_NS = 100000, TURNS_A_YIELD = 16 };

struct wtl_agent {
  wtl_net *net;
  bool (*also)(void *);
  void *also_of;
  pthread_t thread;
  int wake;  /* an event (os.h) that ends the agent's sleep on the network */
  int alarm; /* an event that ends the sleep of a thread of the PE there */
  uint64_t linger_ticks;
  wtl_yielder yielder;
  _Atomic int others;   /* threads that make progress themselves */
  _Atomic int sleepers; /* threads that sleep and rely on the agent */
  /* Ticks: the last time that something moved, and the longest pause while a thread slept. */
  _Atomic uint64_t progress_at, longest_idle;
  _Atomic uint32_t polls_begun; /* how often a thread began to make progress itself */
  _Atomic uint32_t nudges;      /* futex word: increased to make the agent check at once */
  _Atomic bool parked;          /* the agent waits on `nudges`, not on the network */
  _Atomic long pause_ns;        /* the longest such wait */
  _Atomic bool on_network;      /* a thread of the PE sleeps on the network */
  _Atomic bool stop;
  _Atomic bool has_server;
  pthread_mutex_t serving; /* protects the fields below */
  void (*server)(void *, bool);
  void *server_of;
  bool serves; /* the last value that the server was given */
};

static void notify_server(wtl_agent *a, bool serves)
{
  if (WTL_LIKELY(!a->has_server)) return;
  pthread_mutex_lock(&a->serving);
  if (a->server && a->serves != serves) a->server(a->server_of, a->serves = serves);
  pthread_mutex_unlock(&a->serving);
}

static void wait_for_nudge(wtl_agent *a, uint32_t nudges, long ns)
{
  WTL_FLOATS_APART;
  a->parked = true; /* before `nudges` is compared: the kernel has a full barrier there */
  wtl_futex_wait(&a->nudges, nudges, (double)ns * 1e-9, WTL_FUTEX_OURS);
  a->parked = false;
}

static void nudge(wtl_agent *a)
{
  a->nudges++;
  if (WTL_OS_IS_SIMULATED)
    wtl_os_event_set(a->wake); /* there the agent never parks */
  else if (a->parked)
    wtl_futex_wake(&a->nudges, 1, WTL_FUTEX_OURS);
}

static bool make_progress(wtl_agent *a)
{
  bool progressed = false, more;
  do { /* in simulation the agent blocks afterwards, so it must leave nothing */
    more = wtl_net_progress_by_agent(a->net);
    if (a->also && a->also(a->also_of)) more = true;
    progressed |= more;
  } while (WTL_OS_IS_SIMULATED && (wtl_os_network_is_held() || more));
  if (!progressed) return false;
  if (a->sleepers > 0) {
    uint64_t now = wtl_ticks(), idle = now - a->progress_at;
    if (idle > a->longest_idle) a->longest_idle = idle;
    a->progress_at = now;
  }
  return true;
}

/* Does a thread of the PE sleep and rely on the agent, while none makes progress itself? */
static bool is_needed(const wtl_agent *a)
{
  return a->sleepers > 0 && a->others == 0;
}

/*
 * Polls for a while after an arrival, if a thread sleeps. True: more has arrived. In simulation a woken thread runs at
 * once, so `needed` says whether one slept before the arrival; linger sets it anew with each further one.
 */
static bool linger(wtl_agent *a, bool *needed)
{
  uint64_t now = wtl_ticks(), until = now + a->linger_ticks;
  if (!wtl_yielder_may_yield(&a->yielder, now)) return false;
  notify_server(a, false);
  for (unsigned turn = 0; !a->stop && wtl_ticks() < until; turn++) {
    if (WTL_OS_IS_SIMULATED ? !*needed : !is_needed(a)) return false;
    if (!WTL_OS_IS_SIMULATED) {
      if (turn % TURNS_A_YIELD == 0)
        wtl_yielder_yield(&a->yielder); /* the thread that was just woken may have only this core */
    } else if (wtl_os_await_network(-1, a->wake, (double)(until - now) * wtl_clock_ns_per_tick() * 1e-9,
                                    WTL_OS_SPINS) <= 0)
      return false;
    *needed = is_needed(a);
    if (!make_progress(a) && !WTL_OS_IS_SIMULATED) continue;
    notify_server(a, true);
    return true;
  }
  return false;
}

/* Sleeps until the network has something, `event` is set, or `seconds` have passed. */
static enum wtl_sleep sleep_on_network(wtl_agent *a, int event, double seconds)
{
  WTL_FLOATS_APART;
  int patience_ms = wtl_net_progress_interval_ms(a->net);
  if (patience_ms >= 0 && !WTL_OS_IS_SIMULATED) seconds = fmin(seconds, patience_ms * 1e-3);
  int came = wtl_os_await_network(wtl_net_descriptor(a->net), event, seconds, WTL_OS_SLEEPS);
  return came > 0 ? WTL_SLEPT_WOKEN : came == 0 ? WTL_SLEPT_OUT : WTL_SLEPT_NOT;
}

/* Does another thread make progress, or did it do so a moment ago and may do so again? But a thread that sleeps needs
 * the agent, and so does a ring that is owed. In simulation the agent serves every arrival. */
static bool others_serve(const wtl_agent *a, bool polled)
{
  return !WTL_OS_IS_SIMULATED && (a->others > 0 || (polled && a->sleepers == 0 && !wtl_net_owes_rings(a->net)));
}

static void *serve(void *arg)
{
  wtl_agent *a = arg;
  uint32_t seen = a->polls_begun;
  bool woken = false; /* in simulation, where the agent lingers after each wake-up, also by a nudge */
  wtl_thread_be_prompt();
  a->pause_ns = PAUSE_NS;
  while (!a->stop) {
    uint32_t nudges = a->nudges, polls_begun = a->polls_begun;
    if (others_serve(a, polls_begun != seen)) {
      seen = polls_begun;
      notify_server(a, false);
      wait_for_nudge(a, nudges, a->pause_ns);
      long longer = 2 * a->pause_ns, longest = a->on_network ? LONGEST_SLEEP_PAUSE_NS : LONGEST_PAUSE_NS;
      a->pause_ns = longer < longest ? longer : longest;
      continue;
    }
    a->pause_ns = PAUSE_NS;
    bool needed = is_needed(a), progressed = make_progress(a);
    if (progressed || woken) {
      notify_server(a, true);
      while (linger(a, &needed)) continue;
      woken = false;
      continue;
    }
    if (!wtl_net_arm(a->net)) continue;
    if (others_serve(a, false) || a->stop) continue;
    notify_server(a, false);
    sleep_on_network(a, a->wake, INFINITY);
    woken = WTL_OS_IS_SIMULATED;
    if (a->stop) break;
    notify_server(a, true);
    if (a->others == 0) wtl_os_agent_woken();
  }
  return NULL;
}

/* Its thread has ended, or has never started. */
static void release(wtl_agent *a)
{
  if (a->wake >= 0) wtl_os_event_close(a->wake);
  if (a->alarm >= 0) wtl_os_event_close(a->alarm);
  pthread_mutex_destroy(&a->serving);
  free(a);
}

wtl_agent *wtl_agent_start(wtl_net *net, bool lingers, bool (*also)(void *), void *of, char *error, size_t size)
{
  wtl_agent *a = calloc(1, sizeof *a);
  int rc = 0;
  if (!a) {
    snprintf(error, size, "no memory for the progress agent");
    return NULL;
  }
  a->net = net;
  a->also = also;
  a->also_of = of;
  pthread_mutex_init(&a->serving, NULL);
  wtl_yielder_start(&a->yielder, 1);
  a->linger_ticks = lingers ? (uint64_t)(LINGER_NS / wtl_clock_ns_per_tick()) : 0;
  a->wake = wtl_os_event_open();
  a->alarm = wtl_os_event_open();
  if (a->wake < 0 || a->alarm < 0) rc = errno;
  if (rc || (rc = wtl_thread_start(&a->thread, NULL, serve, a)) != 0) {
    snprintf(error, size, "the progress agent does not start: %s", strerror(rc));
    release(a);
    return NULL;
  }
  wtl_os_agent_wakes(true);
  return a;
}

void wtl_agent_serve_by(wtl_agent *a, void (*server)(void *of, bool serves), void *of)
{
  pthread_mutex_lock(&a->serving);
  if (a->server && a->serves) a->server(a->server_of, false);
  a->server = server;
  a->server_of = of;
  a->serves = false;
  a->has_server = server != NULL;
  pthread_mutex_unlock(&a->serving);
}

double wtl_agent_cpu_s(const wtl_agent *a)
{
  return wtl_os_thread_cpu_seconds(a->thread);
}

void wtl_agent_stop(wtl_agent *a)
{
  a->stop = true;
  wtl_os_event_set(a->wake);
  nudge(a);
  pthread_join(a->thread, NULL);
  wtl_os_agent_wakes(false);
  release(a);
}

/* --- called by waiting threads, by several at a time -------------------------------------------------------------- */

static bool progress(void *agent)
{
  return wtl_net_progress(((wtl_agent *)agent)->net);
}

static void post(void *agent)
{
  wtl_net_post_notice(((wtl_agent *)agent)->net);
}

static bool is_posted(void *agent)
{
  return wtl_net_notice_is_posted(((wtl_agent *)agent)->net);
}

static void stand_by(void *agent)
{
  wtl_agent *a = agent;
  wtl_net_caller_waits(a->net);
  a->others++;
  a->polls_begun++;
}

static void take_over(void *agent)
{
  wtl_agent *a = agent;
  a->progress_at = wtl_ticks();
  a->longest_idle = 0;
  a->sleepers++;
  a->others--;
  nudge(a);
}

/* If several threads sleep, the result is that of the last one to fall asleep. This is accurate enough to
 * learn from. */
static uint64_t relieved(void *agent, uint64_t until)
{
  wtl_agent *a = agent;
  uint64_t progress_at = a->progress_at, longest_idle = a->longest_idle;
  a->sleepers--;
  return until > progress_at && until - progress_at > longest_idle ? until - progress_at : longest_idle;
}

static void resume(void *agent)
{
  wtl_agent *a = agent;
  a->others--;
  /* Another thread that sleeps was served by this one, or a ring is owed, or the agent makes its longest pause. */
  if (a->sleepers > 0 || wtl_net_owes_rings(a->net) || a->pause_ns > LONGEST_PAUSE_NS) nudge(a);
}

/* --- sleep of a PE's thread on the network ------------------------------------------------------------------------ */

static enum wtl_sleep sleep_on_descriptors(void *agent, double seconds)
{
  wtl_agent *a = agent;
  if (!wtl_net_arm(a->net)) return WTL_SLEPT_NOT;
  notify_server(a, false);
  enum wtl_sleep how = sleep_on_network(a, a->alarm, seconds);
  notify_server(a, true);
  return how;
}

static bool begin_sleep(void *agent)
{
  wtl_agent *a = agent;
  bool none = false;
  if (WTL_OS_IS_SIMULATED) return false; /* there the agent wakes the PE, and the two share one wake-up */
  return atomic_compare_exchange_strong(&a->on_network, &none, true);
}

static void end_sleep(void *agent)
{
  ((wtl_agent *)agent)->on_network = false;
}

void wtl_agent_attend(wtl_agent *a)
{
  if (a->on_network)
    wtl_os_event_set(a->alarm);
  else if (a->parked && a->others == 0)
    nudge(a);
}

wtl_progress_driver wtl_agent_driver(wtl_agent *a)
{
  return (wtl_progress_driver){.agent = a,
                               .progress = progress,
                               .post = post,
                               .is_posted = is_posted,
                               .stand_by = stand_by,
                               .take_over = take_over,
                               .relieved = relieved,
                               .resume = resume,
                               .sleeper = {sleep_on_descriptors, a, a->alarm},
                               .begin_sleep = begin_sleep,
                               .end_sleep = end_sleep};
}
