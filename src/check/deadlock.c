/* deadlock.c - publishes the position of this PE, and reads the positions of the others when a wait lasts long
 * (deadlock.h has the protocol). */
#include "check/deadlock.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/floats.h"
#include "os/locale.h"
#include "pgas/near.h"
#include "profile/line.h"
#include "record/record.h"

enum phase { NOWHERE, ARRIVES, ALL_ARRIVED, ENDS };
enum { TURN, PHASE, CALL, ADDR, START, STRIDE, SIZE, ENTRY, NODE, SEGMENT, OFFSET };
_Static_assert((int)OFFSET + 1 == (int)WTL_WHERE_WORDS, "there is a word for each");

#define UNKNOWN UINT64_MAX

/* The position that a PE has published, as read. */
typedef struct place {
  uint64_t word[WTL_WHERE_WORDS];
} place;

static _Atomic uint64_t *words_of(const wtl_pe *self, int pe)
{
  return wtl_control_of(self, pe)->call_state.where;
}

/* --- publishing --- */

static void publish(wtl_pe *self, const place *p, int from, int to)
{
  _Atomic uint64_t *mine = words_of(self, self->me);
  uint64_t turn = atomic_load_explicit(&mine[TURN], memory_order_relaxed);
  atomic_store(&mine[TURN], turn + 1); /* odd: a change is under way */
  for (int i = from; i <= to; i++) atomic_store(&mine[i], p->word[i]);
  atomic_store(&mine[TURN], turn + 2);
}

/* The address of the call in the program's own file, as profiles and SIGQUIT show it. */
static uint64_t place_in_program(const wtl_pe *self, const wtl_site *site)
{
  const wtl_live *l = self->door.live;
  return l && site->addr >= l->base && site->addr < l->end ? site->addr - l->base - 1 : UNKNOWN;
}

/* The comparison in which this PE arrives, from its own state. */
static place place_here(const wtl_pe *self, const wtl_site *site, const wtl_team *t)
{
  wtl_place sync = t->sync ? wtl_far_place(self, t->sync) : (wtl_place){0};
  return (place){{[PHASE] = ARRIVES,
                  [CALL] = t->call,
                  [ADDR] = place_in_program(self, site),
                  [START] = (uint64_t)t->start,
                  [STRIDE] = (uint64_t)(int64_t)t->stride,
                  [SIZE] = (uint64_t)t->n,
                  [ENTRY] = t->sync ? UNKNOWN : (uint64_t)t->entry,
                  [NODE] = t->of_node ? (uint64_t)self->boot.node : UNKNOWN,
                  [SEGMENT] = sync.segment,
                  [OFFSET] = sync.offset}};
}

void wtl_deadlock_arrive(wtl_pe *self, const wtl_site *site, const wtl_team *t)
{
  place here = place_here(self, site, t);
  if (!self->threads_anywhere) publish(self, &here, PHASE, OFFSET);
}

void wtl_deadlock_all_arrived(wtl_pe *self)
{
  if (!self->threads_anywhere) publish(self, &(place){{[PHASE] = ALL_ARRIVED}}, PHASE, PHASE);
}

void wtl_deadlock_end(wtl_pe *self)
{
  publish(self, &(place){{[PHASE] = ENDS}}, PHASE, PHASE);
}

/* --- reading --- */

/* The positions of the other PEs, as a waiting PE has read them. */
typedef struct view {
  wtl_pe *self;
  wtl_site *site;
  const wtl_team *team;
  place *of; /* by PE of the job, as first read; this PE's own comes from its own state */
  bool *is_read;
  int *by; /* the PE that waits for this one, on the path from the reading PE */
  int *queue;
} view;

/* The address of the word at `at` of a PE of this node. */
static char *near_place(const wtl_pe *self, int pe, wtl_place at)
{
  if (at.segment == WTL_SEGMENT_TEAM_ENTRIES) return wtl_entry_at(self, pe, at.offset, sizeof(uint64_t));
  return (char *)&wtl_control_of(self, pe)->call_state + at.offset;
}

