/*
 * governor.h - decides which clock a PE wants, and when.
 *
 * DESIGN. The terms are those of the papers (docs/governor.md). A power management region (PMR) lies between two
 * synchronizations of this PE: barriers and collectives of any group, long waits for single PEs, or two marks of the
 * program. The governor learns at hint points (PHP): the end of a wait or of a region. It changes a clock at control
 * points (PCP): when slack begins (scaling reactive) or when a region begins (scaling proactive).
 *
 * Groups (sync_group.h). A PE that arrives at a barrier no later than the last PE of its group delays no other PE. So
 * its computing may take all of its slack. PEs of one group compare their waits with each other only.
 *
 * Waits for single PEs. A PE that waits for a signal may itself be awaited by others, who do not appear in its waits.
 * So computing before such a wait is stretched in steps: the first one is as long as the budget can pay, and each
 * doubles if its instances have not become longer. While steps are too short for a change, the wait itself runs at the
 * lowest clock. Waits in a row, as for several neighbours, are one.
 *
 * A clock changes only if the predicted wait (slack.h) exceeds two changes, down and up, at their measured cost.
 * Without a prediction it changes the clock after a wait of two changes. The loss is then at most those two changes.
 *
 * The governor measures its own effect. Control instances run at the normal clock: the first ones of a region, instance
 * WTL_CONTROL_FIRST, and one in WTL_CONTROL later. Lost time is the time by which other instances are usually longer
 * (usual.h), or by which this PE's clock can have made it late. Without a region it is the cost of raising the clock
 * after a wait. The cost of a change rises if the PE usually computes longer after one. Once the loss exceeds the
 * user's share of the time, no clock changes until it is at most half of that share. With proactive scaling the waits
 * of some control instances run at the lowest clock: a slow wait does not make an instance with slack longer.
 *
 * While a PE waits in a barrier at the lowest clock, it also votes for the lowest clock of the uncore. In other waits
 * and during transfers bytes may move. Control instances measure the loss of both.
 *
 * With proactive scaling, modes energy and hybrid also lower the clock of a region in which memory sets the pace
 * (intensity.h), although it has no slack. That costs time: at most 15/16 of the user's share, predicted from the
 * counters, judged by control instances like any other change. A region is first tried once at a lower clock, when half
 * of the remaining budget pays for it even if all computing follows the clock. Without counters this part is left out.
 *
 * Regions shorter than two changes gain nothing, and there may be a million of them a second. Of these only one barrier
 * in WTL_UNSEEN + 1 is examined and the others are counted. A long wait ends this at once, and the next examined
 * barrier shows a region that has become long. The wait door also does not report waits below WTL_MOMENT_NS. Their sum
 * is part of the door's own account.
 *
 * A PE has one governor. A PE with several threads has none, because the wait of one thread is not slack of the PE. All
 * times are ticks. The caller passes them; the governor reads a clock only around a write and at barriers.
 */
#ifndef WTL_GOVERN_GOVERNOR_H
#define WTL_GOVERN_GOVERNOR_H

#include "base/settings.h"
#include "govern/clock_watts.h"
#include "govern/extent.h"
#include "govern/sync_group.h"
#include "govern/intensity.h"
#include "govern/power_watch.h"
#include "govern/slack.h"
#include "govern/usual.h"
#include "govern/vote.h"
#include "os/os.h"
#include "profile/profile.h"

enum { WTL_LEARN = WTL_SLACK_RECENT, WTL_CONTROL_FIRST = 16, WTL_CONTROL = 64 };
enum { WTL_STEP_OF = 3 }; /* instances that show the effect of a step */
enum { WTL_REGIONS = 64, WTL_UNSEEN = 15, WTL_MOMENT_NS = 1000 };

/* A suspicion: an instance with a changed clock took longer than is allowed. The cause is the clock or a new phase of
 * the program. In ticks. */
