/*
 * profile.h - counts for each call site: calls, bytes, time, and waiting by stage.
 *
 * DESIGN. A site is a call with its return address and the path of callers above it (call_path.h). Each thread of a PE
 * counts into its own table, without atomics. The tables are added up when the profile is written.
 * They lie in a file of the node's memory (kept.h), so that they outlive a process that is killed.
 *
 * A thread remembers the paths that it has seen, by call and return address. A call compares the words of the stack
 * that its last path was read from, and reads the path again only if one has changed. A short call (wtl_enter_to, up to
 * WTL_LONG_BYTES) takes nanoseconds, so it compares all words only when it is timed. Between two timed calls it
 * compares the stack pointer and the nearest caller. A call from Python compares all words, because the stack is the
 * same for all callers in Python since 3.11.
 *
 * Every call is counted. Always timed are the first WTL_FIRST_CALLS of a site, those that move at least WTL_LONG_BYTES,
 * and all waiting. Of the other calls one in WTL_OFTEN is timed up to the WTL_OFTEN_UNTILth, and one in WTL_SELDOM
 * after it. A sample of more than WTL_HELD_UP ticks was interrupted (another process had the core), or its call is long
 * by itself. It counts once and does not represent calls that were not timed, and the next call is timed, too. Waiting
 * inside a call is not part of its time.
 *
 * After the first timed calls of a site and after one in eight of the others, the next calls of the thread are noted
 * with their order (sequence.h).
 *
 * A wtl_site pointer is valid until the same thread enters its next call.
 */
#ifndef WTL_PROFILE_H
#define WTL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/atomic.h"
#include "os/os.h"
#include "profile/call_path.h"
#include "profile/partners.h"
#include "profile/sequence.h"
#include "profile/served.h"
#include "profile/timeline.h"

enum {
  WTL_LONG_BYTES = 65536,
  WTL_FIRST_CALLS = 8,
  WTL_OFTEN = 16,
  WTL_OFTEN_UNTIL = 1024,
  WTL_SELDOM = 1024,
  WTL_HELD_UP = 100000
};

/* How a wait polls: as the policy says, without end, or not at all. */
enum wtl_way { WTL_WAY_USUAL, WTL_WAY_POLL, WTL_WAY_SLEEP };

/* Stages of a wait, in order. */
enum wtl_stage { WTL_STAGE_SPIN, WTL_STAGE_YIELD, WTL_STAGE_ASLEEP, WTL_N_STAGES };

/* The kind of work in a call's own time. */
enum wtl_call_kind { WTL_CALL_TRANSFER, WTL_CALL_WAIT, WTL_CALL_OTHER };

/* The direction of a call's bytes. */
enum wtl_direction { WTL_DIR_NONE, WTL_DIR_PUT, WTL_DIR_GET, WTL_DIR_AMO };

/* Whether a handler of active messages may make the call, possibly only to its own PE. */
enum wtl_in_handler { WTL_NOT_IN_HANDLERS, WTL_TO_ITSELF_IN_HANDLERS, WTL_IN_HANDLERS };

/* A call of a front end, as the profile names it. */
typedef struct wtl_call_info {
  const char *name;
  enum wtl_call_kind kind;
  enum wtl_direction direction;
  enum wtl_in_handler in_handler;
} wtl_call_info;

/* Front ends that may share a process have a table each, with at most WTL_CALLS_A_FRONT calls. The number of a call
 * contains both. */
enum wtl_front { WTL_FRONT_FIRST, WTL_FRONT_ARMCI, WTL_N_FRONTS };
enum { WTL_CALLS_A_FRONT = 1 << 12 };

static inline const wtl_call_info *wtl_call_of(const wtl_call_info *const tables[], uint32_t call)
{
  return &tables[call / WTL_CALLS_A_FRONT][call % WTL_CALLS_A_FRONT];
}

/* The recent waits of a site, for src/govern/history.h. */
enum { WTL_WAIT_BUCKETS = 40 };
typedef struct wtl_wait_history {
  uint8_t count[WTL_WAIT_BUCKETS]; /* waits by length */
  uint8_t total;
  uint8_t since;                    /* waits since the limit was computed */
  bool known;                       /* a limit was computed */
  uint8_t way;                      /* enum wtl_way: how the next waits poll, independently of the history */
  float limit;                      /* ticks: how long to poll before sleeping */
  float excess;                     /* ticks: cost of the limits so far beyond ski rental */
  uint64_t last_length, last_limit; /* ticks: of the last wait, if it is not added above yet; length 0: it is */
} wtl_wait_history;

