/*
 * door.h - the wait door, through which every wait of the runtime goes.
 *
 * DESIGN. A wait has a call site (src/profile) and a condition. The door takes it through the stages of src/govern:
 * check, spin or yield, sleep. It returns as soon as the condition holds. It records the time of each stage for the
 * site and for the PE.
 *
 * A wait for a neighbour at work ends within a microsecond, and its caller acts on what it waited for. So the first
 * polls look at the condition alone, and most such waits read no clock at their end: their time is the number of polls
 * times the time of a poll, which one wait in 16 and all longer ones measure.
 *
 * A wait for a store sleeps on the doorbell (doorbell.h), which misses no wake-up. Stores through shmem_ptr ring no
 * doorbell, so each sleep has a time limit and the condition is checked after it. Between two checks, the thread makes
 * progress and runs the handlers of active messages, so that two PEs that wait for each other do not deadlock.
 *
 * A condition that only a test can find (an MPI request) has no doorbell. The second part of this file waits for it.
 */
#ifndef WTL_WAIT_DOOR_H
#define WTL_WAIT_DOOR_H

#include <stdint.h>

#include "govern/stages.h"
#include "os/yielder.h"
#include "profile/kept.h"
#include "profile/profile.h"
#include "wait/doorbell.h"
#include "wait/live.h"
#include "wait/lowpower.h"
#include "wait/no_core.h"
#include "wait/peer_wakeup.h"
#include "wait/sleep_notice.h"

/*
 * The functions by which a wait makes progress, and by which it shares that work with a progress agent
 * (fabric/agent.h). All are NULL where memory changes without progress calls.
 *
 * The wait calls `stand_by` when it begins and `progress` between its checks; the agent is idle meanwhile. When the
 * wait sleeps it calls `take_over`, and the agent makes progress. `relieved` ends that. It returns the longest time, in
 * ticks up to tick `until`, in which nothing arrived. `resume` ends the wait.
 *
 * Network cards store without a doorbell, unless the PEs that use them know that a thread may sleep. `post` tells them.
 * A thread that is registered at its doorbell sleeps only while `is_posted` is true.
 *
 * A PE that is alone on its node is woken by the network only. It sleeps on the network itself, on `sleeper`, and the
 * agent stays idle: one wake-up instead of two. One thread at a time may do so: the one for which `begin_sleep`
 * returned true, until it calls `end_sleep`.
 */
typedef struct wtl_progress_driver {
  void *agent;
  bool (*progress)(void *agent);
  void (*post)(void *agent);
  bool (*is_posted)(void *agent);
  void (*stand_by)(void *agent);
  void (*take_over)(void *agent);
  uint64_t (*relieved)(void *agent, uint64_t until);
  void (*resume)(void *agent);
  wtl_sleeper sleeper;
  bool (*begin_sleep)(void *agent);
  void (*end_sleep)(void *agent);
} wtl_progress_driver;

/*
 * The functions by which a waiting thread runs the handlers of active messages. All are NULL without active messages.
 *
 * `waits`: there are messages that this thread may take. `take`: takes some of them. An agent runs handlers while no
 * thread of the PE waits, so waits notify it: `enter` at the beginning (false: this wait is not counted),
 * `falls_asleep` before the first sleep, `leave` at the end.
 */
typedef struct wtl_messages {
  void *of;
  bool (*waits)(void *of);
  bool (*take)(void *of);
  bool (*enter)(void *of);
  void (*falls_asleep)(void *of);
  void (*leave)(void *of, bool was_asleep);
} wtl_messages;

/* A limit for waits that may have no end. `late` is called after each further `seconds` of a wait and may end the
 * job. `pe` is the PE that the wait depends on, or -1 if that is unknown. */
typedef struct wtl_overdue {
  double seconds;
  void (*late)(void *of, const wtl_site *site, int pe);
  void *of;
} wtl_overdue;

typedef struct wtl_governor wtl_governor;

/* The learned time of a poll is in this part of a tick: integers leave the program's floating-point flags alone. */
enum { WTL_POLL_PARTS = 256 };

