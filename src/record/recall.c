/* recall.c - keeps the facts about a process in its profile's file, and makes a record of such a file. */
#include "record/recall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "profile/user_region.h"

/* --- while it runs --- */

static uint64_t realtime_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void keep_program(wtl_kept_head *h)
{
  wtl_module *found = NULL;
  size_t n = 0;
  wtl_os_program(h->program, sizeof h->program);
  if (wtl_module_of(getauxval(AT_PHDR), &found, &n) >= 0)
    snprintf(h->build_id, sizeof h->build_id, "%s", found[0].build_id);
  free(found);
}

void wtl_record_keep(wtl_record *r)
{
  wtl_kept_head *h = wtl_kept_head_of(r->profile->kept);
  if (!h) return;
  snprintf(h->version, sizeof h->version, "%s", WTL_VERSION);
  h->pe = r->me;
  h->n_pes = r->n;
  h->node = r->node;
  h->is_reader = r->meter != NULL;
  h->profile_on = r->profile->on;
  h->waited_shift = r->door->waited_shift;
  h->start_tick = r->start_tick;
  h->start_ns = wtl_clock_ns() - (uint64_t)((double)(wtl_ticks() - r->start_tick) * r->door->stages.ns_per_tick);
  h->start_realtime_ns = realtime_ns();
  h->start_cpu_s = r->start_cpu_s;
  h->start_machine_s = r->start_machine_s;
  snprintf(h->api, sizeof h->api, "%s", r->api);
  if (r->meter) snprintf(h->meter, sizeof h->meter, "%s", wtl_meter_name(r->meter));
  wtl_os_machine_id(h->boot_id, sizeof h->boot_id);
  gethostname(h->host, sizeof h->host - 1);
  h->no_core_source = r->door->no_core.source;
  if (sched_getaffinity(0, sizeof h->cores, &h->cores) != 0) CPU_ZERO(&h->cores);
  keep_program(h);
  memset(&h->waits, 0, sizeof h->waits);
  h->waits.yields = r->door->stages.yields;
  r->door->kept = &h->waits;
  if (r->meter) wtl_kept_remove_stale();
  wtl_profile_keep_begin(r->profile, r->calls);
}

/* --- after its end --- */

enum { MOST_BYTES = 1 << 30, MOST_CALLS = WTL_N_FRONTS * WTL_CALLS_A_FRONT };

/* Reads the file into pages, so that its blocks are aligned. */
static bool read_all(wtl_recalled *r, int fd)
{
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < WTL_KEPT_PAGE || st.st_size > MOST_BYTES)
    return false;
  r->length = (size_t)st.st_size / WTL_KEPT_PAGE * WTL_KEPT_PAGE;
  r->bytes = aligned_alloc(WTL_KEPT_PAGE, r->length);
  for (size_t at = 0; r->bytes && at < r->length;) {
    ssize_t n = pread(fd, r->bytes + at, r->length - at, (off_t)at);
    if (n <= 0) return false;
    at += (size_t)n;
  }
  return r->bytes;
}

/* Returns the block at *at and moves *at behind it; NULL: none, or it is damaged. */
static wtl_kept_block *next_block(const wtl_recalled *r, size_t *at)
{
  if (r->length - *at < WTL_KEPT_PAGE) return NULL;
  wtl_kept_block *b = (void *)(r->bytes + *at);
  if (!b->kind || b->bytes < WTL_KEPT_PAGE || b->bytes % WTL_KEPT_PAGE || b->bytes > r->length - *at) return NULL;
  *at += b->bytes;
  return b;
}

/* Ends each text within its array. */
#define CLOSE(text) ((text)[sizeof(text) - 1] = '\0')

static bool read_head(wtl_recalled *r, const char **why)
{
  size_t at = 0;
  wtl_kept_block *b = next_block(r, &at);
  wtl_kept_head *h = (void *)(b + 1);
  *why = "it is no file of a profile, or its process had not begun";
  if (!b || b->kind != WTL_KEPT_HEAD || b->bytes < sizeof *b + sizeof *h || memcmp(h->mark, "WTLKEPT", 8) != 0)
    return false;
  CLOSE(h->version), CLOSE(h->api), CLOSE(h->meter), CLOSE(h->boot_id), CLOSE(h->host), CLOSE(h->build_id);
  CLOSE(h->program), CLOSE(h->folder);
  *why = "another version of Wattle wrote it";
  if (h->layout != WTL_KEPT_LAYOUT || h->site_bytes != sizeof(wtl_site) || strcmp(h->version, WTL_VERSION) != 0)
    return false;
  *why = "it is damaged";
  r->head = h;
  return h->pid > 0 && h->pe >= 0 && h->pe < h->n_pes;
}