typedef struct wtl_suspicion {
  bool is_open;
  bool is_of_length; /* of instances, not only of this PE's computing after a change of clock */
  double normal;     /* the usual length before it, at the normal clock */
  double longer;     /* the excess over that */
  double lost;       /* the excess of all compared instances */
  double plain;      /* this PE's usual computing without a change of clock ... */
  double stall;      /* ... and by how much it is longer after one; 0: not suspected */
  double stalled;    /* the loss by that beyond the price */
  double at_most;    /* the part of it that this PE's own clock can explain in one instance */
} wtl_suspicion;

/* The data about a region. */
typedef struct wtl_region {
  uint64_t key; /* 0: free */
  uint32_t instances, unseen, acted;
  uint32_t stay_away, last_stay;   /* instances at the normal clock after a loss: still to come, in all */
  uint32_t level;                  /* the clock to which its computing was last stretched; 0: never */
  wtl_slack compute, slack, whole; /* of instances at the normal clock */
  wtl_usual normal, changed;       /* the length of a control, and of an instance that may change the clock */
  wtl_usual plain, after;          /* its computing at the normal clock, without and after a change of clock */
  double longest;                  /* its longest computing so far, as at the normal clock; fades */
  wtl_extent extent;               /* of its lengths */
  uint32_t acts;                   /* bits: whether the last ones of the latter did, the last one first */
  uint32_t late;                   /* bits: whether its lower clock may have kept others waiting in those */
  uint64_t meets;                  /* the group whose barrier followed it, if it began at a barrier */
  uint64_t waited_at;              /* tick at which the last long wait of its call ended */
  double step;                     /* before a wait for single PEs: its computing may be longer by so many ticks ... */
  wtl_usual stepped;               /* the length of the instances of this step */
  uint32_t rest, last_rest;        /* ... but none in so many instances: still to come, in all */
  bool is_single;                  /* it ended by a wait for single PEs */
  uint32_t learned;                /* bits: the values to which its last instance was added (lessons.c) */
  bool was_empty;                  /* its last instance had hardly any computing */
  wtl_intensity intensity;         /* how much of its computing follows the clock */
  bool repeats;                    /* its last instance followed another one of it */
  wtl_suspicion suspicion;
  uint64_t compute_ticks, slack_ticks, lost_ticks; /* sums over the examined instances, for the profile */
} wtl_region;

/* Ticks at other clocks than the normal one, and the same times the share of the base clock: sums for the energy
 * model. */
typedef struct wtl_off_clock {
  uint64_t computed, waited[WTL_N_STAGES];
  double computed_clock, waited_clock;
} wtl_off_clock;

