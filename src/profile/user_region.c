/* user_region.c - keeps the open regions of each thread and the list of all regions. */
#include "profile/user_region.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "os/os.h"
#include "profile/profile.h"

enum { INDEX = 2 * WTL_USER_REGIONS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for a new region */
static wtl_user_region regions[WTL_USER_REGIONS];
static _Atomic uint32_t n_regions;
static uint32_t index_of[INDEX]; /* open addressing: number + 1; 0: free */

typedef struct open_region {
  uint32_t number, outer; /* outer: WTL_NO_REGION or that of the entry before */
  enum wtl_mark_source source;
  uint64_t id;
  uint64_t name;  /* its hash */
  uint64_t since; /* when it began at its place among the open regions */
} open_region;

typedef struct thread_regions {
  bool is_busy;  /* a signal handler of the thread must change nothing then */
  int n, deeper; /* deeper: open regions beyond the stack */
  uint64_t since;
  open_region open[WTL_USER_REGIONS_OPEN];
} thread_regions;

/* Allocated at a thread's first region, because a library that is loaded late has little thread-local memory. */
static _Thread_local thread_regions *here;
static _Atomic(thread_regions *) timed; /* of the thread that is timed */
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- the list --- */

uint32_t wtl_user_regions(void)
{
  return atomic_load_explicit(&n_regions, memory_order_acquire);
}

wtl_user_region *wtl_user_region_of(uint32_t number)
{
  return &regions[number];
}

/* Returns the number of the region of that name in `outer`; `outer` without memory or space. */
static uint32_t find(uint32_t outer, const char *name)
{
  char cut[WTL_MARK_NAME];
  size_t length = strnlen(name, sizeof cut - 1);
  memcpy(cut, name, length);
  cut[length] = '\0';
  uint64_t hash = wtl_hash(wtl_hash(WTL_HASH_NONE, &outer, sizeof outer), cut, length);
  uint32_t i = (uint32_t)(hash >> 32) % INDEX, found = outer;
  pthread_mutex_lock(&lock);
  for (; index_of[i]; i = (i + 1) % INDEX) {
    const wtl_user_region *r = &regions[index_of[i] - 1];
    if (r->outer == outer && strcmp(r->name, cut) == 0) break;
  }
  if (!index_of[i] && n_regions < WTL_USER_REGIONS) {
    wtl_user_region *r = &regions[n_regions];
    r->outer = outer;
    if ((r->name = strdup(cut))) index_of[i] = ++n_regions;
  }
  if (index_of[i]) found = index_of[i] - 1;
  pthread_mutex_unlock(&lock);
  return found;
}

/* --- a thread --- */

static void forget_thread(void *stack)
{
  thread_regions *own = stack;
  atomic_compare_exchange_strong(&timed, &own, NULL);
  here = NULL;
  free(stack);
}

static void make_key(void)
{
  pthread_key_create(&thread_end, forget_thread);
}

static bool have_stack(void)
{
  if (here) return true;
  pthread_once(&once, make_key);
  here = calloc(1, sizeof *here);
  if (here && pthread_setspecific(thread_end, here) == 0) return true;
  free(here);
  here = NULL;
  return false;
}

uint32_t wtl_user_region_here(void)
{
  return here && here->n ? here->open[here->n - 1].number : WTL_NO_REGION;
}

void wtl_user_region_settle(void)
{
  uint32_t number = wtl_user_region_here();
  if (!here || atomic_load(&timed) != here) return;
  uint64_t now = wtl_ticks();
  if (number != WTL_NO_REGION) regions[number].ticks += now - here->since;
  here->since = now;
}

/* False of one that counts as the region around it. */
static bool has_number(const open_region *open)
{
  return open->number != open->outer;
}

/* Adds an open region to the timeline up to now, as if it ended. */
static void note(const open_region *open, uint64_t now)
{
  if (has_number(open)) wtl_profile_note_region(open->number, open->since, now);
}

void wtl_user_region_note_open(void)
{
  uint64_t now = wtl_ticks();
  for (int i = here ? here->n - 1 : -1; i >= 0; i--) note(&here->open[i], now);
}

void wtl_user_region_start(void)
{
  if (WTL_OS_IS_SIMULATED || !have_stack()) return;
  for (uint32_t i = 0; i < n_regions; i++) regions[i].times = regions[i].ticks = 0;
  for (int i = 0; i < here->n; i++)
    if (has_number(&here->open[i])) regions[here->open[i].number].times++;
  here->since = wtl_ticks();
  for (int i = 0; i < here->n; i++) here->open[i].since = here->since;
  atomic_store(&timed, here);
}

static bool is_of(const open_region *open, const wtl_region_mark *mark)
{
  if (open->source != mark->source || open->id != mark->id) return false;
  return !mark->name || open->name == wtl_hash(WTL_HASH_NONE, mark->name, strlen(mark->name));
}

static bool is_open(const wtl_region_mark *mark)
{
  for (int i = 0; i < here->n; i++)
    if (is_of(&here->open[i], mark)) return true;
  return false;
}

static void begin(const wtl_region_mark *mark)
{
  uint32_t outer = wtl_user_region_here(), number;
  if (here->n == WTL_USER_REGIONS_OPEN) {
    here->deeper++;
    return;
  }
  bool is_again = mark->source == WTL_MARK_WATTLE && is_open(mark); /* wattle.h: the outermost begin counts */
  number = is_again ? outer : find(outer, mark->name);
  if (number != outer) regions[number].times++;
  here->open[here->n++] = (open_region){.number = number,
                                        .outer = outer,
                                        .source = mark->source,
                                        .id = mark->id,
                                        .name = wtl_hash(WTL_HASH_NONE, mark->name, strlen(mark->name)),
                                        .since = wtl_ticks()};
}

static void end(const wtl_region_mark *mark)
{
  int i = here->n - 1;
  if (here->deeper) {
    here->deeper--;
    return;
  }
  while (i >= 0 && !is_of(&here->open[i], mark)) i--;
  if (i < 0) return;
  uint64_t now = wtl_ticks();
  for (int k = here->n - 1; k >= i; k--) note(&here->open[k], now);
  for (here->n--; i < here->n; i++) { /* those above it now lie in the region around it */
    uint32_t outer = i ? here->open[i - 1].number : WTL_NO_REGION;
    here->open[i] = here->open[i + 1];
    const wtl_user_region *r = has_number(&here->open[i]) ? &regions[here->open[i].number] : NULL;
    here->open[i].since = now;
    here->open[i].outer = outer;
    here->open[i].number = r ? find(outer, r->name) : outer;
  }
}

void wtl_user_region_mark(const wtl_region_mark *mark)
{
  if (WTL_OS_IS_SIMULATED || !have_stack() || here->is_busy) return;
  uint32_t before = wtl_user_region_here();
  here->is_busy = true;
  wtl_user_region_settle();
  if (mark->begins)
    begin(mark);
  else
    end(mark);
  if (wtl_user_region_here() != before) wtl_profile_change_region();
  here->is_busy = false;
}