static void take_call(wtl_recalled *r, wtl_kept_call *n)
{
  char *end = (char *)n + n->note.bytes - 1;
  if (n->note.bytes <= sizeof *n || n->call >= MOST_CALLS || n->kind > WTL_CALL_OTHER || n->direction > WTL_DIR_AMO)
    return;
  *end = '\0';
  r->calls[n->call] = (wtl_call_info){
      .name = n->name, .kind = (enum wtl_call_kind)n->kind, .direction = (enum wtl_direction)n->direction};
}

static void take_module(wtl_recalled *r, wtl_kept_module *n)
{
  char *end = (char *)n + n->note.bytes - 1;
  if (n->note.bytes <= sizeof *n) return;
  wtl_module *grown = realloc(r->past.modules, (r->past.n_modules + 1) * sizeof *grown);
  if (!grown) return;
  *end = '\0';
  CLOSE(n->build_id);
  r->past.modules = grown;
  wtl_module *m = &grown[r->past.n_modules++];
  *m = (wtl_module){.base = n->base, .low = n->low, .high = n->high};
  snprintf(m->path, sizeof m->path, "%s", n->path);
  snprintf(m->build_id, sizeof m->build_id, "%.64s", n->build_id);
}

static bool is_known(const wtl_recalled *r, uint32_t node)
{
  return node < r->past.n_nodes && (node < WTL_N_PATH_MARKS || r->past.nodes[node].addr);
}

/* Makes space for the entry with the number `last`. Returns false without memory. */
static bool make_space(void **array, uint32_t *n, uint32_t last, size_t size)
{
  uint32_t more = last + last / 2 + 64;
  if (last < *n) return true;
  char *grown = realloc(*array, more * size);
  if (!grown) return false;
  memset(grown + *n * size, 0, (more - *n) * size);
  *array = grown;
  *n = more;
  return true;
}

static bool make_nodes(wtl_recalled *r, uint32_t last)
{
  void *nodes = r->past.nodes;
  bool is_first = !nodes, good = make_space(&nodes, &r->past.n_nodes, last, sizeof *r->past.nodes);
  r->past.nodes = nodes;
  for (int i = 0; is_first && good && i < WTL_N_PATH_MARKS; i++)
    r->past.nodes[i] = (wtl_path_node){.parent = WTL_NO_PATH, .module = -1};
  return good;
}

static bool is_region(const wtl_recalled *r, uint32_t number)
{
  return number < r->past.n_regions && r->past.regions[number].name;
}

static void take_region(wtl_recalled *r, wtl_kept_region *n)
{
  void *regions = r->past.regions;
  size_t bytes = n->note.bytes - sizeof *n;
  if (n->note.bytes <= sizeof *n || n->number >= WTL_USER_REGIONS) return;
  if (n->outer != WTL_NO_REGION && (n->outer >= n->number || !is_region(r, n->outer))) return;
  n->name[bytes - 1] = '\0';
  bool good = make_space(&regions, &r->past.n_regions, n->number, sizeof *r->past.regions);
  r->past.regions = regions;
  if (good) r->past.regions[n->number] = (wtl_past_region){n->name, n->outer};
}

static void take_path(wtl_recalled *r, const wtl_kept_path *n)
{
  const wtl_path_node *node = &n->node;
  if (n->note.bytes < sizeof *n || n->number < WTL_N_PATH_MARKS || n->number >= WTL_PATH_NODES || !node->addr) return;
  if (!make_nodes(r, n->number)) return;
  if (node->parent != WTL_NO_PATH && (node->parent >= n->number || !is_known(r, node->parent))) return;
  if (node->module < WTL_PATH_REGION || (node->module == WTL_PATH_PYTHON && node->addr > r->past.n_places) ||
      (node->module == WTL_PATH_REGION && !is_region(r, (uint32_t)node->addr - 1)))
    return;
  r->past.nodes[n->number] = *node;
}

static void take_python(wtl_recalled *r, wtl_kept_python *n)
{
  void *places = r->past.places;
  size_t bytes = n->note.bytes - sizeof *n;
  if (n->note.bytes < sizeof *n + 2 || n->number >= WTL_PYTHON_PLACES) return;
  n->texts[bytes - 1] = '\0';
  size_t file = strlen(n->texts) + 1;
  bool good = make_space(&places, &r->past.n_places, n->number, sizeof *r->past.places);
  r->past.places = places;
  if (good) r->past.places[n->number] = (wtl_python_place){n->texts, file < bytes ? n->texts + file : NULL, n->line};
}