/* Reads `n` words of a PE, one by one, since other memory around them may not be read. */
static void read_words(const view *v, int pe, wtl_place at, uint64_t words[], int n)
{
  wtl_pe *self = v->self;
  _Atomic uint32_t left = 0;
  wtl_op op = {.self = self, .site = v->site, .pe = pe, .left = &left};
  for (int i = 0; i < n; i++, at.offset += sizeof *words)
    if (self->slot_of[pe] >= 0)
      words[i] = __atomic_load_n((uint64_t *)(void *)near_place(self, pe, at), __ATOMIC_SEQ_CST);
    else
      wtl_far_amo_at(&op, at, &(wtl_atomic){WTL_AMO_FETCH, sizeof *words, 0, 0}, &words[i]);
  if (self->slot_of[pe] < 0) wtl_far_wait(self, v->site, &left);
}

static bool same(const place *a, const place *b)
{
  return memcmp(a, b, sizeof *a) == 0;
}

/* Reads the position of a PE as it was at one moment. False: it is changing, so the PE makes progress. */
static bool read_place(const view *v, int pe, place *p)
{
  const wtl_place where = {offsetof(wtl_call_state, where), WTL_SEGMENT_CALL_STATE};
  place again;
  read_words(v, pe, where, p->word, WTL_WHERE_WORDS);
  read_words(v, pe, where, again.word, WTL_WHERE_WORDS);
  return p->word[TURN] % 2 == 0 && same(p, &again);
}

static const place *place_of(view *v, int pe)
{
  if (!v->is_read[pe] && !read_place(v, pe, &v->of[pe])) v->of[pe].word[PHASE] = NOWHERE;
  v->is_read[pe] = true;
  return &v->of[pe];
}

static bool is_same_comparison(const place *a, const place *b)
{
  return memcmp(&a->word[START], &b->word[START], (OFFSET + 1 - START) * sizeof *a->word) == 0;
}

/* A PE of the comparison at `p`, 0 <= i < size; -1: its number is known on another node only. */
static int member(const wtl_pe *self, const place *p, int i)
{
  int at = (int)p->word[START] + i * (int)p->word[STRIDE];
  if (p->word[NODE] == UNKNOWN) return at;
  return p->word[NODE] == (uint64_t)self->boot.node ? self->boot.local_pe[at] : -1;
}

/* Whether `pe` arrives in another comparison than the one at `p`. */
static bool is_in_another(view *v, const place *p, int pe)
{
  const place *q = place_of(v, pe);
  return q->word[PHASE] == ARRIVES && !is_same_comparison(p, q);
}

/* Finds a circle of PEs that wait for each other and that contains this one. Returns its last PE, which waits for
 * this one, or -1 if there is none. v->by leads back from it. */
static int find_circle(view *v)
{
  int n = 0, me = v->self->me;
  v->queue[n++] = me;
  for (int i = 0; i < v->self->n; i++) v->by[i] = -1;
  for (int k = 0; k < n; k++) {
    int pe = v->queue[k];
    const place *p = place_of(v, pe);
    for (int i = 0; i < (int)p->word[SIZE]; i++) {
      int other = member(v->self, p, i);
      if (other < 0 || !is_in_another(v, p, other)) continue;
      if (other == me) return pe;
      if (v->by[other] >= 0) continue;
      v->by[other] = pe;
      v->queue[n++] = other;
    }
  }
  return -1;
}

/* Whether this PE reports the circle: its first PE does, if no PE of it has moved. If a comparison of the circle
 * uses the numbers of a node, the first PE of that node reports. PEs of other nodes do not see that circle. */
static bool must_report(view *v, int last)
{
  const wtl_pe *self = v->self;
  bool of_node = place_of(v, self->me)->word[NODE] != UNKNOWN;
  for (int pe = last; pe != self->me; pe = v->by[pe]) of_node |= v->of[pe].word[NODE] != UNKNOWN;
  for (int pe = last; pe != self->me; pe = v->by[pe]) {
    place now;
    if (pe < self->me && (!of_node || self->slot_of[pe] >= 0)) return false;
    if (!read_place(v, pe, &now) || !same(&now, &v->of[pe])) return false;
  }
  return true;
}

/* --- texts --- */

