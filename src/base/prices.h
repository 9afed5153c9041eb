/*
 * prices.h - what ways of waiting cost on this machine, as `wattle calibrate` measured and stored it.
 *
 * The file is a hint, and may be anything: where it is missing, broken, huge, no regular file, or was measured on another
 * machine, no price is known and the reason is kept. The key of a machine is its CPU's model, its kernel and how many
 * cores it has; the file's name also has the host's name, so that hosts which share a home do not take each other's.
 */
#ifndef WTL_BASE_PRICES_H
#define WTL_BASE_PRICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/settings.h"

/* Each in seconds. Sleeps: from the waker's call until the sleeper runs, in another process. */
enum wtl_price {
  WTL_PRICE_SPIN_OTHER,         /* a store until another core sees it */
  WTL_PRICE_LOWPOWER_WAKE,      /* the same, where that core waits by its low-power instruction */
  WTL_PRICE_LOWPOWER_LATE,      /* a low-power wait until a time: how much later it comes back */
  WTL_PRICE_FUTEX_OTHER,        /* asleep in futex, on another core than its waker's */
  WTL_PRICE_FUTEX_SAME,         /* on the same core */
  WTL_PRICE_EPOLL_OTHER,        /* asleep in epoll on an eventfd */
  WTL_PRICE_EPOLL_SAME,         /* on the same core */
  WTL_PRICE_YIELD_ALONE,        /* sched_yield where nobody else wants the core */
  WTL_PRICE_YIELD_TO_YIELDING,  /* where another process on it yields, too */
  WTL_PRICE_YIELD_TO_COMPUTING, /* where another process on it computes */
  WTL_PRICE_FENCE,              /* a full fence after a store */
  WTL_PRICE_MEMBARRIER,         /* membarrier(GLOBAL_EXPEDITED), for its caller */
  WTL_PRICE_MEMBARRIER_PEER,    /* for each registered process that runs meanwhile */
  WTL_PRICE_TICKS,              /* wtl_ticks */
  WTL_PRICE_CLOCK,              /* clock_gettime(CLOCK_MONOTONIC) */
  WTL_PRICES
};

/* Each price was measured with the other core idle, and with a process on it that computes (or polls the fence's
 * line). */
enum wtl_price_beside { WTL_BESIDE_IDLE, WTL_BESIDE_PEER, WTL_BESIDES };

typedef struct wtl_prices {
  bool known;                               /* at least one price is */
  double median_s[WTL_PRICES][WTL_BESIDES]; /* NaN: not known */
  char file[512];                           /* where they came from, or would have; "" where nothing was looked for */
  char why[768];                            /* where none is known: the reason, a whole sentence */
} wtl_prices;

/* Their names in the file: "futex_other", "idle". */
extern const char *const wtl_price_names[WTL_PRICES];
extern const char *const wtl_price_besides[WTL_BESIDES];

enum { WTL_PRICES_SCHEMA = 1 };

/* What this machine is known by. */
typedef struct wtl_prices_machine {
  char host[65], cpu[96], kernel[65];
  int cores;
} wtl_prices_machine;

void wtl_prices_this_machine(wtl_prices_machine *machine);

/* The file for `machine` in the user's cache: $XDG_CACHE_HOME/wattle or $HOME/.cache/wattle. False, with the reason in
 * `why`, where there is no such folder or its name is too long. */
bool wtl_prices_file(const wtl_prices_machine *machine, char *file, size_t size, char *why, size_t why_size);

/* Reads what the setting WATTLE_PRICES says: this machine's file (auto), another (a path), or nothing (none). Costs a
 * few system calls and about 50 us; nothing in it can fail but for p->known. */
void wtl_prices_read(const wtl_settings *settings, wtl_prices *p);

/* Where learning what a sleep and a wake-up cost may start, in seconds; NaN where that is not known. crowded: more PEs
 * than cores, so that the waker is on the sleeper's core. far: sleepers wait in epoll. */
double wtl_prices_wake(const wtl_prices *p, bool crowded, bool far);

/* What a PE that yields to another that yields, too, takes of the core: one switch, in seconds; NaN where that is not
 * known. */
double wtl_prices_turn(const wtl_prices *p);

#endif
