/*
 * thresholds.h - learns the size from which a PE sleeps until a transfer to another node is done, by kind of transfer.
 *
 * DESIGN. Sleeping pays where the transfer takes at least 5 % less CPU time and at most 5 % longer, the rule of Vishnu
 * et al. ("Designing energy efficient communication runtime systems for data centric programming models", 2010).
 * Thresholds start at the paper's values (64 processes, InfiniBand, 2.33 and 1.9 GHz) and follow the costs measured
 * here. So that both ways are known, some transfers are trials that wait the other way than their size says. The loss
 * of trials, in time or in CPU time, is at most a share of the time that passes (WATTLE_SLOWDOWN).
 *
 * The time of a transfer also depends on how the other PE waits. Of two sleeping PEs each would find polling no faster.
 * So all PEs try at the same time, in slots of the wall clock, on which nodes with NTP agree to about 0.1 ms. Without a
 * common clock each PE tries alone.
 *
 * Sizes are grouped by powers of two. Where sleeping pays for one size it pays for larger ones, so only sizes next to
 * the threshold are tried. A trial is compared with a usual transfer soon after it, so that other work on the machine
 * affects both. The last comparisons together decide. The medians of the last few transfers give the usual cost of each
 * way. The threshold lies where the fewest sizes are on its wrong side.
 *
 * All times are in ns. The caller passes them, except for `clock`, which is read where a trial is possible. One thread
 * only.
 */
#ifndef WTL_GOVERN_THRESHOLDS_H
#define WTL_GOVERN_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wtl_transfer_kind { WTL_PUTS, WTL_GETS, WTL_ACCS, WTL_STRIDED, WTL_TRANSFER_KINDS };

enum { WTL_SIZE_CLASSES = 32, WTL_TRIES = 8, WTL_SURE = 10, WTL_TRIALS_A_SLOT = 4 };

/* The last costs of transfers of one size, waited for in one way. */
typedef struct wtl_tried {
  float ns[WTL_TRIES], cpu_ns[WTL_TRIES];
  uint32_t n; /* transfers so far */
} wtl_tried;

typedef struct wtl_size_class {
  wtl_tried way[2]; /* polling, sleeping */
  uint32_t turn,
      last_turn; /* transfers of this size since its usual cost is known; the number in the job of the last one */
  /* The trials of the present slot, and the number of them that are not compared yet. */
  uint64_t slot;
  uint8_t tried, kept;
  bool trials_slept;
  float trial_ns[WTL_TRIALS_A_SLOT], trial_cpu_ns[WTL_TRIALS_A_SLOT];
  /* Evidence that sleeping is quick enough, and that it is cheaper; negative: that it is not. At most WTL_SURE either
   * way, so that it follows changes. */
  float quick, cheap;
  uint8_t verdict; /* WTL_UNDECIDED, ... */
} wtl_size_class;

enum { WTL_UNDECIDED, WTL_POLLS, WTL_SLEEPS };

typedef struct wtl_thresholds {
  uint64_t bytes[WTL_TRANSFER_KINDS]; /* transfers of at least this size sleep */
  bool learns;
  double allowed; /* share of the time that learning may cost */
  double wake_ns; /* the assumed cost of a sleep before one was tried */
  double measuring_ns;
  double started, lost[2];
  double (*clock)(void);
  double wall; /* the difference of the wall clock to `clock` */
  uint32_t turns;
  uint64_t trials;
  wtl_size_class size[WTL_TRANSFER_KINDS][WTL_SIZE_CLASSES];
} wtl_thresholds;

/* How to wait for one transfer. `measured`: report its cost to wtl_thresholds_learn. */
typedef struct wtl_choice {
  bool sleeps, measured, is_trial;
  double expected_ns; /* the assumed loss of a trial */
} wtl_choice;

/* `text`: the value of WATTLE_THRESHOLDS. Returns 0, or -1 with the reason in `error`. */
int wtl_thresholds_read(const char *text, uint64_t bytes[WTL_TRANSFER_KINDS], bool *learns, char *error, size_t size);

/* `text`: a correct value. `allowed`: the share of the time that learning may cost; trials take a quarter of it.
 * `measuring_ns`: the cost of measuring one transfer. `wall`: the difference of the wall clock to `clock`. */
void wtl_thresholds_start(wtl_thresholds *t, const char *text, double allowed, double wake_ns, double measuring_ns,
                          double (*clock)(void), double wall);

wtl_choice wtl_thresholds_choose(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* Learns from a measured transfer: its time, and its CPU time. */
void wtl_thresholds_learn(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes, wtl_choice how, double ns,
                          double cpu_ns);

/* The usual time of a transfer of that size; NaN if unknown. */
double wtl_thresholds_usual(const wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* "put", "get", "acc", "strided": the names in the setting and the profile. */
const char *wtl_transfer_name(enum wtl_transfer_kind kind);

#endif