typedef struct wtl_governor {
  enum wtl_govern_mode mode;
  enum wtl_scaling scaling;
  bool is_fixed;  /* a planned clock, which never changes, or one that the budget of watts chooses */
  double allowed; /* share of the time that may be lost */
  wtl_vote vote;
  wtl_vote uncore;                           /* without domains if the uncore is not governed */
  double unheard;                            /* nodes that exchange no state, with this one; 0: all others do */
  const _Atomic uint64_t *waited;            /* ticks that this PE has waited so far, by stage; the door counts them */
  uint64_t unrecorded;                       /* ticks of waits that the door did not see */
  uint64_t moment;                           /* ticks: shorter waits do not reach the governor */
  uint64_t (*clock)(void);                   /* tests replace it */
  bool (*count)(void *arg, wtl_counts *now); /* reads the counters of this thread; NULL: there are none */
  void *count_arg;
  wtl_clock_watts watts;
  wtl_power_watch *power; /* the budget of watts; NULL: none */
  uint64_t price;         /* of one change, learned */
  uint64_t settle;        /* the part of it until the core follows and computes, learned from regions ... */
  uint64_t least_settle;  /* ... and as it was measured at the start */
  uint32_t price_stays;   /* rounds of control instances after which the former shrinks towards the latter */
  uint32_t level;         /* the vote while it computes */
  bool is_slow;           /* it is in slack and has voted for the lowest clock */
  wtl_sync_group group;   /* of the present or last barrier */
  wtl_region *origin;     /* the region that began at the last barrier */
  bool in_barrier;
  bool moves;       /* ... in which bytes may move: another collective */
  bool is_marked;   /* the program marks the present region, so no wait ends it */
  bool holds;       /* a transfer keeps it at the lowest clock, even when waits end */
  bool skips;       /* regions like this one are too short for any change */
  bool is_unseen;   /* ... and the present barrier is only counted */
  uint32_t unseen;  /* such barriers still to come */
  uint32_t skipped; /* such barriers that are not yet added to their region */
  uint64_t arrived; /* tick of the arrival at the barrier */
  uint32_t phase;
  wtl_region *region;                   /* the present one; NULL before the first barrier */
  uint64_t region_since, waited_before; /* its first tick, and the ticks waited by then */
  uint64_t region_waited;               /* ticks waited in it, up to its barrier */
  uint64_t last_whole;                  /* ticks of the region before it */
  wtl_region *last;                     /* the region that the last long wait for a single PE ended; NULL: none did */
  uint64_t row;                         /* ticks of the waits in a row before this one, if it computes hardly ... */
  uint32_t in_row;                      /* ... their number ... */
  double delay;                         /* ... and what the change of clock at the end of the last one has cost */
  bool acts;                            /* this instance is no control, and the budget is not spent */
  bool lowers_waits;                    /* a control instance in which waits may run at the lowest clock */
  bool reacts; /* its waits may change the clock: scaling is reactive, or its computing is not lowered */
  bool has_acted;
  bool began_short;     /* it began in a row of regions that are too short, so its wait is not compared */
  bool began_by_change; /* the clock changed as this instance began */
  bool spends;          /* its clock costs time although it has no slack for it: memory sets its pace */
  bool tries;           /* it runs once at a lower clock, so that the counters show what that costs */
  bool counts;          /* ... and the counters have been read at its begin */
  wtl_counts counted;   /* their sums at its begin; once has_counted is set, the counts of its computing */
  uint64_t polled;      /* the same for ticks polled in waits, which the counters include */
  bool has_counted;
  bool was_raised; /* by an early PE, in this instance */
  bool is_broke;   /* more than allowed was lost, and still more than half of that is */
  uint64_t started;
  double longest;                  /* the longest computing of all regions so far, as at the normal clock; ticks */
  double lost;                     /* ticks */
  double late;                     /* the part of it that this PE's own clock has caused in the present instance ... */
  uint64_t caused;                 /* ... and what of that is in wtl_votes.caused, in all */
  uint64_t slow_ticks, slow_since; /* at the lowest clock, in slack: a sum for the profile */
  uint64_t bound_ticks;            /* computed at a lower clock because memory set the pace: also a sum */
  wtl_off_clock off;
  wtl_region marked[WTL_REGIONS]; /* by key, open addressing */
} wtl_governor;

/* `price`: the cost of a change; `settle`: its part after the write. g->vote, g->uncore and g->waited are set before,
 * and g->unheard, g->count, g->watts and g->power may be. The caller stops the votes, and `waited` outlives the
 * governor.
 * `clock`: a planned share of the normal clock, or 0 for none. */
void wtl_governor_start(wtl_governor *g, const wtl_settings *settings, uint64_t price, uint64_t settle, uint32_t clock,
                        uint64_t now);

/* Votes for the normal clock and stops. */
void wtl_governor_stop(wtl_governor *g, uint64_t now);

/* A wait of `site` that began at `since` lasts; its call is counted already. Returns after how many ticks of it
 * wtl_governor_slack is to be called: 0 for at once, UINT64_MAX for never. */
uint64_t wtl_governor_wait(wtl_governor *g, const wtl_site *site, uint64_t since);

/* The wait goes on: it is slack. */
void wtl_governor_slack(wtl_governor *g, uint64_t now);

