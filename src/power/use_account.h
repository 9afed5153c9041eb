/*
 * use_account.h - the joules of an accelerator by the processes that use it over time.
 *
 * DESIGN. The list of processes is read again and again. The joules between two lists are divided equally among the
 * processes of either list. So a process whose context ends before the job keeps what it drew until then. Joules of a
 * time without processes belong to none.
 */
#ifndef WTL_POWER_USE_ACCOUNT_H
#define WTL_POWER_USE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The joules of one process. */
typedef struct wtl_used {
  int64_t pid;
  double joules;
  double least; /* J between two lists that both have this process alone: these are certain */
  double most;  /* J between all lists that have this process, as if it had drawn everything */
} wtl_used;

enum { WTL_USE_LIST = 256, WTL_USE_PROCESSES = 4096 }; /* most processes of a list, and of all lists */

/* In place of a number of processes: the driver of the accelerator has no list of its processes. */
#define WTL_USE_UNKNOWN SIZE_MAX

/* Initialize it with {0}. */
typedef struct wtl_use_account {
  wtl_used *used;
  size_t n, space;
  int64_t last[WTL_USE_LIST];
  size_t n_last;
  double joules, at; /* at the last list: J so far, and its moment in s */
  bool begun;
} wtl_use_account;

/* Takes a list of processes, read at moment `at`, when the accelerator had drawn `joules` so far. */
void wtl_use_account_take(wtl_use_account *a, double joules, double at, const int64_t *pid, size_t n);

/* Forgets what all processes drew so far. The last list stays. */
void wtl_use_account_start(wtl_use_account *a);

void wtl_use_account_free(wtl_use_account *a);

#endif
