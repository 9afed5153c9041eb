/* profile.c - keeps a table of call sites for each thread and adds the tables up. */
#include "profile/profile.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "os/sparse_memory.h"
#include "profile/kept.h"
#include "profile/python_frames.h"
#include "profile/user_region.h"

/* Of a thread's sites. In simulation less, because the threads of all PEs are in one process. */
enum { FIRST_SLOTS = WTL_OS_IS_SIMULATED ? 32 : 256, MOST_SEEN = 32 };

WTL_OS_DEFINE_THREAD_LOCAL(wtl_thread_profile, wtl_profile_of_thread);
WTL_OS_SHOW_THREAD_LOCAL(wtl_thread_profile, wtl_profile_of_thread);

/* Profiles that have not stopped. A thread may end before or after its PE. */
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static wtl_profile *live;
static _Atomic bool any_timeline;
static pthread_key_t thread_end, seen_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The end of each list. It is the path of no call. */
static wtl_seen_path nothing = {.addr = 0, .word = {{&(const uintptr_t){0}, 0}}};

/* A thread without memory for its paths reads each path anew. */
static wtl_seen_paths no_seen = {.head = {[0 ... WTL_SEEN_HEADS - 1] = &nothing}, .region = WTL_NO_REGION};

static void forget_all(wtl_seen_paths *all)
{
  for (int i = 0; i < WTL_SEEN_HEADS; i++) all->head[i] = &nothing;
  all->used = 0;
}

bool wtl_seen_path_holds(const wtl_seen_path *seen)
{
  for (unsigned i = 1; i < seen->n_stack; i++)
    if (*seen->word[i].at != seen->word[i].value) return false;
  if (seen->python) {
    if (wtl_python_frame_here() != seen->python) return false; /* the other frames may be gone */
    for (unsigned i = seen->n_stack; i < seen->n_words; i++)
      if (*seen->word[i].at != seen->word[i].value) return false;
  }
  const wtl_path_library *libraries = (const wtl_path_library *)&seen->word[seen->n_words];
  return seen->n_libraries == 0 || wtl_path_libraries_stay(libraries, seen->n_libraries);
}

static void on_thread_end(void *table)
{
  pthread_mutex_lock(&live_lock);
  for (wtl_profile *p = live; p; p = p->next_live)
    for (wtl_site_table *t = p->tables; t; t = t->next)
      if (t == table) t->idle = true;
  pthread_mutex_unlock(&live_lock);
}

static void forget_seen(void *first)
{
  wtl_thread_sites.seen = NULL;
  wtl_thread_sites.generation = 0; /* a later call of this thread begins anew */
  for (wtl_seen_paths *seen = first, *next; seen; seen = next) {
    next = seen->next;
    if (seen->room) munmap(seen->room, WTL_SEEN_BYTES);
    free(seen);
  }
}

static void make_key(void)
{
  pthread_key_create(&thread_end, on_thread_end);
  pthread_key_create(&seen_end, forget_seen);
}

static void watch_ends(void)
{
  if (!WTL_OS_IS_SIMULATED) pthread_once(&once, make_key); /* a process with many PEs would have too few keys */
}

/* Marks the table as free for another thread when the calling thread ends. */
static void watch_end(const wtl_site_table *t)
{
  if (!WTL_OS_IS_SIMULATED) pthread_setspecific(thread_end, t);
}

void wtl_profile_start(wtl_profile *p, bool on, int depth)
{
  static _Atomic uint64_t generations;
  watch_ends();
  p->on = on;
  p->depth = depth;
  p->tables = NULL;
  p->starter = &wtl_thread_sites;
  p->timeline_bytes = 0;
  p->n_partners = 0;
  p->kept = NULL;
  p->n_tables = 0;
  p->generation = ++generations;
  pthread_mutex_lock(&live_lock);
  p->next_live = live;
  live = p;
  pthread_mutex_unlock(&live_lock);
}

void wtl_profile_keep(wtl_profile *p, const char *folder)
{
  p->kept = wtl_kept_start(folder);
}

