/*
 * power_budget.h - divides a job's budget of watts among its PEs, so that they arrive together (decision 68).
 *
 * DESIGN. An interval lies between two exchanges, which happen at synchronizations of all PEs. At its end each PE adds
 * its part to a sum over all PEs: its mean watts, and the watts with which it would arrive at each of WTL_POWER_POINTS
 * times. From the sum each PE chooses the same times of arrival, and takes its own lowest clock that arrives in time.
 *
 * The values that are equal on all PEs (wtl_power_plan) are computed from sums alone, by the four basic operations on
 * doubles. The sums are integers. So all PEs choose the same without a message about it.
 *
 * Two times of arrival are taken in turn, one within the budget and one above it. Joules that the former saves are
 * spent by the latter. The meter corrects the predicted watts, and joules that were drawn beyond the budget lower the
 * next solution of all PEs.
 *
 * An interval belongs to the call at which it begins. Its next computing time is predicted by the guess that
 * was closest so far.
 *
 * All functions but wtl_budget_part_add need the library's floating-point environment (os/floats.h).
 */
#ifndef WTL_GOVERN_POWER_BUDGET_H
#define WTL_GOVERN_POWER_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "govern/power_clocks.h"
#include "power/sensor/counts.h"

enum { WTL_POWER_POINTS = 24, WTL_POWER_CALLS = 32 };

/* Guesses of the next computing time: as the last one; as it drifts; as the last but one; the mean of many. */
enum { WTL_POWER_AS_LAST, WTL_POWER_DRIFTS, WTL_POWER_ALTERNATES, WTL_POWER_VARIES, WTL_POWER_GUESSES };

/* One PE's part of the exchange, and the sum of all. Times are in WTL_POWER_QUANTUM seconds. */
typedef struct wtl_power_part {
  /* The greatest of all PEs. */
  uint32_t call, not_call; /* bits of the interval's call, and their complement: equal calls show in both */
  uint32_t soonest;        /* the earliest arrival, at the highest clock */
  uint32_t latest;         /* the arrival at the lowest clock */
  uint32_t lasted;         /* the length of the interval */
  uint32_t change;         /* the cost of a change of clock */
  /* The sums of all PEs, in mW. */
  uint32_t drew;                    /* in the mean of the interval */
  uint32_t watts[WTL_POWER_POINTS]; /* in the mean of an interval whose PEs arrive at that time */
} wtl_power_part;

#define WTL_POWER_QUANTUM 128e-9

void wtl_budget_part_add(wtl_power_part *to, const wtl_power_part *from);

/* The data about intervals that begin at one call. */
typedef struct wtl_power_call {
  uint64_t key; /* the call in this process */
  /* Equal on all PEs. */
  bool has_times; /* the PEs know `time`, at which the next exchange states their watts */
  uint32_t time[WTL_POWER_POINTS];
  uint32_t slow, fast;   /* the times of arrival that are taken in turn; slow 0: none is known, fast 0: one */
  double slow_w, fast_w; /* watts in the mean of their intervals, as predicted */
  double above_j;        /* joules beyond the budget in an interval that ends at `fast` */
  double drawn;          /* learned: the watts of the job as a part of the predicted ones; 0: not known */
  /* Of this PE alone. */
  uint32_t n;                                                /* intervals so far */
  double before[2];                                          /* seconds at the normal clock of the last two ... */
  double guess[WTL_POWER_GUESSES], error[WTL_POWER_GUESSES]; /* ... guesses of the next, and how far each was off */
  wtl_power_fit fit;
} wtl_power_call;

/* The state that is equal on all PEs. */
typedef struct wtl_power_plan {
  double budget_w, saved_j; /* of the job */
  bool is_fast;             /* the present interval ends at `fast` */
  double planned_w;         /* in the mean of the present interval, as predicted; 0: not known */
  /* The meter, in seconds and joules of the job. */
  double second_s, second_j;               /* of the present second */
  double all_s, all_j, highest_w, above_s; /* highest: of a second; above: seconds above the budget */
} wtl_power_plan;

typedef struct wtl_power_budget {
  wtl_power_plan plan;
  wtl_power_clocks clocks;
  double equal_w;    /* this PE's equal part of the budget */
  double normal_ghz; /* the normal clock, to which counted cycles are compared */
  double change_s;   /* of one change of clock; the caller keeps it up to date */
  double rests;      /* learned: watts of its waits, as a part of those of spinning */
  wtl_power_call calls[WTL_POWER_CALLS];
  size_t n_calls;
  size_t level;       /* the clock of the present interval, in clocks.at */
  double own_j;       /* joules that this PE drew in all */
  uint32_t exchanges; /* in all */
} wtl_power_budget;

/* An interval of this PE that has ended, in seconds. */
typedef struct wtl_power_interval {
  double lasted, computed, spun, yielded, slept;
  double changed;           /* the part of `computed` that a change of clock took */
  const wtl_counts *counts; /* of its computing; NULL: not known */
} wtl_power_interval;

/* `clocks` and `normal_ghz` are set, the former at least two. `equal_w`: this PE's part of the job's `budget_w`. */
void wtl_budget_power_start(wtl_power_budget *b, double budget_w, double equal_w);

/* The call at which an interval begins; NULL if there are too many. */
wtl_power_call *wtl_budget_call_of(wtl_power_budget *b, uint64_t key);

/* Learns from an interval that began at `c` (NULL: unknown), and makes this PE's part of the exchange. */
void wtl_budget_end(wtl_power_budget *b, wtl_power_call *c, const wtl_power_interval *done, wtl_power_part *mine);

/* Receives the sum of all parts, for the call of wtl_budget_end. */
void wtl_budget_hear(wtl_power_budget *b, wtl_power_call *c, const wtl_power_part *all);

/* Chooses this PE's clock for an interval that begins at `c`: an index in clocks.at. */
size_t wtl_budget_choose(wtl_power_budget *b, const wtl_power_call *c);

/* Seconds of the next interval's computing at clock `k`, as predicted. */
double wtl_budget_takes(const wtl_power_budget *b, const wtl_power_call *c, size_t k);

#endif
