/* door_test.c - tests the doorbell and the wait door in one process: wake-ups, counts, and the time of each stage. */
#include "wait/door.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "power/check.h"

static bool is_set(void *arg)
{
  return atomic_load_explicit((_Atomic int *)arg, memory_order_acquire) != 0;
}

static bool never(void *arg)
{
  (void)arg;
  return false;
}

static const wtl_cores TWO_CORES = {2, 2};

static wtl_settings settings(enum wtl_wait_policy policy)
{
  wtl_settings s;
  memset(&s, 0, sizeof s);
  s.wait.number = policy;
  s.spin_max.seconds = -1;
  s.sleep_max.seconds = 1;
  return s;
}

/* --- the bell ----------------------------------------------------------------------------------------------------- */

typedef struct sleeper {
  wtl_bell *bell;
  wtl_watch watch;
  _Atomic int ready;
  enum wtl_sleep how;
  _Atomic unsigned sleeps; /* ended */
  pthread_t thread;
} sleeper;

static void *sleep_in(void *arg)
{
  sleeper *s = arg;
  do {
    s->how = wtl_bell_sleep(s->bell, NULL, s->watch, is_set, &s->ready, 100);
    s->sleeps++;
  } while (!is_set(&s->ready));
  return NULL;
}

static unsigned count_of(wtl_bell *b)
{
  return (unsigned)(atomic_load(&b->asleep) & 0xffff);
}

static void begin(sleeper *s, wtl_bell *b, wtl_watch watch, unsigned count)
{
  s->bell = b;
  s->watch = watch;
  s->ready = 0;
  s->sleeps = 0;
  pthread_create(&s->thread, NULL, sleep_in, s);
  while (count_of(b) < count) usleep(100);
}

/* Whether a store of `n` bytes at `offset` rings: `rung` moves on. */
static bool rings(wtl_bell *b, size_t offset, size_t n)
{
  uint32_t before = atomic_load(&b->rung);
  wtl_bell_ring_at(b, offset, n);
  return atomic_load(&b->rung) != before;
}

static void end(sleeper *s)
{
  atomic_store(&s->ready, 1);
  wtl_bell_ring(s->bell);
  pthread_join(s->thread, NULL);
}

/* As above. The ring wakes `n` sleepers, whose condition does not hold. Returns when all sleep again. */
static bool rings_and_settles(sleeper *s, unsigned n, size_t offset, size_t bytes)
{
  unsigned before[3];
  for (unsigned i = 0; i < n; i++) before[i] = s[i].sleeps;
  bool rang = rings(s->bell, offset, bytes);
  for (unsigned i = 0; i < n && rang; i++)
    while (s[i].sleeps == before[i]) usleep(100);
  while (count_of(s->bell) < n) usleep(100);
  return rang;
}

static void only_stores_into_the_watched_line_ring(void)
{
  wtl_bell *b = aligned_alloc(64, sizeof *b);
  sleeper s;
  memset(b, 0, sizeof *b);
  CHECK(!rings(b, 128, 8)); /* no thread sleeps */
  begin(&s, b, WTL_WATCH_OFFSET(130), 1);
  CHECK(!rings(b, 0, 128) && !rings(b, 192, 1) && !rings(b, 4096, 64));
  CHECK(rings_and_settles(&s, 1, 128, 1));
  CHECK(rings_and_settles(&s, 1, 191, 1));
  CHECK(rings_and_settles(&s, 1, 0, 129));
  CHECK(rings_and_settles(&s, 1, 100, 5000));
  end(&s);
  CHECK(count_of(b) == 0 && atomic_load(&b->asleep) == 0);
  free(b);
}

static void a_sleeper_in_a_barrier_is_not_rung_by_data(void)
{
  wtl_bell *b = aligned_alloc(64, sizeof *b);
  sleeper s;
  memset(b, 0, sizeof *b);
  begin(&s, b, WTL_WATCH_CONTROL, 1);
  CHECK(wtl_bell_has_sleeper(b));
  CHECK(!rings(b, 0, 64) && !rings(b, 0, (size_t)1 << 30));
  end(&s);
  CHECK(!wtl_bell_has_sleeper(b));
  free(b);
}