void wtl_profile_keep_begin(wtl_profile *p, const wtl_call_info *const *calls)
{
  wtl_kept_begin(p->kept, calls);
  for (wtl_site_table *t = p->tables; t && p->kept && t->slots; t = t->next) {
    const wtl_slots *s = t->slots;
    for (uint32_t i = 0; i <= s->mask; i++)
      if (s->slot[i].addr) wtl_kept_note_site(p->kept, &s->slot[i]);
  }
}

/* Memory in the profile's file, or private memory without one. It is zeroed. */
static void *allocate(wtl_kept *kept, enum wtl_kept_kind kind, uint32_t number, size_t bytes)
{
  void *at = wtl_kept_allocate(kept, kind, number, bytes);
  return at ? at : calloc(1, bytes);
}

static void free_private(wtl_kept *kept, void *at)
{
  if (!wtl_kept_has(kept, at)) free(at);
}

static void free_slots(wtl_kept *kept, wtl_slots *s)
{
  for (wtl_slots *next; s; s = next) {
    next = s->retired;
    free_private(kept, s);
  }
}

void wtl_profile_stop(wtl_profile *p)
{
  pthread_mutex_lock(&live_lock);
  for (wtl_profile **at = &live; *at; at = &(*at)->next_live) {
    if (*at != p) continue;
    *at = p->next_live;
    break;
  }
  pthread_mutex_unlock(&live_lock);
  for (wtl_site_table *t = p->tables, *next; t; t = next) {
    next = t->next;
    free_slots(p->kept, t->slots);
    wtl_partners_free(&t->partners);
    free(t->timeline);
    if (t->sequence) wtl_sequence_free(t->sequence);
    free(t->sequence);
    free_private(p->kept, t);
  }
  wtl_kept_stop(p->kept);
  p->kept = NULL;
  p->tables = NULL;
  p->on = false;
  p->generation = 0; /* matches no thread, so that none uses a freed table again */
}

/* Used without memory for a table. Calls of such threads are not counted. */
static wtl_slots no_slots = {.slot = {{0}}};
static wtl_site_table no_table = {.slots = &no_slots, .spare.timed_at = UINT64_MAX};

static wtl_slots *new_slots(const wtl_site_table *t, uint32_t count)
{
  wtl_slots *s = allocate(t->kept, WTL_KEPT_SLOTS, t->number, sizeof *s + count * sizeof *s->slot);
  if (s) s->mask = count - 1;
  return s;
}

static wtl_site_table *inherit(wtl_profile *p)
{
  for (wtl_site_table *t = p->tables; t; t = t->next) {
    bool idle = true;
    if (atomic_compare_exchange_strong(&t->idle, &idle, false)) return t;
  }
  return NULL;
}

static wtl_site_table *new_table(wtl_profile *p)
{
  uint32_t number = p->n_tables++;
  wtl_site_table *t = allocate(p->kept, WTL_KEPT_TABLE, number, sizeof *t);
  if (!t) return NULL;
  t->kept = p->kept;
  t->number = number;
  if (p->on && !(t->slots = new_slots(t, FIRST_SLOTS))) {
    free_private(p->kept, t);
    return NULL;
  }
  t->partners.n = p->n_partners;
  if (p->on && (t->sequence = calloc(1, sizeof *t->sequence))) t->sequence->areas = p->symmetric;
  if (p->timeline_bytes) t->timeline = wtl_timeline_make(p->timeline_bytes);
  t->spare.timed_at = UINT64_MAX; /* uncounted calls are not timed */
  t->next = p->tables;
  while (!atomic_compare_exchange_weak(&p->tables, &t->next, t)) continue;
  return t;
}

void wtl_profile_keep_partners(wtl_profile *p, int n)
{
  p->n_partners = n <= WTL_PARTNERS_MOST ? n : 0;
  for (wtl_site_table *t = p->tables; t; t = t->next) t->partners.n = p->n_partners;
}