typedef struct wtl_door {
  wtl_bell *bell;           /* rung by each PE that stores what this PE may wait for */
  wtl_sleep_notice *notice; /* posted before a sleep that a plain store may end; NULL: no such stores */
  wtl_stages stages;
  wtl_yielder yielder; /* gives the core to other processes */
  wtl_progress_driver driver;
  wtl_messages messages;
  const wtl_overdue *overdue; /* for all waits for stores; NULL: none */
  wtl_governor *governor;     /* changes the clock of the PE; NULL: no governor */
  double sleep_max_s;
  enum wtl_lowpower lowpower; /* the instruction with which a spin pauses, after this many ticks of a wait */
  uint64_t lowpower_from;
  uint64_t notice_ticks;             /* WTL_NOTICE_NS */
  unsigned waited_shift;             /* of the classes of wtl_waited */
  _Atomic uint32_t poll_parts;       /* time of one of the first polls, in WTL_POLL_PARTS; 0: not known yet */
  bool is_shared;                    /* several threads of the program may wait at the same time */
  bool is_alone;                     /* no other process rings the doorbell */
  wtl_wakeup ring;                   /* wakes processes that sleep between tests, and is woken by them */
  wtl_no_core no_core;               /* time without a core, in waits and outside them */
  wtl_live *live;                    /* the page that shows long waits; NULL: none */
  const wtl_call_info *const *calls; /* tables of the names of calls, for `live` */
  wtl_kept_waits *kept;              /* where the totals below and the long wait in progress outlive a kill; or NULL */
  const wtl_profile *noted;          /* the profile whose timeline records the waits; NULL: none */
  /* Totals of the PE. Several threads may add to them. */
  _Atomic uint64_t ticks[WTL_N_STAGES]; /* of the threads of the program */
  _Atomic uint64_t sleeps;
  _Atomic uint64_t rings;   /* of these, the ones that another process ended (peer_wakeup.h) */
  _Atomic uint64_t handled; /* messages whose handlers ran */
  _Atomic uint64_t
      rescues; /* sleeps that ended by their time limit although the condition held and no doorbell had rung */
} wtl_door;

void wtl_door_start(wtl_door *d, wtl_bell *bell, const wtl_settings *settings, int n_local, wtl_cores cores);

/* Does what a failed test routine (such as shmem_test) must do: makes progress, runs handlers, and yields where PEs
 * outnumber cores. The PE that makes the condition true may need this core. */
void wtl_door_missed(wtl_door *d);

/* Waits until ready(arg) is true. `watch` names the stores that can make it true. `ready` must be cheap, must have
 * no effect, and must load its operands with acquire order. */
void wtl_door_wait(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg);

/* Waits like wtl_door_wait for a condition that only stores with a doorbell make true: signals and atomic operations.
 * No notice is needed. A store by hardware, which a program must not make there, is found when the sleep reaches its
 * limit. */
void wtl_door_wait_for_signal(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg);

/* Waits like wtl_door_wait for a condition that only PE `pe` can make true; -1: any PE may. */
void wtl_door_wait_for(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg, int pe);

/* Waits like wtl_door_wait for an event that comes from another core. Giving up this core does not bring that event
 * earlier, so a wait that yields polls for most of a turn first. */
void wtl_door_wait_on_other_core(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg);

/* Waits like wtl_door_wait and calls late(arg) after each further `seconds`. `late` may wait itself. */
void wtl_door_wait_with_checks(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg,
                               double seconds, void (*late)(void *));

/* Waits like wtl_door_wait, but sleeps on `sleeper` instead of the doorbell. */
void wtl_door_wait_on_sleeper(wtl_door *d, wtl_site *site, const wtl_sleeper *sleeper, bool (*ready)(void *),
                              void *arg);

/* Shows a long wait of this site on the live page (live.h). Returns true if it does; the caller then ends it by
 * wtl_door_unpublish. */
bool wtl_door_publish(wtl_door *d, const wtl_site *site);
void wtl_door_unpublish(wtl_door *d);