static void sleepers_that_watch_different_things_are_all_rung(void)
{
  wtl_bell *b = aligned_alloc(64, sizeof *b);
  sleeper s[3];
  memset(b, 0, sizeof *b);
  begin(&s[0], b, WTL_WATCH_OFFSET(0), 1);
  begin(&s[1], b, WTL_WATCH_OFFSET(640), 2);
  begin(&s[2], b, WTL_WATCH_CONTROL, 3);
  CHECK(rings_and_settles(s, 3, 100000, 1));
  for (int i = 0; i < 3; i++) end(&s[i]);
  CHECK(atomic_load(&b->asleep) == 0);
  free(b);
}

static void a_sleep_ends_by_itself_and_says_so(void)
{
  wtl_bell b = {0};
  _Atomic int yes = 1;
  CHECK(wtl_bell_sleep(&b, NULL, WTL_WATCH_ALL, never, NULL, 0.001) == WTL_SLEPT_OUT);
  CHECK(wtl_bell_sleep(&b, NULL, WTL_WATCH_ALL, is_set, &yes, 100) == WTL_SLEPT_NOT);
  CHECK(atomic_load(&b.asleep) == 0);
}

/* --- the door ----------------------------------------------------------------------------------------------------- */

typedef struct visit {
  wtl_door door;
  wtl_bell bell;
  wtl_site site;
  _Atomic int ready, looks, handled;
  bool ends_asleep;
} visit;

static bool look(void *arg)
{
  visit *v = arg;
  atomic_fetch_add(&v->looks, 1);
  return is_set(&v->ready);
}

/* Comes when the wait has been seen to last: the condition was looked at many times, or the waiter sleeps. */
static void *come(void *arg)
{
  visit *v = arg;
  while (v->ends_asleep ? !wtl_bell_has_sleeper(&v->bell) : atomic_load(&v->looks) < 100) usleep(100);
  atomic_store(&v->ready, 1);
  wtl_fence();
  if (wtl_bell_has_sleeper(&v->bell)) wtl_bell_ring(&v->bell);
  return NULL;
}

/* Makes one wait under a policy. Returns the report that the site got. */
static visit *wait_once(enum wtl_wait_policy policy, int pes, int cores)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(policy);
  pthread_t other;
  memset(v, 0, sizeof *v);
  v->ends_asleep = policy == WTL_WAIT_SLEEP || policy == WTL_WAIT_ADAPTIVE;
  wtl_door_start(&v->door, &v->bell, &s, pes, (wtl_cores){cores, cores});
  pthread_create(&other, NULL, come, v);
  wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, look, v);
  CHECK(atomic_load(&v->ready));
  pthread_join(other, NULL);
  CHECK(v->site.waits == 1);
  bool aside = wtl_thread_sites.generation == WTL_IN_AGENTS_HANDLER;
  for (int k = 0; k < WTL_N_STAGES; k++) CHECK(atomic_load(&v->door.ticks[k]) == (aside ? 0 : v->site.wait_ticks[k]));
  return v;
}

static void each_policy_waits_in_its_stage(void)
{
  static const enum wtl_wait_policy policies[] = {WTL_WAIT_SPIN, WTL_WAIT_YIELD, WTL_WAIT_SLEEP};
  for (int i = 0; i < 3; i++) {
    visit *v = wait_once(policies[i], 2, 2);
    for (int k = 0; k < WTL_N_STAGES; k++) CHECK(k == i ? v->site.wait_ticks[k] > 0 : v->site.wait_ticks[k] == 0);
    free(v);
  }
}

/* Beside it the program computes: the site knows of the wait, the PE's own time does not. */
static void a_handler_that_waits_in_the_agent_takes_none_of_the_pes_time(void)
{
  wtl_thread_profile before = wtl_thread_sites;
  wtl_thread_sites.generation = WTL_IN_AGENTS_HANDLER;
  visit *v = wait_once(WTL_WAIT_SLEEP, 2, 2);
  wtl_thread_sites = before;
  CHECK(v->site.wait_ticks[WTL_STAGE_ASLEEP] > 0);
  free(v);
}

static void adaptive_ends_asleep_and_yields_where_crowded(void)
{
  visit *roomy = wait_once(WTL_WAIT_ADAPTIVE, 2, 2), *crowded = wait_once(WTL_WAIT_ADAPTIVE, 3, 2);
  CHECK(roomy->site.wait_ticks[WTL_STAGE_SPIN] > 0 && roomy->site.wait_ticks[WTL_STAGE_YIELD] == 0);
  CHECK(crowded->site.wait_ticks[WTL_STAGE_YIELD] > 0 && crowded->site.wait_ticks[WTL_STAGE_SPIN] == 0);
  free(roomy);
  free(crowded);
}

