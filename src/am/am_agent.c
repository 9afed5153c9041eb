/* am_agent.c - the thread that runs handlers while the program computes, and how waiting threads notify it. */
#include "am/am_agent.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "am/am_run.h"
#include "node/last_thread.h"
#include "os/floats.h"
#include "os/yielder.h"
#include "os/os.h"

/* The rests of the agent between polls, while other threads of the PE poll: the first and the longest. The last one
 * is the longest while all of them sleep, as their end wakes the agent. src/fabric/agent.c uses the same times. */
enum { PAUSE_NS = 1000000, LONGEST_PAUSE_NS = 4000000, LONGEST_SLEEP_PAUSE_NS = 500000000 };

/* About the cost of a wake-up: an agent that polls this long after a message wastes at most as much. */
enum { LINGER_NS = 50000, TURNS_A_YIELD = 16 };

/* The number of rests after which a message counts as forgotten. */
enum { PATIENCE = 100 };

struct wtl_am_agent {
  wtl_am *am;
  pthread_t thread;
  uint64_t linger_ticks;
  wtl_yielder yielder;
  _Atomic uint32_t polling, asleep; /* waiting threads: that poll, and that sleep */
  _Atomic uint32_t polls_begun;     /* how often they began to poll */
  _Atomic uint32_t nudges;          /* futex word: incremented to end a rest */
  _Atomic bool parked, parked_long; /* it rests on `nudges`; for long */
  _Atomic bool stop;
};

static void park(wtl_am_agent *a, uint32_t nudges, long ns)
{
  WTL_FLOATS_APART;
  a->parked_long = ns > LONGEST_PAUSE_NS;
  a->parked = true; /* before `nudges` is compared: the kernel has a full barrier there */
  wtl_futex_wait(&a->nudges, nudges, (double)ns * 1e-9, WTL_FUTEX_OURS);
  a->parked = a->parked_long = false;
}

/* Ends its rest if `parked` is true. `nudges` is incremented in any case, since the agent may be about to rest. */
static void nudge(wtl_am_agent *a, const _Atomic bool *parked)
{
  a->nudges++;
  if (*parked) wtl_futex_wake(&a->nudges, 1, WTL_FUTEX_OURS);
}

static bool is_alone(const wtl_am_agent *a)
{
  return a->polling == 0 && a->asleep == 0;
}

/* Polls for a while after handlers ran, since the next message is likely near. Returns true if another one came. */
static bool linger(wtl_am_agent *a)
{
  uint64_t now = wtl_ticks(), until = now + a->linger_ticks;
  if (!wtl_yielder_may_yield(&a->yielder, now)) return false;
  for (unsigned turn = 0; !a->stop && is_alone(a) && wtl_ticks() < until; turn++) {
    if (turn % TURNS_A_YIELD == 0)
      wtl_yielder_yield(&a->yielder); /* the thread of the program may have only this core */
    if (wtl_am_take_if_any(a->am)) return true;
    wtl_relax();
  }
  return false;
}

static bool waits(void *arg)
{
  wtl_am_agent *a = arg;
  return a->stop || wtl_am_waits(a->am);
}

/* Returns whether messages are forgotten. A message from another node wakes no PE if the thread that serves the
 * network takes it next (am_far_receive.c). That thread may be without a core for a while. So a message is forgotten
 * only if no thread takes any for many rests. */
static bool is_forgotten(wtl_am_agent *a)
{
  uint64_t turns = atomic_load_explicit(&a->am->turns, memory_order_relaxed);
  for (int pauses = 0; pauses < PATIENCE; pauses++) {
    if (a->stop || !wtl_am_waits(a->am) || atomic_load_explicit(&a->am->turns, memory_order_relaxed) != turns)
      return false;
    park(a, a->nudges, PAUSE_NS);
  }
  return true;
}