/* The slack goes on at `now`. Returns after how many ticks of the wait wtl_governor_ready is to be called, because the
 * wait for a single PE will soon end: UINT64_MAX for never. The clock then rises, so that the change back delays no
 * other PE. */
uint64_t wtl_governor_rise(const wtl_governor *g, uint64_t since, uint64_t now);
void wtl_governor_ready(wtl_governor *g, uint64_t now);

/* Records the time of a wait that was spent in a stage. To be called before the clock changes at the end of the
 * wait. */
void wtl_governor_record_pause(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to);
static inline void wtl_governor_record(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to)
{
  if (WTL_UNLIKELY(!wtl_vote_is_normal(&g->vote))) wtl_governor_record_pause(g, stage, from, to);
}

/* Ends a wait that began at `since` and that was reported to the governor. */
void wtl_governor_continue(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now);

/* Does the same for a wait that the door did not see. */
void wtl_governor_continue_unrecorded(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now);

/* Ticks that this PE has waited so far. */
uint64_t wtl_governor_waited(const wtl_governor *g);

/* Holds the lowest clock during a transfer, its waits and the time between them (transfers.h), until released. */
void wtl_governor_hold(wtl_governor *g, uint64_t now);
void wtl_governor_release(wtl_governor *g, uint64_t now);

/* The cost of two changes of clock, in ticks. A shorter wait is worth none. */
uint64_t wtl_governor_worth(const wtl_governor *g);

/* This PE arrives at a barrier of g->group, which ends its region. It leaves the barrier, and the region `key`
 * begins. */
void wtl_governor_arrive(wtl_governor *g, uint64_t now);
void wtl_governor_depart(wtl_governor *g, uint64_t key, uint64_t now);

/* Leaves a barrier that was only counted and that is the last of its row or leads into another region. */
void wtl_governor_leave_counted(wtl_governor *g, uint64_t key);

/* The short paths of arriving and leaving for barriers that are only counted. False: this PE is in a barrier already,
 * which is a part of another collective, and must not call leave. `moves`: bytes may move until it leaves. */
static inline bool wtl_governor_enter(wtl_governor *g, const wtl_sync_group *group, bool moves)
{
  if (g->in_barrier) return false;
  g->moves = moves;
  g->group = *group;
  if (g->unseen)
    g->is_unseen = g->in_barrier = true;
  else
    wtl_governor_arrive(g, g->clock());
  return true;
}

/* `site`: the address of the call. */
static inline void wtl_governor_leave(wtl_governor *g, uint64_t site)
{
  uint64_t key = site ^ g->group.key;
  if (!g->is_unseen) {
    wtl_governor_depart(g, key, g->clock());
  } else if (g->unseen > 1 && key == g->region->key) {
    g->is_unseen = g->in_barrier = false;
    g->unseen--;
    g->skipped++;
  } else {
    wtl_governor_leave_counted(g, key);
  }
}

/* True if all PEs must now exchange their watts: in a synchronization of all of them, before wtl_governor_leave. Then
 * each adds the result of wtl_governor_share_watts to a sum, which all pass to wtl_governor_hear_watts. */
static inline bool wtl_governor_exchanges_watts(const wtl_governor *g)
{
  return g->power && !g->group.key && !g->power->left;
}

void wtl_governor_share_watts(wtl_governor *g, wtl_power_part *mine, uint64_t now);
void wtl_governor_hear_watts(wtl_governor *g, const wtl_power_part *all, uint64_t now);

/* The state of this node's PEs of the group in their last region, which the nodes exchange in a barrier. */
unsigned wtl_governor_state(const wtl_governor *g);

/* Receives the merged state of all nodes. One PE of the node calls it, before the others leave the barrier. */
void wtl_governor_hear(wtl_governor *g, unsigned state);

/* Begins or ends a region that the program marks. `key`: a hash of its name. */
void wtl_governor_mark(wtl_governor *g, uint64_t key, bool begins, uint64_t now);

#endif