wtl_partners wtl_profile_partners(const wtl_profile *p)
{
  wtl_partners all = {.n = p->n_partners};
  for (const wtl_site_table *t = p->tables; t; t = t->next) {
    const wtl_slots *s = t->slots;
    wtl_partners_add(&all, &t->partners);
    for (uint32_t i = 0; s && i <= s->mask; i++)
      if (s->slot[i].addr) wtl_partners_add_run(&all, s->slot[i].call, s->slot[i].calls, &s->slot[i].run);
  }
  return all;
}

void wtl_profile_note_call(const wtl_site *site, uint64_t bytes, int pe, const void *there, const void *here, bool puts,
                           uint64_t kind)
{
  wtl_site_table *t = wtl_thread_sites.table;
  wtl_noted now = {{site->addr, site->call, site->path}, {pe, there, here, puts, kind}, bytes, wtl_ticks()};
  t->noting--;
  if (site->addr) wtl_sequence_note(t->sequence, &now);
}

/* Opens a window of the thread after the first timed calls of a site and after one in eight of the others. */
static void open_window(wtl_site_table *t, const wtl_site *site)
{
  uint64_t timed = site->exact_calls + site->sampled_calls;
  if (!t->sequence || (timed > WTL_FIRST_CALLS && timed % 8)) return;
  if (!t->noting) wtl_sequence_open(t->sequence);
  t->noting = WTL_SEQUENCE_CALLS;
}

void wtl_profile_sequence(const wtl_profile *p, wtl_sequence *all)
{
  for (const wtl_site_table *t = p->tables; t; t = t->next)
    if (t->sequence) wtl_sequence_add(all, t->sequence);
}

void wtl_profile_keep_timeline(wtl_profile *p, size_t bytes)
{
  p->timeline_bytes = bytes;
  any_timeline = true;
  for (wtl_site_table *t = p->tables; t && bytes; t = t->next)
    if (!t->timeline) t->timeline = wtl_timeline_make(bytes);
}

void wtl_profile_note_region(uint32_t region, uint64_t begin, uint64_t end)
{
  const wtl_thread_profile *here = &wtl_thread_sites;
  wtl_timeline *timeline = NULL;
  if (!atomic_load_explicit(&any_timeline, memory_order_relaxed)) return;
  pthread_mutex_lock(&live_lock);
  for (const wtl_profile *p = live; p && !timeline; p = p->next_live)
    if (p->timeline_bytes && p->generation == here->generation) timeline = here->table->timeline;
  pthread_mutex_unlock(&live_lock);
  if (timeline) wtl_timeline_add(timeline, WTL_SPAN_REGION, begin, end, region, 0, WTL_NO_PATH);
}

wtl_site_table *wtl_profile_handlers(wtl_profile *p)
{
  wtl_site_table *t = new_table(p);
  return t ? t : &no_table;
}

/* Moves the thread's paths of a region to the front of its list, whose first element is `first`. Makes them, or takes
 * those of the region that it was in longest ago. */
static wtl_seen_paths *seen_in(wtl_seen_paths *first, uint32_t region)
{
  wtl_seen_paths **at = &first;
  for (int n = 1; *at && (*at)->region != region && n < MOST_SEEN; n++) at = &(*at)->next;
  wtl_seen_paths *seen = *at;
  if (seen)
    *at = seen->next;
  else if (!(seen = calloc(1, sizeof *seen)))
    return NULL;
  if (seen->region != region) seen->generation = 0; /* they are forgotten */
  seen->region = region;
  seen->next = first;
  return seen;
}

/* The paths of this thread in its region, empty if they belong to another profile. */
static wtl_seen_paths *seen_of(uint64_t generation)
{
  wtl_seen_paths *first = wtl_thread_sites.seen == &no_seen ? NULL : wtl_thread_sites.seen;
  if (WTL_OS_IS_SIMULATED) return &no_seen;
  wtl_seen_paths *seen = seen_in(first, wtl_user_region_here());
  if (!seen) return &no_seen;
  if (pthread_setspecific(seen_end, seen) != 0) { /* it can only fail for the first list of a thread */
    free(seen);
    return &no_seen;
  }
  if (!seen->stack.high) seen->stack = first ? first->stack : wtl_path_stack_here();
  if (seen->generation != generation) {
    forget_all(seen);
    seen->generation = generation;
  }
  return seen;
}

