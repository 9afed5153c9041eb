/*
 * governor.h - which clock a PE wants, and when.
 *
 * Words are the papers'. A power management region (PMR) is what lies between two barriers, or what the program marks.
 * Hint points (PHP) are where the governor learns: the end of a wait, of a region. Control points (PCP) are where it
 * may change a clock: entering slack (scaling reactive), the start of a region (proactive). Modes: baseline,
 * performance (late PEs above the normal clock), energy (early PEs below it), hybrid (both).
 *
 * A clock is changed only where the wait that is foretold (slack.h) exceeds two changes, there and back, at their
 * measured price; where nothing is foretold, once so much has been waited: then at most as much is lost as was already.
 *
 * It watches its own effect. The first instances of a region, instance WTL_CONTROL_FIRST, and from WTL_CONTROL on one
 * in so many run at the normal clock; what the others take longer, or what raising a clock after a wait costs where no
 * region is known, is lost time. Beyond the share of the time that the user allows, nothing is changed until the time
 * that passes has earned it back. Proactive scaling reacts in the middle ones of the first and in WTL_CONTROL_FIRST: a
 * wait at the lowest clock makes no instance longer in which there is slack.
 *
 * Regions shorter than two changes are worth none, and there may be a million of them a second: they go by. Of those
 * only one barrier in WTL_UNSEEN + 1 is looked at, the others only count; a wait that lasts ends that at once, and a
 * region that has become long is seen at the next look. Nor does a wait that is over within a moment (WTL_MOMENT_NS)
 * concern it: the wait door says nothing of it, and what all waits take together it reads off the door's own account.
 *
 * One governor a PE; none for PEs of several threads, for a wait of one of them is no slack of the PE. All times in
 * ticks, and given by the caller: no clock is read here but around a write and at barriers.
 */
#ifndef WTL_GOVERN_GOVERNOR_H
#define WTL_GOVERN_GOVERNOR_H

#include "base/settings.h"
#include "base/clock.h"
#include "govern/slack.h"
#include "govern/vote.h"
#include "profile/profile.h"

enum { WTL_LEARN = WTL_SLACK_RECENT, WTL_CONTROL_FIRST = 16, WTL_CONTROL = 64 };
/* How long a PE waited at the end of its last region: not long enough for a change of clock to be worth its price; long
 * enough; and for more than an eighth of the region besides. */
enum { WTL_WAITS_NOT, WTL_WAITS_LONG, WTL_WAITS_MUCH, WTL_WAITS_CLASSES = 4, WTL_WAITS_SHARE = 8 };
enum { WTL_REGIONS = 64, WTL_UNSEEN = 15, WTL_MOMENT_NS = 1000 };

/* A moving mean and variance, and of how many. */
typedef struct wtl_mean {
  double mean, variance;
  uint32_t n;
} wtl_mean;

/* An instance with a clock changed took longer than is allowed: by the clock, or because another phase has begun? All in
 * ticks. */
typedef struct wtl_doubt {
  bool is_open;
  double normal;  /* the mean before it, at the normal clock */
  double lost;    /* by which it was longer */
  double at_most; /* of it, what this PE's own clock can have cost in one instance */
} wtl_doubt;

/* What is known of a region. */
typedef struct wtl_region {
  uint64_t key; /* 0: free */
  uint32_t instances, unseen, acted;
  uint32_t stay_away, last_stay;   /* instances to come at the normal clock, after a loss; how many it was last time */
  uint32_t level;                  /* to which its computing was stretched last; 0: never */
  wtl_slack compute, slack, whole; /* of instances at the normal clock */
  wtl_mean normal, changed;        /* an instance's length at the normal clock, and with a clock changed */
  wtl_doubt doubt;
  uint64_t compute_ticks, slack_ticks, lost_ticks; /* sums over instances that were seen, for the profile */
} wtl_region;

/* Ticks at another clock than the normal one, and the same times that clock as a share of the base clock: sums, for the
 * model of joules. */
typedef struct wtl_off_clock {
  uint64_t computed, waited[WTL_N_STAGES];
  double computed_clock, waited_clock;
} wtl_off_clock;