/* The length of a site's waits that no doorbell ends, for src/govern/steps.h. */
typedef struct wtl_wait_length {
  float mean, spread;   /* ticks */
  float shortest[2];    /* ticks: of the last few waits, and of some before them; 0: none */
  uint8_t waits;        /* 255: at least that many */
  uint8_t since;        /* waits that shortest[0] covers */
  bool outlier;         /* the last one was outside the margin */
  uint8_t rung;         /* waits in a row that a wake-up ended (wait/peer_wakeup.h) */
  uint8_t rings_needed; /* the next wake-up is expected only after more in a row than this */
} wtl_wait_length;

/* The calls of a site by the time that each waited. Class 0: less than 2^shift ticks, which is at most
 * WTL_WAITED_FROM_NS and more than half of it. Class k: from 2^(k-1) to 2^k of that; the last class has all longer
 * ones. Calls that never waited are in no class. */
enum { WTL_WAITED_CLASSES = 22, WTL_WAITED_FROM_NS = 1000 };
typedef struct wtl_waited {
  uint64_t call, ticks; /* the last call that waited, counted from 1, and its time so far; it is in no class yet */
  uint32_t count[WTL_WAITED_CLASSES];
} wtl_waited;

typedef struct wtl_site {
  uintptr_t addr; /* return address in the program; 0: free */
  uint32_t call;  /* index in the front ends' tables of calls */
  uint32_t path;  /* node of the return address (call_path.h); WTL_NO_PATH: not known */
  uint64_t calls, bytes;
  uint64_t timed_at; /* the next call that is to be timed, counted from 1 */
  wtl_run run;
  uint16_t long_at, long_row;            /* the last call with a long wait (low bits); how many in a row */
  uint64_t exact_calls, exact_ticks;     /* calls that are always timed */
  uint64_t sampled_calls, sampled_ticks; /* other timed calls */
  uint64_t waits;                        /* times the wait door was entered */
  uint64_t wait_ticks[WTL_N_STAGES];
  wtl_waited waited;
  wtl_wait_history history;
  wtl_wait_length length;
} wtl_site;

typedef struct wtl_profile wtl_profile;
typedef struct wtl_kept wtl_kept;

/* Open addressing; the size is a power of two. */
typedef struct wtl_slots {
  struct wtl_slots *retired; /* the smaller array before; kept, because another thread may be reading it */
  uint32_t mask;
  wtl_site slot[];
} wtl_slots;

/* The sites of one thread. When it ends, the next new thread takes over its table with all counts. */
typedef struct wtl_site_table {
  wtl_slots *_Atomic slots;
  uint32_t used;
  uint32_t noting;        /* calls that are still to be noted in this window */
  uint64_t bytes;         /* of all calls, also if sites are not counted */
  wtl_partners partners;  /* calls by partner and by size */
  wtl_timeline *timeline; /* NULL: no timeline */
  wtl_sequence *sequence; /* calls that follow each other; NULL: not noted */
  struct wtl_site_table *next;
  wtl_kept *kept;    /* of the profile */
  uint32_t number;   /* of its blocks in `kept` */
  _Atomic bool idle; /* its thread has ended */
  wtl_site spare;    /* for calls that are not counted: profile off, or no memory */
} wtl_site_table;

/* A PE's profile: the tables of all its threads. */
struct wtl_profile {
  _Atomic bool on;
  _Atomic(wtl_site_table *) tables;
  void (*in_handler)(uint32_t call, int pe);    /* called for each call of a handler; pe -1: no target */
  void (*other_thread)(uint32_t call);          /* called for the first call of each other thread; may be NULL */
  const void *starter;                          /* memory of the thread that started the profile */
  int n_partners;                               /* PEs with a row in each thread's counts by partner */
  size_t timeline_bytes;                        /* for each thread; 0: no timeline */
  wtl_symmetric symmetric[WTL_SYMMETRIC_AREAS]; /* of the PE */
  int depth;                                    /* of call paths, at most WTL_PATH_DEEPEST; 0: none */
  uint64_t generation;                          /* distinguishes this profile from an earlier one of the same process */
  struct wtl_profile *next_live;                /* the other profiles that have not stopped */
  wtl_kept *kept;                               /* the file of the tables; NULL: they are in private memory */
  _Atomic uint32_t n_tables;
};