/* A history that suggests to sleep at once is used only if it belongs to one call site. Calls without counts
 * (WATTLE_PROFILE=off) have many sites, and one long wait would make all others sleep. */
static void calls_that_are_not_counted_have_no_history(void)
{
  for (uintptr_t addr = 0; addr < 2; addr++) {
    visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
    wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
    pthread_t other;
    memset(v, 0, sizeof *v);
    v->ends_asleep = true;
    v->site = (wtl_site){.addr = addr, .history = {.known = true}};
    wtl_door_start(&v->door, &v->bell, &s, 2, TWO_CORES);
    pthread_create(&other, NULL, come, v);
    wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, look, v);
    pthread_join(other, NULL);
    CHECK((v->site.wait_ticks[WTL_STAGE_SPIN] > 0) == (addr == 0));
    CHECK((v->site.history.last_length > 0) == (addr != 0));
    free(v);
  }
}

/* A store that rings no bell, as through shmem_ptr. */
static void *store_in_silence(void *arg)
{
  visit *v = arg;
  while (!wtl_bell_has_sleeper(&v->bell)) usleep(100);
  atomic_store(&v->ready, 1);
  return NULL;
}

/* Each poll takes the time of other threads, as on a shared core. The wait's own turns limit it. */
static bool look_slowly(void *arg)
{
  visit *v = arg;
  usleep(100);
  return look(v);
}

static void a_yielding_wait_is_charged_for_its_turns_only(void)
{
  enum { TURNS = 50 };
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
  memset(v, 0, sizeof *v);
  s.sleep_max.seconds = 1e-4;
  wtl_door_start(&v->door, &v->bell, &s, 3, TWO_CORES);
  v->door.stages.limit_ticks = TURNS * v->door.stages.turn_ticks;
  v->door.yielder.computes = UINT64_MAX;
  while (!atomic_load(&v->door.sleeps)) { /* until one has gone to sleep by itself */
    pthread_t other;
    atomic_store(&v->looks, 0);
    v->ready = 0;
    pthread_create(&other, NULL, store_in_silence, v);
    wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, look_slowly, v);
    pthread_join(other, NULL);
  }
  CHECK(atomic_load(&v->looks) >= TURNS);
  CHECK(v->site.wait_ticks[WTL_STAGE_YIELD] > 4 * TURNS * v->door.stages.turn_ticks);
  free(v);
}

/* On the waiter's core, as long as the wait lasts. */
static void *compute(void *arg)
{
  visit *v = arg;
  while (!atomic_load_explicit(&v->ready, memory_order_relaxed)) continue;
  return NULL;
}

/* Once the waiter has slept, or after a minute. */
static void *store_later(void *arg)
{
  visit *v = arg;
  for (int i = 0; i < 6000 && atomic_load(&v->door.sleeps) == 0; i++) usleep(10000);
  atomic_store(&v->ready, 1);
  return NULL;
}

/* Turns would last it for minutes of its own time. */
static void a_pe_that_yields_to_a_computing_one_falls_asleep(void)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
  pthread_t by[2];
  cpu_set_t all, one;
  memset(v, 0, sizeof *v);
  s.spin_max.seconds = 1000;
  s.sleep_max.seconds = 1e-3;
  wtl_door_start(&v->door, &v->bell, &s, 3, TWO_CORES);
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  pthread_create(&by[0], NULL, compute, v);
  pthread_create(&by[1], NULL, store_later, v);
  wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, look, v);
  pthread_join(by[0], NULL);
  pthread_join(by[1], NULL);
  sched_setaffinity(0, sizeof all, &all);
  CHECK(atomic_load(&v->door.sleeps) > 0 && v->site.wait_ticks[WTL_STAGE_ASLEEP] > 0);
  free(v);
}

/* One process that computes once is soon forgotten, one that always does is given ever fewer turns. */
static _Atomic int turns; /* in which the core was given away */

int sched_yield(void)
{
  turns++;
  return (int)syscall(SYS_sched_yield);
}

/* Comes with the fourth look. */
static bool look_four_times(void *arg)
{
  visit *v = arg;
  return atomic_fetch_add(&v->looks, 1) >= 3;
}

