/*
 * Every blocking call goes through the door. For each of them PE 0 comes late: it makes its part of the call only once PE 1 is seen to wait
 * in it. How that is seen does not depend on how fast the machine is: by PE 1's thread being asleep, or by its having used CPU time.
 * late_calls.py then looks for each call in PE 1's profile, by stage.
 *
 * usage: late asleep|busy|either [list]: how a waiting PE looks. With list, prints the calls instead, one a line.
 */
#include <shmem.h>
#include <shmemx.h>

#include <unistd.h>

#include "pes.h"

typedef struct place {
  long entering;  /* on PE 0: the step PE 1 is about to make */
  long thread[2]; /* on PE 0: PE 1's process and thread */
  long lock, data, sum[2], done;
} place;

typedef struct walk {
  place *p;
  int me;
  const char *look;
  void *block, *more;
  long step;
} walk;

/* --- watching PE 1 from PE 0 --------------------------------------------------------------------------------------------------------- */

/* State letter and CPU ticks of a thread, from /proc; false if it cannot be read. */
static bool look_at(const long thread[2], char *state, long *ticks)
{
  char path[64], text[512], *after;
  unsigned long user, system;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", thread[0], thread[1]);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  after = strrchr(text, ')');
  if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
    return false;
  *ticks = (long)(user + system);
  return true;
}

/* Returns once PE 1 waits in the call it announced. Two looks, as a thread may sleep for a moment for another reason. */
static void await_waiting(walk *w)
{
  char state = '?';
  long first = 0, now = 0;
  int asleep = 0;
  while (__atomic_load_n(&w->p->entering, __ATOMIC_ACQUIRE) < w->step) sched_yield();
  if (!look_at(w->p->thread, &state, &first)) return;
  for (;;) {
    usleep(500);
    if (!look_at(w->p->thread, &state, &now)) return;
    asleep = state == 'S' ? asleep + 1 : 0;
    if (strcmp(w->look, "busy") != 0 && asleep >= 2) return;
    if (strcmp(w->look, "asleep") != 0 && now >= first + 2) return;
  }
}

/* PE 1 says what it is about to do, PE 0 waits until it does. Nobody else takes part. */
static void late(walk *w)
{
  w->step++;
  if (w->me == 1) shmem_long_p(&w->p->entering, w->step, 0);
  if (w->me == 0) await_waiting(w);
}

/* --- the calls ------------------------------------------------------------------------------------------------------------------------- */

static void call_barrier_all(walk *w)
{
  late(w);
  shmem_barrier_all();
}
static void call_sync_all(walk *w)
{
  late(w);
  shmem_sync_all();
}
static void call_team_sync(walk *w)
{
  late(w);
  shmem_team_sync(SHMEM_TEAM_WORLD);
}
static void call_sum_reduce(walk *w)
{
  late(w);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, w->p->sum, w->p->sum, 2);
}
static void call_broadcast(walk *w)
{
  late(w);
  shmem_long_broadcast(SHMEM_TEAM_WORLD, &w->p->data, &w->p->data, 1, 0);
}
static void call_broadcastmem(walk *w)
{
  late(w);
  shmem_broadcastmem(SHMEM_TEAM_WORLD, &w->p->data, &w->p->data, 8, 0);
}
static void call_malloc(walk *w)
{
  late(w);
  w->block = shmem_malloc(100);
}
static void call_realloc(walk *w)
{
  late(w);
  w->block = shmem_realloc(w->block, 1000);
}
static void call_free(walk *w)
{
  late(w);
  shmem_free(w->block);
}
static void call_malloc_with_hints(walk *w)
{
  late(w);
  w->block = shmem_malloc_with_hints(100, 0);
}
static void call_calloc(walk *w)
{
  late(w);
  w->more = shmem_calloc(10, 10);
}
static void call_align(walk *w)
{
  late(w);
  w->block = shmem_align(64, 100);
}

static void call_wait_until(walk *w)
{
  late(w);
  if (w->me == 0)
    shmem_long_p(&w->p->done, 1, 1);
  else if (w->me == 1)
    shmem_long_wait_until(&w->p->done, SHMEM_CMP_EQ, 1);
}

static void call_set_lock(walk *w)
{
  if (w->me == 0) shmem_set_lock(&w->p->lock);
  shmem_sync_all();
  late(w);
  if (w->me == 1) shmem_set_lock(&w->p->lock);
  if (w->me <= 1) shmem_clear_lock(&w->p->lock);
}

/* PE 0 holds what the handler of PE 1's request needs. */
enum { HANDLER = 1 };
static shmemx_am_mutex needed;

static void on_request(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  shmemx_am_mutex_lock(&needed);
  shmemx_am_mutex_unlock(&needed);
}

static void call_am_quiet(walk *w)
{
  if (w->me == 0) shmemx_am_mutex_lock(&needed);
  shmemx_am_attach(HANDLER, on_request);
  shmem_sync_all();
  late(w);
  if (w->me == 0) shmemx_am_mutex_unlock(&needed);
  if (w->me != 1) return;
  shmemx_am_request(0, HANDLER, NULL, 0);
  shmemx_am_quiet();
}

static const struct {
  const char *name;
  void (*make)(walk *);
} calls[] = {
    {"shmem_barrier_all", call_barrier_all},
    {"shmem_sync_all", call_sync_all},
    {"shmem_team_sync", call_team_sync},
    {"shmem_long_sum_reduce", call_sum_reduce},
    {"shmem_long_broadcast", call_broadcast},
    {"shmem_broadcastmem", call_broadcastmem},
    {"shmem_malloc", call_malloc},
    {"shmem_realloc", call_realloc},
    {"shmem_free", call_free},
    {"shmem_malloc_with_hints", call_malloc_with_hints},
    {"shmem_calloc", call_calloc},
    {"shmem_align", call_align},
    {"shmem_long_wait_until", call_wait_until},
    {"shmem_set_lock", call_set_lock},
    {"shmemx_am_quiet", call_am_quiet},
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

int main(int argc, char **argv)
{
  if (argc > 2) {
    for (int i = 0; i < N_CALLS; i++) puts(calls[i].name);
    return 0;
  }
  shmem_init();
  walk w = {.me = shmem_my_pe(), .look = argc > 1 ? argv[1] : "either"};
  w.p = shmem_calloc(1, sizeof *w.p);
  if (w.me == 1) {
    long thread[2] = {getpid(), gettid()};
    shmem_long_put(w.p->thread, thread, 2, 0);
  }
  shmem_sync_all();
  for (int i = 0; i < N_CALLS; i++) calls[i].make(&w);
  shmem_sync_all();
  shmem_finalize();
  return failures != 0;
}
