/*
 * thresholds.h - from which size on it pays to sleep until a transfer to another node is done, by kind of transfer.
 *
 * It pays where the transfer then costs less time on cores, by 5 %, and takes no more than 5 % longer: what Vishnu et al.
 * ("Designing energy efficient communication runtime systems for data centric programming models", 2010) asked for.
 * Thresholds start where they found them (64 processes, InfiniBand, 2.33 and 1.9 GHz), and follow what transfers cost
 * here. So that both ways are known, some transfers go the other way than their size says: few, for what these lose, in
 * time or in time on cores, may be no more than a share of the time that passes (WATTLE_SLOWDOWN).
 *
 * What one PE tries alone says little: how long a transfer takes follows from the other PE's way, too, and of two that
 * sleep each would find polling no faster. So all PEs try at the same time: in slots of the wall clock, on which the nodes
 * of a cluster agree to some 0.1 ms where it is set by NTP. (Where they do not, each tries alone.)
 *
 * Sizes are told apart by powers of two. Where sleeping pays for one size it does for larger ones: only those next to the
 * threshold are tried. A trial is compared with a transfer of the usual way soon after it, which what else the machine
 * does touches alike; which way is the better one, the last comparisons say together. What either way usually costs, the
 * medians of the last few say. The threshold lies where the fewest sizes are on the wrong side of it.
 *
 * All times in ns, and given by the caller but for `clock`, which is read where a transfer might go the other way. One
 * thread.
 */
#ifndef WTL_GOVERN_THRESHOLDS_H
#define WTL_GOVERN_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wtl_transfer_kind { WTL_PUTS, WTL_GETS, WTL_ACCS, WTL_STRIDED, WTL_TRANSFER_KINDS };

enum { WTL_SIZE_CLASSES = 32, WTL_TRIES = 8, WTL_SURE = 10, WTL_TRIALS_A_SLOT = 4 };

/* What transfers of a size cost one way: the last of them. */
typedef struct wtl_tried {
  float ns[WTL_TRIES], cpu_ns[WTL_TRIES];
  uint32_t n; /* ever */
} wtl_tried;

typedef struct wtl_size_class {
  wtl_tried way[2];         /* polling, sleeping */
  uint32_t turn, last_turn; /* its transfers since the usual way is known; of all of a job, the last one of this size */
  /* The trials of a slot, and those of them that are still to be compared with the usual way. */
  uint64_t slot;
  uint8_t tried, kept;
  bool trials_slept;
  float trial_ns[WTL_TRIALS_A_SLOT], trial_cpu_ns[WTL_TRIALS_A_SLOT];
  /* The comparisons' evidence that sleeping is quick enough, and cheaper, or that it is not (< 0); at most WTL_SURE
   * either way, so that it follows what changes. */
  float quick, cheap;
  uint8_t verdict; /* WTL_UNDECIDED, ... */
} wtl_size_class;

enum { WTL_UNDECIDED, WTL_POLLS, WTL_SLEEPS };

typedef struct wtl_thresholds {
  uint64_t bytes[WTL_TRANSFER_KINDS]; /* from here on transfers sleep */
  bool learns;
  double allowed; /* share of the time that learning may cost */
  double wake_ns; /* what a sleep is taken to cost before one was tried */
  double measuring_ns;
  double started, lost[2];
  double (*clock)(void);
  double wall; /* what the wall clock is ahead of `clock` */
  uint32_t turns;
  uint64_t trials;
  wtl_size_class size[WTL_TRANSFER_KINDS][WTL_SIZE_CLASSES];
} wtl_thresholds;

/* How one transfer is to be waited for. `measured`: tell wtl_thresholds_learn what it cost. */
typedef struct wtl_choice {
  bool sleeps, measured, is_trial;
  double expected_ns; /* what a trial was taken to lose */
} wtl_choice;

/* `text`: the value of WATTLE_THRESHOLDS. 0; or -1, with what is wrong in `error`. */
int wtl_thresholds_read(const char *text, uint64_t bytes[WTL_TRANSFER_KINDS], bool *learns, char *error, size_t size);

/* `text`: one that can be read. `allowed`: share of the time that learning may cost; trials take a quarter of it.
 * `measuring_ns`: what it takes to measure a transfer. `wall`: what the wall clock is ahead of `clock`. */
void wtl_thresholds_start(wtl_thresholds *t, const char *text, double allowed, double wake_ns, double measuring_ns,
                          double (*clock)(void), double wall);

wtl_choice wtl_thresholds_choose(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* What a measured transfer took, and how much of it on cores. */
void wtl_thresholds_learn(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes, wtl_choice how, double ns,
                          double cpu_ns);

/* How long one of that size usually takes; NaN where that is not known. */
double wtl_thresholds_usual(const wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* "put", "get", "acc", "strided": as the setting and the profile have them. */
const char *wtl_transfer_name(enum wtl_transfer_kind kind);

#endif