/* --- conditions that ring no doorbell --- */

/*
 * Some conditions can only be tested (an MPI request), by this process alone, and the test also makes progress. Such a
 * wait polls first. Then it sleeps in steps (govern/steps.h) and tests after each step. A test that takes much longer
 * than an idle one has made progress: the wait then polls again. It also polls again if the caller reports progress.
 */

/* The learned duration of an idle test. Caches are cold after a sleep, and colder after a long one, so each depth of
 * sleep has its own figure. Several threads may update it at once. */
enum { WTL_DEPTHS = 4 };
typedef struct wtl_pace {
  _Atomic uint32_t warm, cold[WTL_DEPTHS]; /* ticks; 0: not known yet */
} wtl_pace;

/* The outcome of a failed test, as far as the caller knows it. */
typedef enum wtl_test_result { WTL_TEST_UNKNOWN, WTL_TEST_IDLE, WTL_TEST_PROGRESS } wtl_test_result;

/* A wait in progress; all zeroes: no wait. Times are ticks. */
typedef struct wtl_test_wait {
  uint64_t idle;         /* the last time that something happened; 0: no wait */
  uint64_t recorded;     /* the time up to which the stages are recorded */
  uint64_t quiet;        /* the longest time so far in which nothing happened */
  uint64_t away;         /* the time of its yields */
  uint64_t others_ticks; /* the part of the time since `idle` in which others had the core */
  uint64_t limit;
  uint64_t awake_until;     /* no sleep before this time */
  uint64_t began, slack_at; /* slack_at: when to notify the governor of the wait, later of slack; UINT64_MAX: never */
  int slack;                /* the timer slack of the thread, in ns, while a shorter one is set; 0 before */
  bool slept;
  uint8_t depth;          /* depth of its last sleep: 0 to WTL_DEPTHS - 1 */
  uint8_t moving_signs;   /* slow tests since a sleep, without an idle test after a sleep since */
  bool flows;             /* data flows: the other waits of the site predict nothing about this one */
  bool may_compute;       /* set by the caller: the thread may go and compute without notice, so no clock is changed */
  wtl_test_result result; /* set by the caller: outcome of the last test, which failed */
  bool reports_idle;      /* idle tests are reported as such, so a test without a report made progress */
  bool is_shown;          /* it is shown on the live page */
  bool governed;          /* the governor knows of the wait */
  bool ends;              /* ... and of its slack, and was asked for its expected end */
  bool is_read;           /* door->no_core was read when the wait turned out to be long */
  bool may_have_progressed; /* it may have made progress for others since it last woke them */
  bool can_be_woken;        /* its last sleep was one that a wake-up could end */
  bool rung;                /* a wake-up ended it, and nothing has followed from that yet */
  uint64_t no_wakeup_until; /* no process may wake it before this time */
  uint32_t turns;
} wtl_test_wait;

/* Calls test(arg) until it returns true, and not again after that. A test stores in `*result` whether it made
 * progress; NULL: the test cannot know. */
void wtl_door_wait_by_tests(wtl_door *d, wtl_site *site, wtl_pace *pace, bool (*test)(void *), void *arg,
                            wtl_test_result *result);

/* Begins a wait whose tests the caller makes, at tick `at`. A failed test begins one by itself, at its end. */
void wtl_door_test_wait_begin(wtl_door *d, wtl_site *site, wtl_test_wait *t, uint64_t at);

/* Continues a wait whose tests the caller makes. The caller calls it after each failed test, which took `took`
 * ticks. Returns at once, or after a yield or a sleep. */
void wtl_door_test_failed(wtl_door *d, wtl_site *site, wtl_test_wait *t, wtl_pace *pace, uint64_t took);

/* Ends such a wait, if there is one. `learn`: it ended because the condition held. `site` NULL: the wait ended with
 * its last test, and the time since then belongs to no wait. */
void wtl_door_test_wait_end(wtl_door *d, wtl_site *site, wtl_test_wait *t, bool learn);

#endif