static visit *wait_crowded(bool apart, uint64_t turn_ticks)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
  memset(v, 0, sizeof *v);
  wtl_door_start(&v->door, &v->bell, &s, 3, TWO_CORES);
  v->door.stages.turn_ticks = turn_ticks;
  turns = 0;
  (apart ? wtl_door_wait_on_other_core : wtl_door_wait)(&v->door, &v->site, WTL_WATCH_ALL, look_four_times, v);
  CHECK(atomic_load(&v->looks) == 4);
  CHECK(v->site.waits == 1 && v->site.wait_ticks[WTL_STAGE_YIELD] > 0);
  return v;
}

static void an_event_of_another_core_is_polled_for_before_a_turn(void)
{
  free(wait_crowded(true, UINT64_MAX));
  CHECK(turns == 0);
  free(wait_crowded(true, 0));
  CHECK(turns > 0);
  free(wait_crowded(false, UINT64_MAX));
  CHECK(turns > 0);
}

static void turns_that_were_long_are_not_taken_again_at_once(void)
{
  wtl_yielder l = {0};
  wtl_yielder_start(&l, WTL_YIELDER_SHARES + 1);
  CHECK(l.computes == UINT64_MAX);
  wtl_yielder_start(&l, WTL_YIELDER_SHARES);
  CHECK_NEAR((double)l.computes * wtl_clock_ns_per_tick(), 0.5e6, 1e4);
  l.computes = UINT64_MAX;
  wtl_yielder_yield(&l);
  CHECK(wtl_yielder_may_yield(&l, 0) && l.pause == 0);
  l.computes = 0;
  for (uint64_t pause = 1; pause <= 4 * WTL_YIELDER_LONGEST_PAUSE; pause *= 2) {
    uint64_t before = wtl_ticks(), took = wtl_yielder_yield(&l), over = l.again_from;
    CHECK(l.pause == (pause < WTL_YIELDER_LONGEST_PAUSE ? pause : WTL_YIELDER_LONGEST_PAUSE));
    CHECK(over >= before + (1 + l.pause) * took && !wtl_yielder_may_yield(&l, over - 1) &&
          wtl_yielder_may_yield(&l, over));
  }
  l.computes = UINT64_MAX;
  for (uint64_t pause = WTL_YIELDER_LONGEST_PAUSE; pause; pause /= 2) wtl_yielder_yield(&l);
  CHECK(l.pause == 0);
}

static void a_condition_that_holds_costs_no_wait_time(void)
{
  visit v;
  memset(&v, 0, sizeof v);
  wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
  wtl_door_start(&v.door, &v.bell, &s, 2, (wtl_cores){2, 2});
  v.ready = 1;
  wtl_door_wait(&v.door, &v.site, WTL_WATCH_ALL, is_set, &v.ready);
  CHECK(v.site.waits == 1 && wtl_site_waited(&v.site) == 0);
}

/* Holds at the nth look. */
static bool holds_in_time(void *arg)
{
  return --*(int *)arg <= 0;
}

static visit *first_polls(void)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_ADAPTIVE);
  memset(v, 0, sizeof *v);
  wtl_door_start(&v->door, &v->bell, &s, 2, (wtl_cores){2, 2});
  v->site.addr = 1;
  return v;
}

static void wait_for_looks(visit *v, int looks)
{
  wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, holds_in_time, &looks);
}

/* Waits that one poll ends, up to the next that reads the clock. Returns whether none before it changed the time of a
 * poll. */
static bool wait_until_the_clock_is_read(visit *v)
{
  uint32_t known = v->door.poll_parts;
  bool unchanged = true;
  do {
    unchanged = unchanged && v->door.poll_parts == known;
    wait_for_looks(v, 2);
  } while (v->site.waits % 16);
  return unchanged;
}