typedef struct text {
  char at[800];
  size_t n;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
  WTL_LOCALE_APART;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->at + t->n, sizeof t->at - t->n, format, args);
  va_end(args);
  if (n > 0) t->n += (size_t)n < sizeof t->at - t->n ? (size_t)n : sizeof t->at - t->n - 1;
}

static const char *name_of(const wtl_pe *self, const place *p)
{
  return wtl_call_of(self->record->calls, (uint32_t)p->word[CALL])->name;
}

static void add_addr(text *t, const place *p)
{
  char line[160];
  if (p->word[ADDR] == UNKNOWN) return;
  add(t, " at program+0x%llx%s", (unsigned long long)p->word[ADDR],
      wtl_line_of(NULL, p->word[ADDR], line, sizeof line));
}

static void add_team(text *t, const wtl_pe *self, const place *p)
{
  long long start = (long long)p->word[START], stride = (int64_t)p->word[STRIDE], n = (long long)p->word[SIZE];
  if (p->word[ENTRY] == UNKNOWN) {
    bool in_statics = p->word[OFFSET] < self->statics_bytes;
    add(t, "the active set PE_start=%lld, logPE_stride=%d, PE_size=%lld and pSync at %s %llu", start,
        __builtin_ctzll((unsigned long long)stride), n, in_statics ? "offset" : "heap offset",
        (unsigned long long)(p->word[OFFSET] - (in_statics ? 0 : self->statics_bytes)));
    if (in_statics) add(t, " of the program's variables");
  } else if (p->word[ENTRY] == WTL_ENTRY_OF_WORLD) {
    bool is_shmem = p->word[CALL] / WTL_CALLS_A_FRONT == WTL_FRONT_FIRST; /* the others have no name for it */
    add(t, is_shmem ? "SHMEM_TEAM_WORLD" : "all PEs");
  } else if (p->word[ENTRY] == WTL_ENTRY_OF_NODE) {
    add(t, "SHMEM_TEAM_SHARED");
  } else {
    const char *of = p->word[NODE] == UNKNOWN ? "" : " of the node's";
    add(t, "a team of PEs %lld to %lld%s", start, start + (n - 1) * stride, of);
    if (stride != 1) add(t, ", stride %lld", stride);
  }
}

static void add_place(text *t, const wtl_pe *self, int pe, const place *p)
{
  add(t, "PE %d is in %s", pe, name_of(self, p));
  add_addr(t, p);
  add(t, " with ");
  add_team(t, self, p);
}

static const char same_calls[] = "all PEs of a team must make the same calls in the same order";

static void refuse_circle(view *v, int last)
{
  enum { MOST = 4 };
  text t = {.n = 0};
  int chain[MOST], n = 0, left = 0;
  for (int pe = last; pe != v->self->me; pe = v->by[pe], left++)
    if (n < MOST) chain[n++] = pe;
  const place *mine = place_of(v, v->self->me);
  add_place(&t, v->self, v->self->me, mine);
  while (n > 0) {
    int pe = chain[--n];
    add(&t, ", ");
    add_place(&t, v->self, pe, place_of(v, pe));
  }
  if (left > MOST) add(&t, ", and %d more PEs", left - MOST);
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: deadlock: PEs wait for each other: %s; %s", name_of(v->self, mine), t.at,
              same_calls);
}

static void refuse_ended(view *v, int pe)
{
  text t = {.n = 0};
  const place *mine = place_of(v, v->self->me);
  add_addr(&t, mine);
  add(&t, " with ");
  add_team(&t, v->self, mine);
  wtl_pe_fail(WTL_EXIT_USAGE, "%s%s: PE %d has ended and cannot take part; %s", name_of(v->self, mine), t.at, pe,
              same_calls);
}

static void report_late(view *v, int pe, double waited)
{
  text t = {.n = 0};
  const place *mine = place_of(v, v->self->me), *p = place_of(v, pe);
  add_addr(&t, mine);
  add(&t, " with ");
  add_team(&t, v->self, mine);
  add(&t, ": has waited %.3g s for PE %d", waited, pe);
  switch ((enum phase)p->word[PHASE]) {
  case ARRIVES:
    add(&t, ", which is in %s", name_of(v->self, p));
    add_addr(&t, p);
    add(&t, " with ");
    add_team(&t, v->self, p);
    break;
  case ALL_ARRIVED:
    add(&t, ", whose last collective call was %s", name_of(v->self, p));
    add_addr(&t, p);
    break;
  default: break;
  }
  wtl_message_print("%s%s; it keeps waiting; this is reported once", name_of(v->self, mine), t.at);
}