void wtl_profile_change_region(void)
{
  wtl_seen_paths *seen = wtl_thread_sites.seen;
  if (seen && seen != &no_seen) wtl_thread_sites.seen = seen_of(seen->generation);
}

wtl_site_table *wtl_profile_table(wtl_profile *p, uint32_t call, int pe)
{
  wtl_thread_sites.seen = seen_of(p->generation);
  if (wtl_thread_sites.generation >= WTL_IN_AGENTS_HANDLER) {
    if (p->in_handler) p->in_handler(call, pe);
    return wtl_thread_sites.table;
  }
  wtl_site_table *t = inherit(p);
  if (!t && !(t = new_table(p))) return &no_table;
  watch_end(t);
  wtl_thread_sites.table = t;
  wtl_thread_sites.generation = p->generation;
  if (p->other_thread && p->starter != &wtl_thread_sites) p->other_thread(call);
  return t;
}

static bool is_at(const wtl_site *s, uintptr_t addr, uint32_t call, uint32_t path)
{
  return s->addr == addr && s->call == call && s->path == path;
}

static wtl_site *probe(wtl_site *slots, uint32_t mask, const wtl_site *like)
{
  uint32_t i = wtl_site_hash(like->addr, like->call, like->path) & mask;
  while (slots[i].addr && !is_at(&slots[i], like->addr, like->call, like->path)) i = (i + 1) & mask;
  return &slots[i];
}

static bool grow(wtl_site_table *t)
{
  wtl_slots *old = t->slots, *s = new_slots(t, (old->mask + 1) * 2);
  if (!s) return false;
  for (uint32_t i = 0; i <= old->mask; i++)
    if (old->slot[i].addr) *probe(s->slot, s->mask, &old->slot[i]) = old->slot[i];
  s->retired = old;
  t->slots = s;
  for (wtl_slots *r = wtl_kept_has(t->kept, s) ? old : NULL; r; r = r->retired) wtl_kept_replaced(t->kept, r);
  return true;
}

/* The site in the table, a new one if need be; the spare one without memory. */
static wtl_site *find_in_table(wtl_site_table *t, const wtl_site *like)
{
  wtl_slots *s = t->slots;
  wtl_site *site = probe(s->slot, s->mask, like);
  if (site->addr) return site;
  if (t->used * 3 > s->mask * 2) {
    if (!grow(t)) return &t->spare;
    s = t->slots;
    site = probe(s->slot, s->mask, like);
  }
  wtl_kept_note_site(t->kept, like);
  site->call = like->call;
  site->path = like->path;
  site->addr = like->addr;
  t->used++;
  return site;
}

/* Finds the present path among those that this thread has seen, and puts it first. A list of LONGEST, whose
 * search may take as long as to read the path anew, loses its last one. */
static wtl_site *find_seen(wtl_seen_path **head, const wtl_slots *slots, wtl_origin from, uint32_t call)
{
  enum { LONGEST = 96 };
  int n = 0;
  for (wtl_seen_path **at = head, *seen; (seen = *at) != &nothing; at = &seen->next) {
    if (++n == LONGEST) seen->next = &nothing;
    if (seen->addr != from.addr || seen->frame != from.frame || seen->call != call || seen->slots != slots ||
        *seen->word[0].at != seen->word[0].value || !wtl_seen_path_holds(seen))
      continue;
    *at = seen->next;
    seen->next = *head;
    *head = seen;
    return seen->site;
  }
  return NULL;
}

static void remember(wtl_seen_paths *all, const wtl_seen_path *path, const wtl_path_grounds *grounds)
{
  size_t words = grounds->n_words * sizeof *grounds->word, libraries = grounds->n_libraries * sizeof *grounds->library;
  size_t bytes = (sizeof *path + words + libraries + 15) & ~(size_t)15;
  if (all == &no_seen || !grounds->complete) return;
  if (!all->room && !(all->room = wtl_os_reserve(WTL_SEEN_BYTES))) return;
  if (bytes > WTL_SEEN_BYTES - all->used) forget_all(all);
  wtl_origin from = {path->addr, path->frame};
  wtl_seen_path *seen = (void *)(all->room + all->used), **head = &all->head[wtl_seen_hash(from, path->call)];
  all->used += bytes;
  *seen = *path;
  memcpy(seen->word, grounds->word, words);
  memcpy(&seen->word[grounds->n_words], grounds->library, libraries);
  seen->next = *head;
  *head = seen;
}