/* `depth`: callers of a call path, from 0 to WTL_PATH_DEEPEST. */
void wtl_profile_start(wtl_profile *p, bool on, int depth);
void wtl_profile_stop(wtl_profile *p);

/* Keeps the tables in a file (kept.h), as far as possible. To be called before any call is counted. `folder`:
 * WATTLE_PROFILE_DIR. */
void wtl_profile_keep(wtl_profile *p, const char *folder);

/* Makes the head of that file valid, which the caller has filled, and notes the sites so far. */
void wtl_profile_keep_begin(wtl_profile *p, const wtl_call_info *const *calls);

/* This thread's table for `p`, made on first use, or the handlers' table while it runs a handler. `pe`: target of
 * `call`, or -1. */
wtl_site_table *wtl_profile_table(wtl_profile *p, uint32_t call, int pe);

/* A table for the calls of handlers. They may not count into the table of the thread that runs them, which may be in a
 * call itself. A thread that runs a handler sets its table to this one and its generation to WTL_IN_HANDLER. */
wtl_site_table *wtl_profile_handlers(wtl_profile *p);
#define WTL_IN_HANDLER UINT64_MAX
/* ... or to this in a thread of the runtime beside the program's. */
#define WTL_IN_AGENTS_HANDLER (UINT64_MAX - 1)

/* A path that a thread has seen, and its site. */
typedef struct wtl_seen_path {
  struct wtl_seen_path *next; /* of the same hash, those seen earlier */
  uintptr_t addr;
  const uintptr_t *frame;
  const wtl_slots *slots; /* that contain the site; a table that grows has other ones */
  wtl_site *site;
  const void *python; /* the present Python frame; NULL: the path has none */
  uint32_t call;
  uint16_t n_words, n_stack, n_libraries; /* as in wtl_path_grounds */
  wtl_path_word word[];                   /* at least one; followed by the libraries */
} wtl_seen_path;

enum { WTL_SEEN_HEADS = 512, WTL_SEEN_BYTES = 4 << 20 };

/* The paths that a thread has seen in a region. When there is no more room, it forgets all. */
typedef struct wtl_seen_paths {
  wtl_seen_path *head[WTL_SEEN_HEADS]; /* never NULL */
  uint64_t generation;                 /* of the profile that they belong to */
  struct wtl_seen_paths *next;         /* of the same thread, in another region */
  uint32_t region;                     /* user_region.h */
  wtl_path_stack stack;
  char *room;  /* WTL_SEEN_BYTES, reserved for the first path (sparse_memory.h); NULL: none */
  size_t used; /* bytes of the room */
} wtl_seen_paths;

typedef struct wtl_thread_profile {
  wtl_site_table *table;
  uint64_t generation;
  wtl_seen_paths *seen; /* in its region; the first of its list. Never NULL once the generation is a profile's */
} wtl_thread_profile;

WTL_OS_THREAD_LOCAL(wtl_thread_profile, wtl_profile_of_thread, 0)
#define wtl_thread_sites (*wtl_profile_of_thread_here())

/* The calling thread has begun or ended a region (user_region.h). */
void wtl_profile_change_region(void);

/* Finds or makes the site of a call; never returns NULL. */
wtl_site *wtl_profile_find(const wtl_profile *p, wtl_site_table *t, wtl_origin from, uint32_t call);

static inline uint32_t wtl_site_hash(uintptr_t addr, uint32_t call, uint32_t path)
{
  return (uint32_t)((((uint64_t)addr + call) * 0x9e3779b97f4a7c15ull + path * 0xd6e8feb86659fd93ull) >> 40);
}

/* The mark of a call site, by which other PEs count what they do for it; 0: of no site. Two sites may share one. */
static inline uint16_t wtl_site_mark(const wtl_site *site)
{
  if (!site || !site->addr) return 0;
  return (uint16_t)(1 + wtl_site_hash(site->addr, site->call, site->path) % (WTL_SERVED_ANSWER - 1));
}