/* --- waiting --- */

/* Whether the team's PE `i` is in this comparison. A team counts its comparisons, and no two threads of a PE are in
 * one of the same team. An active set has no counter, so a PE counts as present if its last comparison was of the
 * same set. */
static bool is_here(view *v, int i)
{
  const wtl_team *t = v->team;
  int pe = wtl_team_pe(v->self, t, i);
  if (t->sync) {
    const place *p = place_of(v, pe);
    return (p->word[PHASE] == ARRIVES || p->word[PHASE] == ALL_ARRIVED) &&
           is_same_comparison(place_of(v, v->self->me), p);
  }
  uint64_t serial;
  size_t published = wtl_entry_offset(t->entry) + offsetof(wtl_team_entry, published);
  read_words(v, pe, (wtl_place){published + WTL_PUBLISHED_SERIAL * sizeof serial, WTL_SEGMENT_TEAM_ENTRIES}, &serial,
             1);
  return serial == t->comparisons;
}

/* Whether this PE is the first one that waits in this comparison, so that only one PE reports. */
static bool is_first(view *v)
{
  for (int i = 0; i < v->team->me; i++)
    if (is_here(v, i) && place_of(v, wtl_team_pe(v->self, v->team, i))->word[PHASE] != ALL_ARRIVED) return false;
  return true;
}

/* The first PE of the team that is not in this comparison, or (`ended`) the first one that has ended; -1: none. */
static int find_missing(view *v, bool ended)
{
  for (int i = 0; i < v->team->n; i++) {
    int pe = wtl_team_pe(v->self, v->team, i);
    if (ended ? place_of(v, pe)->word[PHASE] == ENDS : !is_here(v, i)) return pe;
  }
  return -1;
}

static void judge(view *v, double waited)
{
  wtl_pe *self = v->self;
  int ended = find_missing(v, true), late = find_missing(v, false);
  if (ended >= 0 && is_first(v)) refuse_ended(v, ended);
  int last = self->threads_anywhere ? -1 : find_circle(v);
  if (last >= 0 && must_report(v, last)) refuse_circle(v, last);
  if (late < 0 || waited < WTL_LATE_AFTER * self->settings.patience.seconds || !is_first(v)) return;
  if (!atomic_exchange(&self->reported_late, true)) report_late(v, late, waited);
}

/* A wait for an arrival. */
typedef struct arrival {
  wtl_pe *self;
  wtl_site *site;
  const wtl_team *team;
  bool (*ready)(void *);
  void *arg;
  uint64_t began_ns;
} arrival;

static bool has_arrived(void *arg)
{
  const arrival *a = arg;
  return a->ready(a->arg);
}

static void examine(void *arg)
{
  WTL_FLOATS_APART;
  const arrival *a = arg;
  size_t n = (size_t)a->self->n;
  view v = {a->self,
            a->site,
            a->team,
            malloc(n * sizeof *v.of),
            calloc(n, sizeof *v.is_read),
            malloc(n * sizeof *v.by),
            malloc(n * sizeof *v.queue)};
  if (v.of && v.is_read && v.by && v.queue) {
    v.of[v.self->me] = place_here(v.self, v.site, v.team);
    v.is_read[v.self->me] = true;
    judge(&v, (double)(wtl_clock_ns() - a->began_ns) * 1e-9);
  }
  free(v.of);
  free(v.is_read);
  free(v.by);
  free(v.queue);
}

void wtl_deadlock_wait(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch, bool (*ready)(void *),
                       void *arg)
{
  arrival a = {self, site, t, ready, arg, wtl_clock_ns()};
  wtl_door_wait_with_checks(&self->door, site, watch, has_arrived, &a, self->settings.patience.seconds, examine);
}