static void a_wait_that_its_first_polls_end_takes_a_learned_time_a_poll(void)
{
  visit *v = first_polls();
  v->door.stages.learns = false; /* no interruption makes it sleep */
  v->door.stages.limit_ticks = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  wait_for_looks(v, 200); /* more than the first polls, so it learns the time of one */
  CHECK(v->door.poll_parts > 0);
  v->door.poll_parts = 1000 * WTL_POLL_PARTS;
  uint64_t before = wtl_site_waited(&v->site);
  wait_for_looks(v, 6); /* the first one comes before the wait */
  CHECK(wtl_site_waited(&v->site) == before + 5 * 1000 && v->site.waits == 2);
  CHECK(v->door.ticks[WTL_STAGE_SPIN] == wtl_site_waited(&v->site));
  for (int i = 0; i < 100 && v->door.poll_parts == 1000 * WTL_POLL_PARTS;
       i++) /* nothing is learned from a wait that is interrupted */
    CHECK(wait_until_the_clock_is_read(v));
  CHECK(v->door.poll_parts != 1000 * WTL_POLL_PARTS);
  free(v);
}

static void an_interrupted_poll_does_not_stay_the_learned_time(void)
{
  visit *v = first_polls();
  v->door.poll_parts = 10000000u * WTL_POLL_PARTS;
  for (int i = 0; i < 100 && v->door.poll_parts > 100000u * WTL_POLL_PARTS; i++) wait_until_the_clock_is_read(v);
  CHECK(v->door.poll_parts < 100000u * WTL_POLL_PARTS);
  free(v);
}

/* It is found when the bounded sleep ends, and counted as a rescue. Another program may take the core just before the
 * sleep, so that the store comes first. */
static void a_silent_store_is_rescued_and_counted(void)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_SLEEP);
  pthread_t other;
  memset(v, 0, sizeof *v);
  s.sleep_max.seconds = 0.2;
  wtl_door_start(&v->door, &v->bell, &s, 2, (wtl_cores){2, 2});
  for (int i = 0; i < 20 && atomic_load(&v->door.rescues) == 0; i++) {
    atomic_store(&v->ready, 0);
    pthread_create(&other, NULL, store_in_silence, v);
    wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, is_set, &v->ready);
    pthread_join(other, NULL);
    CHECK(atomic_load(&v->ready));
  }
  CHECK(atomic_load(&v->door.rescues) >= 1);
  free(v);
}

/* The condition holds at the third doubt, for any way to wait. */
typedef struct doubts {
  visit v;
  int seen;
} doubts;

static bool has_come(void *arg)
{
  return ((doubts *)arg)->seen == 3;
}

static void doubt(void *arg)
{
  ((doubts *)arg)->seen++;
}

static void a_wait_with_checks_is_checked_until_it_holds(void)
{
  for (int policy = WTL_WAIT_SPIN; policy <= WTL_WAIT_ADAPTIVE; policy++) {
    wtl_settings s = settings(policy);
    doubts *d = aligned_alloc(64, (sizeof *d + 63) / 64 * 64);
    memset(d, 0, sizeof *d);
    wtl_door_start(&d->v.door, &d->v.bell, &s, 2, TWO_CORES);
    wtl_door_wait_with_checks(&d->v.door, &d->v.site, WTL_WATCH_CONTROL, has_come, d, 2e-3, doubt);
    CHECK(d->seen == 3 && d->v.site.waits == 1);
    CHECK(wtl_site_waited(&d->v.site) > 0);
    d->seen = 2;
    d->v.ready = 1;
    wtl_door_wait_with_checks(&d->v.door, &d->v.site, WTL_WATCH_CONTROL, is_set, &d->v.ready, 2e-3, doubt);
    CHECK(d->seen == 2);
    free(d);
  }
}

/* A message comes when `ready` is set; its handler is what the wait waits for. */
static bool has_message(void *arg)
{
  visit *v = arg;
  return is_set(&v->ready) && !is_set(&v->handled);
}

static bool handle(void *arg)
{
  atomic_store(&((visit *)arg)->handled, 1);
  return true;
}

/* The time of waking up is no wait. If it counted as one, the PE would sleep at once the next time, and its peers would
 * wait as long. */
static void a_wait_that_a_message_ended_lasted_until_the_bell_rang(void)
{
  wtl_settings s = settings(WTL_WAIT_SLEEP);
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  for (int rounds = 0; rounds < 20; rounds++) {
    pthread_t other;
    memset(v, 0, sizeof *v);
    v->ends_asleep = true;
    v->bell.has_messages = 1;
    v->site.addr = 1;
    wtl_door_start(&v->door, &v->bell, &s, 2, TWO_CORES);
    v->door.stages.remembers = true; /* and sleeps at once nevertheless */
    v->door.messages = (wtl_messages){.of = v, .waits = has_message, .take = handle};
    pthread_create(&other, NULL, come, v);
    uint64_t since = wtl_ticks();
    wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, is_set, &v->handled);
    pthread_join(other, NULL);
    uint64_t rung_at = atomic_load(&v->bell.rung_at);
    if (rung_at) CHECK(v->site.history.last_length > 0 && v->site.history.last_length <= rung_at - since);
  }
  free(v);
}