/* Paths of one call that differ mostly differ in the depth of the stack, too. */
static inline uint32_t wtl_seen_hash(wtl_origin from, uint32_t call)
{
  uint64_t sum = (uint64_t)from.addr + (uintptr_t)from.frame + call;
  return (uint32_t)(sum * 0x9e3779b97f4a7c15ull >> 40) % WTL_SEEN_HEADS;
}

/* Returns whether all that the path depends on is unchanged, except the origin and the first word. */
bool wtl_seen_path_holds(const wtl_seen_path *seen);

static inline bool wtl_profile_exact(const wtl_site *site, uint64_t bytes)
{
  return bytes >= WTL_LONG_BYTES || site->calls <= WTL_FIRST_CALLS;
}

/* True if the call that was just entered is to be timed. */
static inline bool wtl_profile_timed(const wtl_site *site, uint64_t bytes)
{
  return WTL_UNLIKELY(site->calls >= site->timed_at || bytes >= WTL_LONG_BYTES);
}

/* Adds the present run of a site to the table's counts by partner and by size, and begins one. */
void wtl_site_begin_run(wtl_site_table *t, wtl_site *site, uint64_t size, int partner);

/* Counts a call that moves `bytes` to `pe` (-1: no single target). */
static inline __attribute__((always_inline)) void wtl_site_count(wtl_site_table *t, wtl_site *site, uint64_t bytes,
                                                                 int pe)
{
  if (WTL_UNLIKELY(site->run.size != bytes || site->run.partner != pe)) wtl_site_begin_run(t, site, bytes, pe);
  site->calls++;
  site->bytes += bytes;
}

/* The site of a call; NULL if the last path seen is another one. `is_short`: a constant. */
static inline __attribute__((always_inline)) wtl_site *wtl_profile_seen(const wtl_slots *slots, wtl_origin from,
                                                                        uint32_t call, bool is_short)
{
  const wtl_seen_path *seen = wtl_thread_sites.seen->head[wtl_seen_hash(from, call)];
  if (WTL_UNLIKELY(seen->addr != from.addr || seen->frame != from.frame || seen->call != call || seen->slots != slots ||
                   *seen->word[0].at != seen->word[0].value))
    return NULL;
  bool has_more = is_short ? seen->python != NULL : seen->n_words > 1 || seen->n_libraries;
  if (has_more && WTL_UNLIKELY(!wtl_seen_path_holds(seen))) return NULL;
  if (!seen->site) __builtin_unreachable();
  return seen->site;
}

/* Notes a call of an open window. Plain arguments, so that a call outside windows stores nothing. */
void wtl_profile_note_call(const wtl_site *site, uint64_t bytes, int pe, const void *there, const void *here, bool puts,
                           uint64_t kind);

/* Counts a call from `from` that moves `bytes` to or from `to`. Returns its site. `is_short`: a call that usually takes
 * some nanoseconds; if it is timed, wtl_profile_check follows. */
static inline __attribute__((always_inline)) wtl_site *
wtl_profile_enter_to(wtl_profile *p, wtl_origin from, uint32_t call, uint64_t bytes, wtl_target to, bool is_short)
{
  wtl_site_table *t = wtl_thread_sites.table;
  wtl_site *site = NULL;
  if (WTL_UNLIKELY(wtl_thread_sites.generation != p->generation)) t = wtl_profile_table(p, call, to.pe);
  t->bytes += bytes;
  if (WTL_UNLIKELY(!atomic_load_explicit(&p->on, memory_order_relaxed))) return &t->spare;
  if (!WTL_OS_IS_SIMULATED)
    site = wtl_profile_seen(atomic_load_explicit(&t->slots, memory_order_relaxed), from, call, is_short);
  if (WTL_UNLIKELY(!site)) site = wtl_profile_find(p, t, from, call);
  wtl_site_count(t, site, bytes, to.pe);
  if (WTL_UNLIKELY(t->noting)) wtl_profile_note_call(site, bytes, to.pe, to.there, to.here, to.puts, to.kind);
  return site;
}

/* Returns the site of a short call that was counted at `site` by its nearest caller, now by its whole path. */
wtl_site *wtl_profile_check(const wtl_profile *p, wtl_site *site, wtl_origin from, uint64_t bytes, int pe);

