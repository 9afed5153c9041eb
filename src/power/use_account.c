/* use_account.c - divides the joules between two lists of processes. */
#include "power/use_account.h"

#include <stdlib.h>
#include <string.h>

static bool has(const int64_t *list, size_t n, int64_t pid)
{
  for (size_t i = 0; i < n; i++)
    if (list[i] == pid) return true;
  return false;
}

/* Returns the entry of a process; NULL without memory, or with too many processes: its joules then belong to none. */
static wtl_used *entry_of(wtl_use_account *a, int64_t pid)
{
  for (size_t i = 0; i < a->n; i++)
    if (a->used[i].pid == pid) return &a->used[i];
  if (a->n == a->space) {
    size_t space = a->space ? 2 * a->space : 16;
    wtl_used *grown = space <= WTL_USE_PROCESSES ? realloc(a->used, space * sizeof *grown) : NULL;
    if (!grown) return NULL;
    a->used = grown;
    a->space = space;
  }
  a->used[a->n] = (wtl_used){.pid = pid};
  return &a->used[a->n++];
}

static void add(wtl_use_account *a, int64_t pid, double joules, size_t users, bool whole_time)
{
  wtl_used *u = entry_of(a, pid);
  if (!u) return;
  u->joules += joules / (double)users;
  u->most += joules;
  if (users == 1 && whole_time) u->least += joules;
}

void wtl_use_account_take(wtl_use_account *a, double joules, double at, const int64_t *pid, size_t n)
{
  double drawn = joules - a->joules;
  size_t users = n = n < WTL_USE_LIST ? n : WTL_USE_LIST;
  for (size_t i = 0; i < a->n_last; i++) users += !has(pid, n, a->last[i]);
  if (a->begun && drawn > 0) {
    for (size_t i = 0; i < n; i++) add(a, pid[i], drawn, users, has(a->last, a->n_last, pid[i]));
    for (size_t i = 0; i < a->n_last; i++)
      if (!has(pid, n, a->last[i])) add(a, a->last[i], drawn, users, false);
  }
  memcpy(a->last, pid, n * sizeof *pid);
  a->n_last = n;
  a->joules = joules;
  a->at = at;
  a->begun = true;
}

void wtl_use_account_start(wtl_use_account *a)
{
  a->n = 0;
}

void wtl_use_account_free(wtl_use_account *a)
{
  free(a->used);
  *a = (wtl_use_account){0};
}