/* Gives a path that depends on no word of the stack one that never changes. */
static void need_a_word(wtl_path_grounds *g)
{
  if (g->n_words == WTL_PATH_WORDS) g->n_words--, g->complete = false;
  memmove(&g->word[1], &g->word[0], g->n_words * sizeof *g->word);
  g->word[0] = nothing.word[0];
  g->n_words++;
  g->n_stack = 1;
}

typedef struct search {
  const wtl_profile *profile;
  wtl_site_table *table;
  wtl_origin from;
  uint32_t call;
  wtl_site *found;
} search;

/* Finds the site of a call whose path was not seen lately. Not inline, because its variables need 5 KiB. */
__attribute__((noinline)) static void find_by_path(void *of)
{
  search *s = of;
  wtl_seen_paths *all = wtl_thread_sites.seen;
  wtl_path_grounds grounds;
  wtl_site like = {.addr = s->from.addr, .call = s->call, .path = WTL_NO_PATH};
  like.path = wtl_path_find(s->from, s->profile->depth, all->stack, all->region, &grounds);
  s->found = find_in_table(s->table, &like);
  if (!grounds.n_stack) need_a_word(&grounds);
  wtl_seen_path path = {.addr = s->from.addr,
                        .frame = s->from.frame,
                        .slots = s->table->slots,
                        .site = s->found,
                        .call = s->call,
                        .python = grounds.python,
                        .n_words = grounds.n_words,
                        .n_stack = grounds.n_stack,
                        .n_libraries = grounds.n_libraries};
  if (s->found != &s->table->spare) remember(all, &path, &grounds);
}

/* A thread may have a stack of 16 KiB, of which the C library uses a half. */
static bool has_small_stack(wtl_path_stack stack)
{
  enum { SMALL = 64 << 10 };
  return (uintptr_t)__builtin_frame_address(0) - stack.low < SMALL;
}

wtl_site *wtl_profile_find(const wtl_profile *p, wtl_site_table *t, wtl_origin from, uint32_t call)
{
  wtl_seen_paths *all = wtl_thread_sites.seen;
  search s = {p, t, from, call, NULL};
  if (t == &no_table) return &t->spare;
  if (WTL_OS_IS_SIMULATED) return find_in_table(t, &(wtl_site){.addr = from.addr, .call = call, .path = WTL_NO_PATH});
  if ((s.found = find_seen(&all->head[wtl_seen_hash(from, call)], t->slots, from, call))) return s.found;
  if (has_small_stack(all->stack))
    wtl_os_call_with_room(find_by_path, &s);
  else
    find_by_path(&s);
  return s.found;
}

wtl_site *wtl_profile_check(const wtl_profile *p, wtl_site *site, wtl_origin from, uint64_t bytes, int pe)
{
  wtl_site_table *t = wtl_thread_sites.table;
  if (WTL_OS_IS_SIMULATED || site == &t->spare) return site;
  const wtl_seen_path *seen = wtl_thread_sites.seen->head[wtl_seen_hash(from, site->call)];
  if (seen->site == site && seen->frame == from.frame && wtl_seen_path_holds(seen)) return site;
  site->calls--;
  site->bytes -= bytes;
  site = wtl_profile_find(p, t, from, site->call);
  wtl_site_count(t, site, bytes, pe);
  return site;
}

void wtl_site_begin_run(wtl_site_table *t, wtl_site *site, uint64_t size, int partner)
{
  wtl_partners_add_run(&t->partners, site->call, site->calls, &site->run);
  site->run = (wtl_run){.size = size, .begun_at = site->calls, .partner = partner};
}