static void take_notes(wtl_recalled *r, wtl_kept_block *b)
{
  char *at = (char *)(b + 1), *end = (char *)b + b->bytes;
  while ((size_t)(end - at) >= sizeof(wtl_kept_note)) {
    wtl_kept_note *n = (void *)at;
    if (!n->kind || n->bytes < sizeof *n || n->bytes % 8 || n->bytes > (size_t)(end - at)) return;
    if (n->kind == WTL_KEPT_CALL) take_call(r, (void *)n);
    if (n->kind == WTL_KEPT_MODULE) take_module(r, (void *)n);
    if (n->kind == WTL_KEPT_PATH) take_path(r, (void *)n);
    if (n->kind == WTL_KEPT_PYTHON) take_python(r, (void *)n);
    if (n->kind == WTL_KEPT_REGION) take_region(r, (void *)n);
    at += n->bytes;
  }
}

/* Makes a table of a block of slots. Sites of calls without a name are dropped: they were being added. */
static bool take_slots(wtl_recalled *r, wtl_kept_block *b)
{
  wtl_slots *s = (void *)(b + 1);
  uint64_t fit = (b->bytes - sizeof *b - sizeof *s) / sizeof *s->slot;
  if ((uint64_t)s->mask + 1 > fit || ((uint64_t)s->mask & ((uint64_t)s->mask + 1))) return false;
  wtl_site_table *t = calloc(1, sizeof *t);
  if (!t) return false;
  for (uint32_t i = 0; i <= s->mask; i++) {
    wtl_site *site = &s->slot[i];
    if (site->addr && (site->call >= MOST_CALLS || !r->calls[site->call].name)) site->addr = 0;
    if (!is_known(r, site->path)) site->path = WTL_NO_PATH;
    t->used += site->addr != 0;
  }
  t->slots = s;
  t->next = r->profile.tables;
  r->profile.tables = t;
  return true;
}

static bool take_blocks(wtl_recalled *r)
{
  for (int slots = 0; slots <= 1; slots++) { /* the names first */
    size_t at = 0;
    for (wtl_kept_block *b; (b = next_block(r, &at)) != NULL;) {
      if (!slots && b->kind == WTL_KEPT_NOTES) take_notes(r, b);
      if (!slots && b->kind == WTL_KEPT_TABLE)
        r->past.states.bytes += (double)((wtl_site_table *)(void *)(b + 1))->bytes;
      if (slots && b->kind == WTL_KEPT_SLOTS && !take_slots(r, b)) return false;
    }
  }
  return true;
}

/* Both clocks run on since the start, so their present distance gives the length of a tick. */
static double ns_per_tick(const wtl_kept_head *h)
{
  uint64_t ticks = wtl_ticks(), ns = wtl_clock_ns();
  if (!wtl_clock_has_tsc || ticks <= h->start_tick || ns <= h->start_ns) return 1;
  return (double)(ns - h->start_ns) / (double)(ticks - h->start_tick);
}

static void fill(wtl_recalled *r)
{
  const wtl_kept_head *h = r->head;
  r->ns_per_tick = ns_per_tick(h);
  r->settings.profile_dir.text = h->folder;
  r->profile.on = h->profile_on;
  r->door.waited_shift = h->waited_shift;
  r->door.stages.ns_per_tick = r->ns_per_tick;
  r->door.sleeps = h->waits.sleeps;
  r->door.rescues = h->waits.rescues;
  r->door.rings = h->waits.rings;
  wtl_past *p = &r->past;
  p->pid = (long)h->pid;
  p->host = h->host;
  p->boot_id = h->boot_id;
  p->program = h->program;
  p->build_id = h->build_id;
  p->meter = h->meter;
  p->end = (wtl_end){.signal = -1, .exit_code = -1, .is_partial = h->is_partial};
  r->record = (wtl_record){.me = h->pe,
                           .n = h->n_pes,
                           .node = h->node,
                           .api = h->api,
                           .profile = &r->profile,
                           .door = &r->door,
                           .settings = &r->settings,
                           .start_tick = h->start_tick,
                           .start_cpu_s = h->start_cpu_s,
                           .start_machine_s = h->start_machine_s,
                           .past = p};
  for (int front = 0; front < WTL_N_FRONTS; front++) r->record.calls[front] = r->calls + front * WTL_CALLS_A_FRONT;
}

wtl_recalled *wtl_recall(int fd, const char **why)
{
  wtl_recalled *r = calloc(1, sizeof *r);
  *why = "it cannot be read, or there is no memory for it";
  if (r && (r->calls = calloc(MOST_CALLS, sizeof *r->calls)) && read_all(r, fd) && read_head(r, why) &&
      take_blocks(r)) {
    fill(r);
    return r;
  }
  wtl_recall_free(r);
  return NULL;
}