typedef struct wtl_governor {
  enum wtl_govern_mode mode;
  enum wtl_scaling scaling;
  bool is_fixed;  /* a plan's clock, and nothing else */
  double allowed; /* share of the time that may be lost */
  wtl_vote vote;
  const _Atomic uint64_t *waited; /* ticks that this PE has waited so far, by stage: the door's */
  uint64_t unbooked;              /* and what the door does not know of */
  uint64_t moment;                /* ticks: what is over by then is no business of the governor's */
  uint64_t (*clock)(void);        /* tests have their own */
  uint64_t price;                 /* of one change, learned */
  uint64_t settle;                /* the part of it in which the clock follows */
  uint32_t level;                 /* what it wants while it computes */
  bool is_slow;                   /* it is in slack, and has voted for the lowest */
  bool in_barrier;
  bool holds;       /* a transfer keeps it at the lowest, whatever waits end meanwhile */
  bool passes_by;   /* the region is one of those that are too short for anything */
  bool is_unseen;   /* and the barrier it is in one that is only counted */
  uint32_t unseen;  /* barriers to come of that kind */
  uint32_t passed;  /* of those left behind, how many the region does not know of yet */
  uint64_t arrived; /* at the barrier */
  uint32_t phase;
  wtl_region *region;                   /* the one that runs; NULL before the first barrier */
  uint64_t region_since, waited_before; /* the tick at which it began, and what had been waited by then */
  uint64_t region_waited;               /* in it, up to its barrier */
  uint64_t last_whole;                  /* ticks of the region before it */
  bool acts;                            /* this instance is no control, and the budget is not spent */
  bool eases;                           /* it is one, but its waits may be slow */
  bool has_acted;
  bool began_by_change; /* the clock was changed as this instance began */
  bool was_raised;      /* by an early PE, in this instance */
  bool is_broke;        /* more is lost than allowed: until half of it is earned back */
  uint64_t started;
  double lost;                     /* ticks */
  uint64_t slow_ticks, slow_since; /* at the lowest clock, in slack: a sum for the profile */
  wtl_off_clock off;
  wtl_region marked[WTL_REGIONS]; /* by key, open addressing */
} wtl_governor;

/* `price`: of a change, of which `settle` is the part after the write. `vote`, started, is the caller's to stop;
 * `waited`, by stage, outlives the governor. Both are in place. `clock`: a plan's share of the normal clock, or 0 for
 * none. */
void wtl_governor_start(wtl_governor *g, const wtl_settings *settings, uint64_t price, uint64_t settle, uint32_t clock,
                        uint64_t now);

/* Gives back its vote: the normal clock. */
void wtl_governor_stop(wtl_governor *g, uint64_t now);

/*
 * A wait of a site, which began at `since`, lasts; its call is counted. Returns after how many ticks of it the governor
 * is to be told that it goes on: 0 for at once, UINT64_MAX for never.
 */
uint64_t wtl_governor_wait(wtl_governor *g, const wtl_site *site, uint64_t since);

/* The wait goes on: it is slack. */
void wtl_governor_slack(wtl_governor *g, uint64_t now);

/* Of a wait, the time from one tick to another was spent in a stage: told before the clock changes at its end. */
void wtl_governor_book_off(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to);
static inline void wtl_governor_book(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to)
{
  if (WTL_UNLIKELY(!wtl_vote_is_normal(&g->vote))) wtl_governor_book_off(g, stage, from, to);
}

/* A wait of which the governor was told, or slack, and that began at `since`, is over. */
void wtl_governor_go_on(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now);

/* The same of one that the door did not see. */
void wtl_governor_go_on_unbooked(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now);

/* Ticks that this PE has waited so far. */
uint64_t wtl_governor_waited(const wtl_governor *g);

/* A transfer is at the lowest clock from now on, all its waits and what lies between them; and it is over
 * (transfers.h). */
void wtl_governor_hold(wtl_governor *g, uint64_t now);
void wtl_governor_release(wtl_governor *g, uint64_t now);

/* What a change of clock there and back costs, ticks: a wait that is shorter is worth none. */
uint64_t wtl_governor_worth(const wtl_governor *g);

/* This PE has come to a barrier, which ends its region; it leaves it, and another begins. */
void wtl_governor_arrive(wtl_governor *g, uint64_t now);
void wtl_governor_depart(wtl_governor *g, uint64_t site, uint64_t now);

/* It leaves a barrier that was only counted, the last of its row or into another region. */
void wtl_governor_pass(wtl_governor *g, uint64_t site);

/* The same for who has no time to lose. */
static inline void wtl_governor_enter_barrier(wtl_governor *g)
{
  if (g->unseen)
    g->is_unseen = g->in_barrier = true;
  else
    wtl_governor_arrive(g, g->clock());
}

static inline void wtl_governor_leave_barrier(wtl_governor *g, uint64_t site)
{
  if (!g->is_unseen) {
    wtl_governor_depart(g, site, g->clock());
  } else if (g->unseen > 1 && site == g->region->key) {
    g->is_unseen = g->in_barrier = false;
    g->unseen--;
    g->passed++;
  } else {
    wtl_governor_pass(g, site);
  }
}

/* The most that a PE of this node waited at the end of its last region, WTL_WAITS_*. What nodes tell each other in a
 * barrier: the most of all, which each then finds in wtl_votes.far_waits. */
unsigned wtl_governor_node_waits(const wtl_governor *g);

/* The program marks a region of its own: it begins, or ends; `key`: of its name. */
void wtl_governor_mark(wtl_governor *g, uint64_t key, bool begins, uint64_t now);

#endif