static void *serve(void *arg)
{
  wtl_am_agent *a = arg;
  wtl_last_thread_skip_this();
  wtl_pe *pe = a->am->pe;
  wtl_bell *bell = &wtl_control_of(pe, pe->me)->am_bell;
  bool alone = a->am->progress == WTL_PROGRESS_AGENT; /* no other thread runs handlers */
  uint32_t seen = a->polls_begun;
  long pause_ns = PAUSE_NS;
  wtl_pe_enter(pe);
  wtl_am_here.is_agent = true;
  wtl_thread_be_prompt();
  while (!a->stop) {
    uint32_t nudges = a->nudges, polls_begun = a->polls_begun;
    /* In simulation the agent serves every arrival, and a time limit would hide a deadlock. */
    if (!WTL_OS_IS_SIMULATED && !alone && (!is_alone(a) || polls_begun != seen)) {
      /* A thread that sleeps wakes the agent at its end. One that only polls does not. */
      bool long_one = polls_begun == seen && a->polling == 0 && a->asleep > 0;
      long longest = long_one ? LONGEST_SLEEP_PAUSE_NS : LONGEST_PAUSE_NS;
      if (pause_ns > longest) pause_ns = longest;
      seen = polls_begun;
      park(a, nudges, pause_ns);
      pause_ns *= 2;
      continue;
    }
    pause_ns = PAUSE_NS;
    if (wtl_am_take_if_any(a->am)) {
      while (linger(a)) continue;
      continue;
    }
    double longest = WTL_OS_IS_SIMULATED ? INFINITY : pe->settings.sleep_max.seconds;
    enum wtl_sleep how = wtl_bell_sleep(bell, NULL, WTL_WATCH_ALL, waits, a, longest);
    if (how == WTL_SLEPT_WOKEN && a->polling == 0) wtl_os_agent_woken();
    if (how == WTL_SLEPT_OUT && is_forgotten(a)) atomic_fetch_add_explicit(&pe->door.rescues, 1, memory_order_relaxed);
  }
  return NULL;
}

/* --- notices from waiting threads --------------------------------------------------------------------------------- */

/* Adds without an atomic operation if only one thread may wait: it would delay the caller. */
static void add(const wtl_am_agent *a, _Atomic uint32_t *n, uint32_t by)
{
  if (a->am->pe->thread_level == WTL_THREAD_MULTIPLE)
    *n += by;
  else
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by, memory_order_relaxed);
}

/* Returns false if there is no agent yet. A thread that holds a mutex runs no handlers, so it leaves them to the
 * agent. */
static bool enter(void *arg)
{
  wtl_am_agent *a = ((wtl_am *)arg)->agent;
  if (!a || wtl_am_here.locks || wtl_am_here.is_agent) return false;
  add(a, &a->polling, 1);
  add(a, &a->polls_begun, 1);
  return true;
}

static void falls_asleep(void *arg)
{
  wtl_am_agent *a = ((wtl_am *)arg)->agent;
  a->asleep++;
  add(a, &a->polling, -1u);
}

static void leave(void *arg, bool was_asleep)
{
  wtl_am_agent *a = ((wtl_am *)arg)->agent;
  if (!was_asleep) {
    add(a, &a->polling, -1u);
  } else {
    add(a, &a->polls_begun, 1);
    if (--a->asleep == 0) nudge(a, &a->parked_long);
  }
}

void wtl_am_agent_is_notified(wtl_messages *messages)
{
  messages->enter = enter;
  messages->falls_asleep = falls_asleep;
  messages->leave = leave;
}

void wtl_am_agent_note_poll(wtl_am_agent *a)
{
  add(a, &a->polls_begun, 1);
}

/* --- life --------------------------------------------------------------------------------------------------------- */

wtl_am_agent *wtl_am_agent_start(wtl_am *am, char *error, size_t size)
{
  WTL_FLOATS_APART;
  wtl_am_agent *a = calloc(1, sizeof *a);
  int rc;
  if (!a) {
    snprintf(error, size, "no memory for the agent");
    return NULL;
  }
  a->am = am;
  /* In simulation no time passes while it polls. */
  a->linger_ticks = WTL_OS_IS_SIMULATED ? 0 : (uint64_t)(LINGER_NS / wtl_clock_ns_per_tick());
  wtl_yielder_start(&a->yielder, 1);
  if ((rc = wtl_thread_start(&a->thread, NULL, serve, a)) != 0) {
    snprintf(error, size, "the thread that runs handlers does not start: %s", strerror(rc));
    free(a);
    return NULL;
  }
  return a;
}

double wtl_am_agent_cpu_s(const wtl_am_agent *a)
{
  return wtl_os_thread_cpu_seconds(a->thread);
}

void wtl_am_agent_stop(wtl_am_agent *a)
{
  wtl_pe *pe = a->am->pe;
  a->stop = true;
  nudge(a, &a->parked);
  wtl_bell_ring(&wtl_control_of(pe, pe->me)->am_bell);
  pthread_join(a->thread, NULL);
  free(a);
}
