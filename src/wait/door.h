/*
 * door.h - every wait of the runtime goes through here.
 *
 * A wait has a site (where in the program, src/profile) and a condition. The door takes it through the stages of
 * src/govern (spin, yield, sleep), leaves as soon as the condition holds, and books the time in each stage to the site
 * and to the PE.
 */
#ifndef WTL_WAIT_DOOR_H
#define WTL_WAIT_DOOR_H

#include <stdint.h>

#include "govern/stages.h"
#include "os/yielder.h"
#include "profile/profile.h"
#include "wait/doorbell.h"
#include "wait/live.h"
#include "wait/lowpower.h"
#include "wait/peer_wakeup.h"

/*
 * How a wait makes progress where that needs doing, and who does it otherwise: an agent (fabric/agent.h). `progress` is
 * called between checks, while the agent stands by. It takes over when the wait sleeps, until it is relieved (it then
 * says how long, at most, nothing moved, up to the tick it is told), and resumes its rounds when the wait ends. Where
 * stores are `silent` (hardware writes memory, and rings no bell) a sleep is short. All NULL where memory moves by
 * itself.
 *
 * A PE that has its node for itself is called by the network alone, so it sleeps there, on `bed`, and the agent goes on
 * standing by: one wake-up where there would be two. One thread at a time, which `begin_sleep` tells, until it `end_sleep`.
 */
typedef struct wtl_progress_driver {
  void *agent;
  bool (*progress)(void *agent);
  bool (*silent)(void *agent);
  void (*stand_by)(void *agent);
  void (*take_over)(void *agent);
  uint64_t (*relieved)(void *agent, uint64_t until);
  void (*resume)(void *agent);
  wtl_sleeper bed;
  bool (*begin_sleep)(void *agent);
  void (*end_sleep)(void *agent);
} wtl_progress_driver;

/*
 * Messages whose handlers a thread may run while it waits. `waits`: are there any that this thread may take; `take`
 * takes some. Where another thread stands in for those that do not wait, it is told who does: `enter` (false: this one
 * does not count), `falls_asleep`, `leave`. All NULL where there are no messages.
 */
typedef struct wtl_messages {
  void *of;
  bool (*waits)(void *of);
  bool (*take)(void *of);
  bool (*enter)(void *of);
  void (*falls_asleep)(void *of);
  void (*leave)(void *of, bool was_asleep);
} wtl_messages;

/* Where a wait may be for what never comes: each time another `seconds` of it have passed, `late` may end the job. `pe`:
 * the one that the wait is for; -1: that is not known. */
typedef struct wtl_overdue {
  double seconds;
  void (*late)(void *of, const wtl_site *site, int pe);
  void *of;
} wtl_overdue;

typedef struct wtl_governor wtl_governor;

typedef struct wtl_door {
  wtl_bell *bell; /* rung by whoever stores something this PE may wait for */
  wtl_stages stages;
  wtl_yielder yielder; /* of the core, to who else wants it */
  wtl_progress_driver driver;
  wtl_messages messages;
  const wtl_overdue *overdue; /* of all waits for stores; NULL: there is none */
  wtl_governor *governor;     /* of the PE's clock; NULL where nothing is governed */
  double sleep_max_s;
  enum wtl_lowpower lowpower; /* how a spin rests, from this many ticks on */
  uint64_t lowpower_from;
  bool is_shared;                    /* by threads of the program that wait at the same time */
  bool is_alone;                     /* no other PE's process rings the bell */
  wtl_wakeup ring;                   /* who sleeps between tests is woken by others, and wakes them */
  wtl_live *live;                    /* where waits are told that last; NULL: nowhere */
  const wtl_call_info *const *calls; /* tables with the names of calls, for that */
  const wtl_profile *noted;          /* whose timeline the waits go to; NULL: nobody's */
  /* Totals of the PE; several threads may add. */
  _Atomic uint64_t ticks[WTL_N_STAGES]; /* of the program's own threads */
  _Atomic uint64_t sleeps;
  _Atomic uint64_t rings;   /* of them, those that others ended (peer_wakeup.h) */
  _Atomic uint64_t handled; /* messages whose handlers ran */
  _Atomic uint64_t rescues; /* sleeps that ran out although the condition held and nobody had rung */
} wtl_door;

void wtl_door_start(wtl_door *d, wtl_bell *bell, const wtl_settings *settings, int n_local, wtl_cores cores);

/* A test that found nothing: where PEs outnumber cores, the PE that would make it true needs this one's core. */
void wtl_door_missed(wtl_door *d);