void wtl_recall_free(wtl_recalled *r)
{
  if (!r) return;
  for (wtl_site_table *t = r->profile.tables, *next; t; t = next) {
    next = t->next;
    free(t);
  }
  free(r->past.modules);
  free(r->past.nodes);
  free(r->past.places);
  free(r->past.regions);
  free(r->calls);
  free(r->bytes);
  free(r);
}

/* Adds the wait in progress to its site. */
static void add_wait(wtl_recalled *r, enum wtl_stage stage, double s)
{
  const wtl_end *e = &r->past.end;
  for (wtl_site_table *t = r->profile.tables; t; t = t->next) {
    wtl_slots *slots = t->slots;
    for (uint32_t i = 0; i <= slots->mask; i++) {
      wtl_site *site = &slots->slot[i];
      if (site->addr != e->wait_addr || site->call != e->wait_call) continue;
      wtl_site_add_wait(site, stage, (uint64_t)(s * 1e9 / r->ns_per_tick), r->door.waited_shift);
      site->exact_calls += site->exact_calls + site->sampled_calls == 0; /* its time so far is its waiting */
      return;
    }
  }
}

/* Returns the seconds from the start of the record to a moment of CLOCK_MONOTONIC. */
static double since_start(const wtl_kept_head *h, uint64_t ns)
{
  return ns > h->start_ns ? (double)(ns - h->start_ns) * 1e-9 : 0;
}

/* Takes the time without a core out of the active time. It is known up to its last reading, or to the end of the
 * process in a wait that was read at its beginning. */
static void take_no_core(wtl_recalled *r)
{
  const wtl_kept_waits *k = &r->head->waits;
  wtl_activity *a = &r->past.states;
  wtl_past_no_core *p = &r->past.no_core;
  bool is_known = r->head->no_core_source <= WTL_NO_CORE_CPU_TIME;
  *p = (wtl_past_no_core){.until_s = NAN, .in_waits_s = NAN, .cores = &r->head->cores};
  if (is_known) p->source = (enum wtl_no_core_source)r->head->no_core_source;
  a->no_core_s = 0;
  if (!is_known || k->no_core_tick < r->head->start_tick) return;
  p->until_s = fmin(a->wall_s, (double)(k->no_core_tick - r->head->start_tick) * r->ns_per_tick * 1e-9);
  if (k->no_core_waits) p->until_s = a->wall_s;
  p->in_waits_s = fmin((double)k->no_core_in_waits_ns * 1e-9, a->spin_s + a->yield_s + a->asleep_s);
  a->no_core_s = fmin((double)k->no_core_ns * 1e-9, a->active_s);
  a->active_s -= a->no_core_s;
}

void wtl_recall_until(wtl_recalled *r, uint64_t end_ns, const char *time, double cpu_s)
{
  const wtl_kept_waits *k = &r->head->waits;
  wtl_activity *a = &r->past.states;
  wtl_end *e = &r->past.end;
  double s = r->ns_per_tick * 1e-9, waited_s = since_start(r->head, k->since_ns);
  double last_s = k->last_tick > r->head->start_tick ? (double)(k->last_tick - r->head->start_tick) * s : 0;
  bool waits = k->addr > 1 && k->call < MOST_CALLS && r->calls[k->call].name;
  if (k->addr) last_s = fmax(last_s, waited_s);
  a->wall_s = end_ns ? fmax(last_s, since_start(r->head, end_ns)) : last_s;
  double rest_s = k->addr ? a->wall_s - last_s : 0; /* of the wait in progress */
  enum wtl_stage stage = k->asleep ? WTL_STAGE_ASLEEP : k->yields ? WTL_STAGE_YIELD : WTL_STAGE_SPIN;
  e->time = end_ns ? time : "record";
  e->realtime_s = (double)r->head->start_realtime_ns * 1e-9 + a->wall_s;
  if (waits) {
    e->wait_addr = k->addr;
    e->wait_call = k->call;
    e->wait_s = fmax(0, a->wall_s - waited_s);
    add_wait(r, stage, rest_s);
  }
  double *const stages[WTL_N_STAGES] = {&a->spin_s, &a->yield_s, &a->asleep_s};
  for (int i = 0; i < WTL_N_STAGES; i++) *stages[i] = (double)k->ticks[i] * s + (i == (int)stage ? rest_s : 0);
  a->active_s = fmax(0, a->wall_s - a->spin_s - a->yield_s - a->asleep_s);
  take_no_core(r);
  a->pid = r->past.pid;
  r->past.cpu_s = isfinite(cpu_s) ? fmax(0, cpu_s - r->head->start_cpu_s) : NAN;
}