static void *ring_late(void *arg)
{
  visit *v = arg;
  usleep(300000);
  atomic_store(&v->ready, 1);
  wtl_fence();
  if (wtl_bell_has_sleeper(&v->bell)) wtl_bell_ring(&v->bell);
  return NULL;
}

/* --- on the network ----------------------------------------------------------------------------------------------- */

/* A network whose one message sets `came`, and its agent, which counts notifications. */
typedef struct net {
  wtl_bell bell;
  wtl_door door;
  wtl_site site;
  int message, alarm; /* eventfds */
  bool taken;         /* by another thread: it may not lie down */
  _Atomic int came, on_network, network_sleeps, takes_over, stands_by;
} net;

static uint64_t empty(int fd)
{
  uint64_t count = 0;
  (void)!read(fd, &count, sizeof count);
  return count;
}

static bool take_message(void *arg)
{
  net *n = arg;
  if (!empty(n->message)) return false;
  atomic_store(&n->came, 1);
  return true;
}

static enum wtl_sleep sleep_on_descriptors(void *arg, double seconds)
{
  net *n = arg;
  struct pollfd fds[] = {{n->message, POLLIN, 0}, {n->alarm, POLLIN, 0}};
  CHECK(atomic_load(&n->on_network));
  n->network_sleeps++;
  int found = poll(fds, 2, (int)(seconds * 1000) + 1);
  empty(n->alarm);
  return found ? WTL_SLEPT_WOKEN : WTL_SLEPT_OUT;
}

static bool lie_down(void *arg)
{
  net *n = arg;
  if (n->taken) return false;
  CHECK(!atomic_exchange(&n->on_network, 1));
  return true;
}

static void get_up(void *arg)
{
  CHECK(atomic_exchange(&((net *)arg)->on_network, 0));
}

static void stand_by(void *arg)
{
  ((net *)arg)->stands_by++;
}

static void stand_by_no_more(void *arg)
{
  ((net *)arg)->stands_by--;
}

static void take_over(void *arg)
{
  stand_by_no_more(arg);
  ((net *)arg)->takes_over++;
}

static uint64_t relieve(void *arg, uint64_t until)
{
  (void)arg;
  (void)until;
  return 0;
}