/* The first call after the `n`th that is to be timed. */
static uint64_t next_timed(uint64_t n)
{
  if (n < WTL_FIRST_CALLS) return n + 1;
  uint64_t period = n < WTL_OFTEN_UNTIL - WTL_OFTEN / 2 ? WTL_OFTEN : WTL_SELDOM;
  return (n + period / 2) / period * period + period / 2;
}

void wtl_profile_leave(wtl_site *site, uint64_t bytes, uint64_t start, uint64_t waited)
{
  uint64_t now = wtl_ticks(), ticks = now - start - (wtl_site_waited(site) - waited);
  wtl_site_table *t = wtl_thread_sites.table;
  wtl_timeline *timeline = t->timeline;
  if (timeline) wtl_timeline_add(timeline, WTL_SPAN_CALL, start, now, site->addr, site->call, site->path);
  if (wtl_profile_exact(site, bytes) || ticks > WTL_HELD_UP) {
    site->exact_calls++;
    site->exact_ticks += ticks;
  } else {
    site->sampled_calls++;
    site->sampled_ticks += ticks;
  }
  if (ticks > WTL_HELD_UP)
    site->timed_at = site->calls + 1; /* the calls may be long by themselves */
  else if (site->calls >= site->timed_at)
    site->timed_at = next_timed(site->calls);
  if (t->noting) wtl_sequence_left(t->sequence, now);
  open_window(t, site);
}

uint64_t wtl_profile_bytes(const wtl_profile *p)
{
  uint64_t bytes = 0;
  for (const wtl_site_table *t = p->tables; t; t = t->next) bytes += t->bytes;
  return bytes;
}

double wtl_site_ticks(const wtl_site *s)
{
  uint64_t others = s->calls - s->exact_calls;
  if (others == 0) return (double)s->exact_ticks;
  if (s->sampled_calls)
    return (double)s->exact_ticks + (double)s->sampled_ticks / (double)s->sampled_calls * (double)others;
  if (s->exact_calls)
    return (double)s->exact_ticks / (double)s->exact_calls * (double)s->calls; /* too few calls for a sample */
  return NAN;
}

static void add(wtl_site *to, const wtl_site *s, unsigned shift)
{
  to->addr = s->addr;
  to->call = s->call;
  to->path = s->path;
  to->calls += s->calls;
  to->bytes += s->bytes;
  to->exact_calls += s->exact_calls;
  to->exact_ticks += s->exact_ticks;
  to->sampled_calls += s->sampled_calls;
  to->sampled_ticks += s->sampled_ticks;
  to->waits += s->waits;
  for (int k = 0; k < WTL_N_STAGES; k++) to->wait_ticks[k] += s->wait_ticks[k];
  for (int k = 0; k < WTL_WAITED_CLASSES; k++) to->waited.count[k] += s->waited.count[k];
  if (s->waited.call) to->waited.count[wtl_waited_class(s->waited.ticks, shift)]++;
}

wtl_site *wtl_profile_merge(wtl_profile *p, unsigned shift, uint64_t *n)
{
  uint64_t capacity = 8, taken = 0;
  wtl_site *all;
  *n = 0;
  for (wtl_site_table *t = p->tables; t; t = t->next) capacity += t->used;
  while (capacity & (capacity - 1))
    capacity += capacity & -capacity; /* twice the next power of two, so that probes stay short */
  capacity *= 2;
  if (!p->on || !(all = calloc(capacity, sizeof *all))) return NULL;
  for (wtl_site_table *t = p->tables; t; t = t->next) {
    const wtl_slots *s = t->slots;
    for (uint32_t i = 0; i <= s->mask && taken < capacity - 1; i++) { /* its thread may be adding sites */
      if (!s->slot[i].addr) continue;
      wtl_site *to = probe(all, (uint32_t)capacity - 1, &s->slot[i]);
      if (!to->addr) taken++;
      add(to, &s->slot[i], shift);
    }
  }
  for (uint64_t i = 0; i < capacity; i++)
    if (all[i].addr) all[(*n)++] = all[i];
  return all;
}