/* Waits until ready(arg); `watch`: which stores can make it so. `ready` must be cheap, have no effect, and load what it
 * looks at with acquire order. */
void wtl_door_wait(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg);

/* The same for what only PE `pe` can bring about; -1: any may. */
void wtl_door_wait_for(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg, int pe);

/* wtl_door_wait for what comes from who has another core, and so no sooner for getting this one: where waits yield, it looks
 * on for most of a turn first. */
void wtl_door_wait_apart(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg);

/* wtl_door_wait, but each time another `seconds` have passed, late(arg) may see why. It may wait itself. */
void wtl_door_wait_in_doubt(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg,
                            double seconds, void (*late)(void *));

/* wtl_door_wait that sleeps on `bed` instead of the bell. */
void wtl_door_wait_on_bed(wtl_door *d, wtl_site *site, const wtl_sleeper *bed, bool (*ready)(void *), void *arg);

/* A wait of this site has lasted a moment: tells who asks (live.h). True where it did; then the caller ends it by
 * wtl_live_leave. */
bool wtl_door_publish(wtl_door *d, const wtl_site *site);

/* --- what rings no bell --- */

/*
 * Some things can only be tested for (an MPI request), by this process itself, and the test is also what moves them on.
 * Such a wait looks on as any other; then it sleeps in steps (govern/steps.h) and tests after each. A test that takes
 * much longer than those that find nothing has moved something: the wait looks on again from there. So it does where the
 * caller knows that something came.
 */

/* What a test that finds nothing takes: learned. After a sleep caches are cold, after a long one more so. Several
 * threads may learn at once. */
enum { WTL_DEPTHS = 4 };
typedef struct wtl_pace {
  _Atomic uint32_t warm, cold[WTL_DEPTHS]; /* ticks; 0: not known yet */
} wtl_pace;

/* What a test says of itself, if who makes it can tell. */
typedef enum wtl_test_result { WTL_TEST_UNKNOWN, WTL_TEST_IDLE, WTL_TEST_PROGRESS } wtl_test_result;

/* A wait in progress. Zeroes: none. */
typedef struct wtl_test_wait {
  uint64_t idle;     /* since when nothing has happened; 0: no wait */
  uint64_t recorded; /* up to when the time is recorded */
  uint64_t quiet;    /* the longest time so far in which nothing happened */
  uint64_t lent;     /* of the time since `idle`, for which others had the core */
  uint64_t limit;
  uint64_t awake_until;     /* no sleep before */
  uint64_t began, slack_at; /* when the governor is to be told of it, then that it is slack; UINT64_MAX: never */
  int slack;                /* the thread's timer slack, ns, while it is ours; 0 before */
  bool slept;
  uint8_t depth;          /* of its last sleep: 0 to WTL_DEPTHS - 1 */
  uint8_t moving_signs;   /* that something moves: slow tests since a sleep, and no idle one after a sleep since */
  bool flows;             /* it does: this is not a wait like the site's others */
  bool may_compute;       /* the caller's: who waits may go and compute without a word, so no clock is changed for it */
  wtl_test_result result; /* the caller's: of the last test, which did not find what is waited for */
  bool tells;             /* tests that found nothing at all have said so: who does not, has found something */
  bool told;              /* to who asks from outside */
  bool governed;          /* the governor knows of it */
  bool may_have_progressed; /* it may have done what others wait for, since it last rang */
  bool heard;               /* its last sleep was one that a ring could end */
  bool rung;                /* a ring ended it, and nothing has come of that yet */
  uint64_t no_wakeup_until; /* it lets nobody wake it before */
  uint32_t turns;
} wtl_test_wait;

/* Tests until test(arg) is true; it is not called again then. `result`: where a test says whether it found something
 * else; NULL: none can tell. */
void wtl_door_wait_by_tests(wtl_door *d, wtl_site *site, wtl_pace *pace, bool (*test)(void *), void *arg,
                            wtl_test_result *result);

/*
 * The same where the tests are somebody else's: called after each that found nothing and took `took` ticks. Returns at
 * once, or after a yield or a sleep.
 */
void wtl_door_test_failed(wtl_door *d, wtl_site *site, wtl_test_wait *t, wtl_pace *pace, uint64_t took);

/* Ends such a wait, if there is one. `learn`: it ended because what was waited for came. site NULL: the wait ended with
 * its last turn, and what came since is no wait. */
void wtl_door_test_wait_end(wtl_door *d, wtl_site *site, wtl_test_wait *t, bool learn);

#endif
