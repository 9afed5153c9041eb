/*
 * prices.h - reads the costs of ways of waiting on this machine, as `wattle calibrate` measured and stored them.
 *
 * The file is a hint. If it is absent, broken, too long, no regular file, or measured on another machine, no price is
 * known and the reason is kept. The key of a machine is its CPU model, its kernel and its number of cores. The file
 * name also contains the host name, so that hosts with a shared home folder use their own files.
 */
#ifndef WTL_BASE_PRICES_H
#define WTL_BASE_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/settings.h"

/* In seconds. Sleeps: from the waker's call until the sleeper runs, in another process. */
enum wtl_price {
  WTL_PRICE_SPIN_OTHER,         /* from a store until another core sees it */
  WTL_PRICE_LOWPOWER_WAKE,      /* the same if that core waits by its low-power instruction */
  WTL_PRICE_LOWPOWER_LATE,      /* a low-power wait with a time limit: how late it returns */
  WTL_PRICE_FUTEX_OTHER,        /* asleep in futex, on another core than its waker */
  WTL_PRICE_FUTEX_SAME,         /* ... on the same core */
  WTL_PRICE_EPOLL_OTHER,        /* asleep in epoll on an eventfd, on another core */
  WTL_PRICE_EPOLL_SAME,         /* ... on the same core */
  WTL_PRICE_YIELD_ALONE,        /* sched_yield if no other thread wants the core */
  WTL_PRICE_YIELD_TO_YIELDING,  /* if another process there also yields */
  WTL_PRICE_YIELD_TO_COMPUTING, /* if another process there computes */
  WTL_PRICE_FENCE,              /* a full fence after a store */
  WTL_PRICE_MEMBARRIER,         /* membarrier(GLOBAL_EXPEDITED), for its caller */
  WTL_PRICE_MEMBARRIER_PEER,    /* ... for each registered process that runs meanwhile */
  WTL_PRICE_TICKS,              /* wtl_ticks */
  WTL_PRICE_CLOCK,              /* clock_gettime(CLOCK_MONOTONIC) */
  WTL_PRICES
};

/* Each price was measured with the other core idle, and with a process on it that computes (or polls the fence's cache
 * line). */
enum wtl_price_beside { WTL_BESIDE_IDLE, WTL_BESIDE_PEER, WTL_BESIDES };

typedef struct wtl_prices {
  bool known;                               /* at least one price is known */
  double median_s[WTL_PRICES][WTL_BESIDES]; /* NaN: not known */
  char file[512];                           /* the file, read or absent; "" if none was looked for */
  char why[768];                            /* the reason if no price is known, a whole sentence */
} wtl_prices;

/* The names in the file: "futex_other", "idle". */
extern const char *const wtl_price_names[WTL_PRICES];
extern const char *const wtl_price_besides[WTL_BESIDES];

enum { WTL_PRICES_SCHEMA = 1 };

/* The key of this machine. */
typedef struct wtl_prices_machine {
  char host[65], cpu[96], kernel[65];
  int cores;
} wtl_prices_machine;

void wtl_prices_this_machine(wtl_prices_machine *machine);

/* The file for `machine` in the user's cache folder: $XDG_CACHE_HOME/wattle or $HOME/.cache/wattle. False, with the
 * reason in `why`, if there is no such folder or its name is too long. */
bool wtl_prices_file(const wtl_prices_machine *machine, char *file, size_t size, char *why, size_t why_size);

/* Reads the file of the setting WATTLE_PRICES: this machine's file (auto), another one (a path), or none. Costs a few
 * system calls and about 50 us. A failure only clears p->known. */
void wtl_prices_read(const wtl_settings *settings, wtl_prices *p);

/* Prints the member of the file that wtl_prices_read reads: "for_programs":"...". */
void wtl_prices_print(FILE *out, const wtl_prices *p, const wtl_prices_machine *machine);

/* The first cost of a sleep and a wake-up for learning, in seconds; NaN if unknown. `crowded`: more PEs than cores, so
 * the waker runs on the sleeper's core. `far`: sleepers wait in epoll. */
double wtl_prices_wake(const wtl_prices *p, bool crowded, bool far);

/* The time on the core of one turn of a PE that yields to another yielding one: one switch, in seconds; NaN if
 * unknown. */
double wtl_prices_turn(const wtl_prices *p);

#endif