static net *open_net(int n_local)
{
  net *n = aligned_alloc(64, (sizeof *n + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_SLEEP);
  memset(n, 0, sizeof *n);
  s.sleep_max.seconds = 100;
  n->message = eventfd(0, EFD_NONBLOCK);
  n->alarm = eventfd(0, EFD_NONBLOCK);
  wtl_door_start(&n->door, &n->bell, &s, n_local, TWO_CORES);
  n->door.driver = (wtl_progress_driver){.agent = n,
                                         .progress = take_message,
                                         .stand_by = stand_by,
                                         .take_over = take_over,
                                         .relieved = relieve,
                                         .resume = stand_by_no_more,
                                         .sleeper = {sleep_on_descriptors, n, n->alarm},
                                         .begin_sleep = lie_down,
                                         .end_sleep = get_up};
  return n;
}

static void close_net(net *n)
{
  CHECK(n->stands_by == 0 && !n->on_network && atomic_load(&n->bell.asleep) == 0 && atomic_load(&n->bell.alarm) == 0);
  close(n->message);
  close(n->alarm);
  free(n);
}

/* Where it may lie down, until it has: between the bell and the bed it looks once more, and might find what comes. */
static void until_asleep(net *n)
{
  while (!wtl_bell_has_sleeper(&n->bell) || (n->door.is_alone && !n->taken && n->network_sleeps == 0)) usleep(100);
}

static void *send_message(void *arg)
{
  net *n = arg;
  until_asleep(n);
  CHECK(write(n->message, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t));
  return NULL;
}

static void *store_and_ring(void *arg)
{
  net *n = arg;
  until_asleep(n);
  atomic_store(&n->came, 1);
  wtl_fence();
  if (wtl_bell_has_sleeper(&n->bell)) wtl_bell_ring(&n->bell);
  return NULL;
}

static net *wait_on_net(int n_local, bool taken, void *(*other_does)(void *))
{
  net *n = open_net(n_local);
  pthread_t other;
  n->taken = taken;
  pthread_create(&other, NULL, other_does, n);
  wtl_door_wait(&n->door, &n->site, WTL_WATCH_ALL, is_set, &n->came);
  pthread_join(other, NULL);
  return n;
}

static void a_pe_alone_on_its_node_sleeps_on_the_network(void)
{
  net *n = wait_on_net(1, false, send_message);
  CHECK(n->network_sleeps >= 1 && n->takes_over == 0);
  CHECK(atomic_load(&n->door.sleeps) >= 1 && n->site.wait_ticks[WTL_STAGE_ASLEEP] > 0);
  close_net(n);
}

static void another_thread_of_the_process_wakes_a_sleeper_on_the_network(void)
{
  net *n = wait_on_net(1, false, store_and_ring);
  CHECK(n->network_sleeps >= 1 && n->takes_over == 0 && atomic_load(&n->door.rescues) == 0);
  close_net(n);
}

static void others_sleep_on_the_bell(void)
{
  net *n = wait_on_net(2, false, store_and_ring); /* neighbours ring, who know of no descriptor */
  CHECK(n->network_sleeps == 0 && n->takes_over == 1);
  close_net(n);
  n = wait_on_net(1, true, store_and_ring); /* another thread lies there */
  CHECK(n->network_sleeps == 0 && n->takes_over == 1);
  close_net(n);
}

/* One look a millisecond would be 300; a quarter longer each time makes 4 + log(75) / log(1.25) = 24 of them, and rings
 * or delays can only make it fewer. */
static void the_longer_a_sleep_the_rarer_the_tests(void)
{
  visit *v = aligned_alloc(64, (sizeof *v + 63) / 64 * 64);
  wtl_settings s = settings(WTL_WAIT_SLEEP);
  pthread_t other;
  memset(v, 0, sizeof *v);
  s.sleep_max.seconds = 1e-3;
  wtl_door_start(&v->door, &v->bell, &s, 2, TWO_CORES);
  pthread_create(&other, NULL, ring_late, v);
  wtl_door_wait(&v->door, &v->site, WTL_WATCH_ALL, is_set, &v->ready);
  pthread_join(other, NULL);
  CHECK(atomic_load(&v->door.sleeps) >= 1 && atomic_load(&v->door.sleeps) <= 60);
  free(v);
}

/* --- how long to stay in a stage ---------------------------------------------------------------------------------- */

static uint64_t first_limit(const wtl_stages *s)
{
  wtl_wait_history none = {0};
  return wtl_stages_limit(s, &none);
}

static void policies_have_their_stages(void)
{
  wtl_stages s;
  wtl_settings set = settings(WTL_WAIT_SPIN);
  wtl_stages_start(&s, &set, 16, TWO_CORES, false, NULL, 1.0);
  CHECK(first_limit(&s) == UINT64_MAX && !s.yields && !s.learns && s.crowded);
  set = settings(WTL_WAIT_YIELD);
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 1.0);
  CHECK(first_limit(&s) == UINT64_MAX && s.yields && !s.learns && !s.crowded);
  set = settings(WTL_WAIT_SLEEP);
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 1.0);
  CHECK(first_limit(&s) == 0 && !s.learns);
  set = settings(WTL_WAIT_ADAPTIVE);
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 0.5);
  CHECK(s.learns && !s.yields);
  CHECK_NEAR((double)first_limit(&s), s.price_s * 1e9 / 0.5, 1);
  wtl_stages_start(&s, &set, 3, TWO_CORES, false, NULL, 0.5);
  CHECK(s.yields);
  CHECK_NEAR((double)first_limit(&s), s.price_s * 1e9 / 0.5, 1);
  CHECK(s.turn_ticks > 0);
}

/* How long waits last is there what all PEs' ways of waiting make of it, so a past says nothing. */
static void where_pes_outnumber_cores_no_past_counts(void)
{
  wtl_stages s;
  wtl_settings set = settings(WTL_WAIT_ADAPTIVE);
  for (int pes = 2; pes <= 3; pes++) {
    wtl_wait_history past = {0};
    wtl_stages_start(&s, &set, pes, TWO_CORES, false, NULL, 1.0);
    for (int i = 0; i < 100; i++) wtl_stages_waited(&s, &past, wtl_stages_limit(&s, &past), 50 * s.limit_ticks);
    CHECK(wtl_stages_limit(&s, &past) == (pes == 2 ? 0 : s.limit_ticks));
  }
}