static inline wtl_site *wtl_profile_enter(wtl_profile *p, wtl_origin from, uint32_t call, uint64_t bytes)
{
  return wtl_profile_enter_to(p, from, call, bytes, WTL_NO_TARGET, false);
}

static inline uint64_t wtl_site_waited(const wtl_site *site)
{
  return site->wait_ticks[WTL_STAGE_SPIN] + site->wait_ticks[WTL_STAGE_YIELD] + site->wait_ticks[WTL_STAGE_ASLEEP];
}

/* The shift of the classes of wtl_waited, for ticks of `ns_per_tick`. */
static inline unsigned wtl_waited_shift(double ns_per_tick)
{
  unsigned shift = 0;
  while (shift < 32 && (double)(2ull << shift) * ns_per_tick <= WTL_WAITED_FROM_NS) shift++;
  return shift;
}

static inline unsigned wtl_waited_class(uint64_t ticks, unsigned shift)
{
  uint64_t units = ticks >> shift;
  unsigned class = units ? 64 - (unsigned)__builtin_clzll(units) : 0;
  return class < WTL_WAITED_CLASSES ? class : WTL_WAITED_CLASSES - 1;
}

/* Adds a wait of the present call of a site. `shift`: of the classes of wtl_waited. */
static inline void wtl_site_add_wait(wtl_site *site, enum wtl_stage stage, uint64_t ticks, unsigned shift)
{
  wtl_waited *w = &site->waited;
  site->wait_ticks[stage] += ticks;
  if (w->call != site->calls) {
    if (w->call) w->count[wtl_waited_class(w->ticks, shift)]++;
    w->call = site->calls;
    w->ticks = 0;
  }
  w->ticks += ticks;
}

/* Ends a timed call that began at tick `start`, when the site had waited `waited` ticks. */
void wtl_profile_leave(wtl_site *site, uint64_t bytes, uint64_t start, uint64_t waited);

/* Counts by partner from now on, in a job of `n` PEs. To be called before other threads make calls. */
void wtl_profile_keep_partners(wtl_profile *p, int n);

/* Adds a wait of the present call to those for `partner`. */
static inline void wtl_profile_awaited(int partner, uint64_t ticks)
{
  wtl_site_table *t = wtl_thread_sites.table;
  if (ticks && t) wtl_partners_waited(&t->partners, partner, ticks);
}

/* Adds up the counts by partner and by size of all threads; wtl_partners_free frees the result. */
wtl_partners wtl_profile_partners(const wtl_profile *p);

/* Adds up the sequences of all threads in `all`, which is empty; wtl_sequence_free frees it. */
void wtl_profile_sequence(const wtl_profile *p, wtl_sequence *all);

/* Starts a timeline of so many bytes for each thread. To be called before other threads make calls. */
void wtl_profile_keep_timeline(wtl_profile *p, size_t bytes);

/* The calling thread's timeline for `p`; NULL: it has none, or it has made no call. */
static inline wtl_timeline *wtl_profile_timeline(const wtl_profile *p)
{
  const wtl_thread_profile *here = &wtl_thread_sites;
  if (here->generation != p->generation && here->generation < WTL_IN_AGENTS_HANDLER) return NULL;
  return here->table->timeline;
}

/* Adds an action of a thread of `p` at a call site to its timeline. */
static inline void wtl_profile_note(const wtl_profile *p, enum wtl_span span, uint64_t begin, uint64_t end,
                                    const wtl_site *site)
{
  wtl_timeline *t = wtl_profile_timeline(p);
  if (t) wtl_timeline_add(t, span, begin, end, site->addr, site->call, site->path);
}

/* Adds a region of the calling thread to its timeline, if there is one. */
void wtl_profile_note_region(uint32_t region, uint64_t begin, uint64_t end);

/* Bytes moved by all calls of all threads so far. */
uint64_t wtl_profile_bytes(const wtl_profile *p);

/* Estimated ticks of all calls of a site, without waiting. NaN if no call was timed. */
double wtl_site_ticks(const wtl_site *site);

/* Adds up the tables of all threads. Returns an array that the caller frees, with its length in *n; NULL and 0 if it is
 * empty. `shift`: of the classes of wtl_waited, which have all calls that waited. One call of a thread that is still
 * running may be absent. */
wtl_site *wtl_profile_merge(wtl_profile *p, unsigned shift, uint64_t *n);

#endif