/* Two PEs on the two threads of one core: neither is in the other's way, but each slows the other down. */
static void a_pe_that_shares_a_core_by_multithreading_sleeps_earlier(void)
{
  wtl_stages s;
  wtl_settings set = settings(WTL_WAIT_ADAPTIVE);
  wtl_stages_start(&s, &set, 2, (wtl_cores){2, 1}, false, NULL, 1.0);
  CHECK(!s.crowded && !s.yields);
  CHECK_NEAR((double)first_limit(&s), s.price_s * 1e9 / 2, 1);
}

static void a_given_spin_is_kept(void)
{
  wtl_stages s;
  wtl_settings set = settings(WTL_WAIT_ADAPTIVE);
  set.spin_max.seconds = 0.001;
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 2.0);
  CHECK(!s.learns && s.limit_ticks == 500000 && !s.yields);
  wtl_stages_learn(&s, 10);
  CHECK(s.limit_ticks == 500000);
  wtl_stages_start(&s, &set, 3, TWO_CORES, false, NULL, 2.0);
  CHECK(!s.learns && s.limit_ticks == 500000 && s.yields);
  set.spin_max.seconds = 0;
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 2.0);
  CHECK(s.limit_ticks == 0);
}

/* The price stays between 2 and 200 microseconds for any measurement, and one outlier changes nothing. */
static void learning_is_bounded(void)
{
  wtl_stages s;
  wtl_settings set = settings(WTL_WAIT_ADAPTIVE);
  wtl_stages_start(&s, &set, 2, TWO_CORES, false, NULL, 1.0);
  double before = s.price_s;
  wtl_stages_learn(&s, 5000000);
  CHECK(s.price_s == before);
  for (int i = 0; i < 200; i++) wtl_stages_learn(&s, 0);
  CHECK_NEAR(s.price_s, 2e-6, 1e-9);
  for (int i = 0; i < 200; i++) wtl_stages_learn(&s, 1900000);
  CHECK_NEAR(s.price_s, 200e-6, 1e-9);
  for (int i = 0; i < 200; i++) wtl_stages_learn(&s, 40000);
  CHECK_NEAR(s.price_s, 40e-6, 1e-6);
  CHECK_NEAR((double)s.limit_ticks, s.price_s * 1e9, 1);
}

TESTS(TEST(only_stores_into_the_watched_line_ring), TEST(a_sleeper_in_a_barrier_is_not_rung_by_data),
      TEST(sleepers_that_watch_different_things_are_all_rung), TEST(a_sleep_ends_by_itself_and_says_so),
      TEST(each_policy_waits_in_its_stage), TEST(a_handler_that_waits_in_the_agent_takes_none_of_the_pes_time),
      TEST(adaptive_ends_asleep_and_yields_where_crowded), TEST(calls_that_are_not_counted_have_no_history),
      TEST(a_yielding_wait_is_charged_for_its_turns_only), TEST(a_pe_that_yields_to_a_computing_one_falls_asleep),
      TEST(an_event_of_another_core_is_polled_for_before_a_turn),
      TEST(turns_that_were_long_are_not_taken_again_at_once), TEST(a_condition_that_holds_costs_no_wait_time),
      TEST(a_wait_that_its_first_polls_end_takes_a_learned_time_a_poll),
      TEST(an_interrupted_poll_does_not_stay_the_learned_time), TEST(a_silent_store_is_rescued_and_counted),
      TEST(a_wait_with_checks_is_checked_until_it_holds), TEST(a_wait_that_a_message_ended_lasted_until_the_bell_rang),
      TEST(a_pe_alone_on_its_node_sleeps_on_the_network),
      TEST(another_thread_of_the_process_wakes_a_sleeper_on_the_network), TEST(others_sleep_on_the_bell),
      TEST(the_longer_a_sleep_the_rarer_the_tests), TEST(policies_have_their_stages),
      TEST(where_pes_outnumber_cores_no_past_counts), TEST(a_pe_that_shares_a_core_by_multithreading_sleeps_earlier),
      TEST(a_given_spin_is_kept), TEST(learning_is_bounded))
