/* call_path.c - reads call paths from the stack and keeps them as a tree. */
#include "profile/call_path.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/atomic.h"
#include "os/guest.h"
#include "os/os.h"
#include "os/sparse_memory.h"
#include "profile/elf_files.h"
#include "profile/frame_rule.h"
#include "profile/python_code.h"
#include "profile/python_frames.h"

enum {
  FIRST_INDEX = 1 << 10,
  RULES = 1 << 12,
  START_FRAMES = 4, /* frames of the C library and of _start above main */
};

/* Held for a path that the thread has not seen before. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_inside; /* a signal handler of the holder must not wait for it */

static wtl_path_node *nodes;
static uint32_t n_nodes, n_leaves;
static uint32_t *index_of; /* open addressing: number of a node + 1; 0: free */
static uint32_t index_mask;

/* --- the tree --- */

static bool start(void)
{
  if (nodes) return true;
  uint32_t *index = calloc(FIRST_INDEX, sizeof *index);
  void *space = index ? wtl_os_reserve(WTL_PATH_NODES * sizeof *nodes) : NULL;
  if (!space) {
    free(index);
    return false;
  }
  index_of = index;
  index_mask = FIRST_INDEX - 1;
  nodes = space;
  for (n_nodes = 0; n_nodes < WTL_N_PATH_MARKS; n_nodes++)
    nodes[n_nodes] = (wtl_path_node){.parent = WTL_NO_PATH, .module = -1};
  return true;
}

static uint32_t *place_of(wtl_path_node wanted)
{
  uint64_t hash = (wanted.addr + (uint64_t)(uint32_t)wanted.module) * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ wanted.parent) * 0xd6e8feb86659fd93ull;
  uint32_t i = (uint32_t)(hash >> 32) & index_mask;
  for (; index_of[i]; i = (i + 1) & index_mask) {
    const wtl_path_node *n = &nodes[index_of[i] - 1];
    if (n->addr == wanted.addr && n->parent == wanted.parent && n->module == wanted.module) break;
  }
  return &index_of[i];
}

static bool grow_index(void)
{
  uint32_t *old = index_of, size = (index_mask + 1) * 2, *grown = calloc(size, sizeof *grown);
  if (!grown) return false;
  index_of = grown;
  index_mask = size - 1;
  for (uint32_t i = WTL_N_PATH_MARKS; i < n_nodes; i++) *place_of(nodes[i]) = i + 1;
  free(old);
  return true;
}

/* The node of `addr` below `parent`. `limit`: at most so many nodes. WTL_PATH_OTHER: there are no more. */
static uint32_t child_of(uint32_t parent, uintptr_t addr, int32_t module, uint32_t limit)
{
  wtl_path_node wanted = {addr, parent, module};
  uint32_t *at = place_of(wanted);
  if (*at) return *at - 1;
  if (n_nodes >= limit) return WTL_PATH_OTHER;
  if (n_nodes * 2 > index_mask) {
    if (!grow_index()) return WTL_PATH_OTHER;
    at = place_of(wanted);
  }
  nodes[n_nodes] = wanted;
  return (*at = ++n_nodes) - 1;
}

/* The node of a region; WTL_NO_PATH: there is none. */
static uint32_t region_node(uint32_t region)
{
  uint32_t node =
      region == UINT32_MAX ? WTL_NO_PATH : child_of(WTL_NO_PATH, region + 1, WTL_PATH_REGION, WTL_PATH_NODES);
  return node == WTL_PATH_OTHER ? WTL_NO_PATH : node;
}

/* A mark, or WTL_NO_PATH, below the region's node. */
static uint32_t mark_in(uint32_t region, uint32_t mark)
{
  if (region == WTL_NO_PATH || mark == WTL_NO_PATH) return region == WTL_NO_PATH ? mark : region;
  uint32_t node = child_of(region, 1, WTL_PATH_FIRST_MARK - (int32_t)mark, WTL_PATH_NODES);
  return node == WTL_PATH_OTHER ? mark : node;
}

/* --- rules by return address --- */

typedef struct known {
  uintptr_t addr; /* 0: free */
  int32_t module;
  bool is_python; /* in the interpreter's file */
  wtl_frame_rule rule;
} known;

static known *rules; /* open addressing */
static uint32_t n_rules;
static int32_t interpreter = -1; /* its file */

static void forget_rules(void)
{
  if (rules) memset(rules, 0, RULES * sizeof *rules);
  n_rules = 0;
}

static const known *rule_of(uintptr_t addr)
{
  static known unkept;
  if (!rules) rules = wtl_os_reserve(RULES * sizeof *rules);
  known *k = &unkept;
  if (rules) {
    if (n_rules * 2 > RULES) forget_rules();
    uint32_t i = (uint32_t)((uint64_t)addr * 0x9e3779b97f4a7c15ull >> 40) & (RULES - 1);
    while (rules[i].addr && rules[i].addr != addr) i = (i + 1) & (RULES - 1);
    k = &rules[i];
    if (k->addr) return k;
    n_rules++;
  }
  k->addr = addr;
  k->module = wtl_elf_file_of(addr - 1); /* the call is before the return address, which may be another function's */
  k->is_python = k->module >= 0 && k->module == interpreter;
  k->rule = wtl_elf_file_rule(k->module, addr - 1);
  return k;
}

/* --- the stack --- */

wtl_path_stack wtl_path_stack_here(void)
{
  pthread_attr_t attributes;
  void *low;
  size_t size;
  wtl_path_stack stack = {0, 0};
  if (WTL_OS_IS_SIMULATED || pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0)
    stack = (wtl_path_stack){(uintptr_t)low, (uintptr_t)low + size};
  pthread_attr_destroy(&attributes);
  return stack;
}

enum end { CUT, OUTERMOST, SIGNAL, IN_PYTHON };

/* The callers that were read. */
typedef struct trace {
  wtl_path_stack stack;
  wtl_path_grounds *grounds;
  uintptr_t addr[WTL_PATH_DEEPEST + START_FRAMES];
  uint16_t words[WTL_PATH_DEEPEST + START_FRAMES]; /* that were read up to this caller */
  int n;
  const void *python;               /* the present Python frame; NULL: none */
  uint32_t place[WTL_PATH_DEEPEST]; /* of the Python frames above the callers */
  int n_places;
} trace;

static bool is_within(const trace *t, uintptr_t at, uintptr_t from)
{
  return at >= from && at <= t->stack.high - sizeof at && at % sizeof at == 0;
}

static uintptr_t read_word(trace *t, uintptr_t at)
{
  const uintptr_t *word = (const uintptr_t *)at;
  wtl_path_grounds *g = t->grounds;
  for (uint16_t i = 0; i < g->n_words; i++)
    if (g->word[i].at == word) return g->word[i].value;
  if (g->n_words < WTL_PATH_WORDS)
    g->word[g->n_words++] = (wtl_path_word){word, *word};
  else
    g->complete = false;
  return *word;
}

static bool add_caller(trace *t, uintptr_t addr)
{
  if (t->n == WTL_PATH_DEEPEST + START_FRAMES) return false;
  t->addr[t->n] = addr;
  t->words[t->n++] = t->grounds->n_words;
  return true;
}

#if defined(__x86_64__)

/* The two registers of a frame. The frame pointer is often not needed, so the word that has it is read when it is. */
typedef struct registers {
  uintptr_t sp, fp_at; /* fp_at: address of the word with the frame pointer; 0: not known */
} registers;

/* The end of the frame; 0: not known. */
static uintptr_t end_of(trace *t, const registers *r, const wtl_frame_rule *rule)
{
  if (rule->end_kind == WTL_FRAME_FROM_SP) return r->sp + (uintptr_t)(intptr_t)rule->end;
  if (!r->fp_at) return 0;
  uintptr_t at = read_word(t, r->fp_at) + (uintptr_t)(intptr_t)rule->end;
  if (rule->end_kind == WTL_FRAME_FROM_FP) return at;
  return is_within(t, at, r->sp) ? read_word(t, at) : 0;
}

/* The address of the word with the caller's frame pointer; 0: not known. */
static uintptr_t caller_fp_at(trace *t, const registers *r, const wtl_frame_rule *rule, uintptr_t end)
{
  uintptr_t at = 0;
  if (rule->fp_kind == WTL_FP_SAME) return r->fp_at;
  if (rule->fp_kind == WTL_FP_AT_END) at = end + (uintptr_t)(intptr_t)rule->fp;
  if (rule->fp_kind == WTL_FP_AT_FP && r->fp_at) at = read_word(t, r->fp_at) + (uintptr_t)(intptr_t)rule->fp;
  return is_within(t, at, r->sp) ? at : 0;
}

static enum end read_callers(trace *t, wtl_origin origin, int most)
{
  /* The called function has pushed the frame pointer below its return address. */
  registers r = {(uintptr_t)(origin.frame + 2), (uintptr_t)origin.frame};
  for (uintptr_t addr = origin.addr; t->n < most;) {
    const known *k = rule_of(addr);
    const wtl_frame_rule *rule = &k->rule;
    if (k->is_python && t->python) return IN_PYTHON;
    if (rule->end_kind == WTL_FRAME_OUTERMOST) return OUTERMOST;
    if (rule->end_kind == WTL_FRAME_OF_SIGNAL) return SIGNAL;
    if (rule->end_kind == WTL_FRAME_UNKNOWN) return CUT;
    uintptr_t end = end_of(t, &r, rule), at = end + (uintptr_t)(intptr_t)rule->address;
    if (end <= r.sp || end > t->stack.high || !is_within(t, at, r.sp)) return CUT;
    if (!(addr = read_word(t, at))) return OUTERMOST;
    r = (registers){end, caller_fp_at(t, &r, rule, end)};
    if (!add_caller(t, addr)) break;
  }
  return CUT;
}

#elif defined(__aarch64__)

/* Removes the signature of a signed return address (the instruction XPACLRI, a no-op on older cores). */
static uintptr_t unsigned_address(uintptr_t addr)
{
  register uintptr_t link __asm__("x30") = addr;
  __asm__("hint #7" : "+r"(link));
  return link;
}

static enum end read_callers(trace *t, wtl_origin origin, int most)
{
  /* Each frame has the address of its caller's frame and, beside it, its return address. */
  uintptr_t below = (uintptr_t)origin.frame, fp = read_word(t, below);
  while (t->n < most) {
    if (!fp) return OUTERMOST;
    if (fp <= below || !is_within(t, fp, below) || !is_within(t, fp + sizeof fp, below)) return CUT;
    uintptr_t addr = unsigned_address(read_word(t, fp + sizeof fp));
    if (!addr) return OUTERMOST;
    below = fp;
    fp = read_word(t, fp);
    if (!add_caller(t, addr)) break;
    if (t->python && rule_of(addr)->is_python) return IN_PYTHON;
  }
  return CUT;
}

#else

static enum end read_callers(trace *t, wtl_origin origin, int most)
{
  (void)t, (void)origin, (void)most;
  return CUT;
}

#endif

/* Drops the frames above main or above a thread's function, with the words that only they need. */
static void drop_start(trace *t)
{
  int all = t->n;
  if (t->n) t->n--; /* the outermost: _start or clone */
  while (t->n && wtl_elf_file_is_libc(rule_of(t->addr[t->n - 1])->module)) t->n--;
  if (t->n < all) t->grounds->n_words = t->words[t->n]; /* with the return address into the C library */
}

static void note_words(wtl_path_grounds *g, const wtl_python_frame *frame, bool has_caller)
{
  for (int i = 0; i < frame->n_words - !has_caller; i++) {
    if (g->n_words < WTL_PATH_WORDS)
      g->word[g->n_words++] = (wtl_path_word){frame->word[i], *frame->word[i]};
    else
      g->complete = false;
  }
}

/* Reads at most `depth` Python frames. Returns whether these are all. */
static bool read_python(trace *t, int depth)
{
  const void *frame = t->python, *caller;
  wtl_python_frame found;
  t->grounds->python = frame;
  for (; frame; frame = caller) {
    if (t->n_places == depth) return false;
    caller = wtl_python_frame_read(frame, &found);
    if (found.has_place) t->place[t->n_places++] = found.place;
    note_words(t->grounds, &found, t->n_places < depth);
  }
  return true;
}

/* Ends a path after `depth` callers. */
static void cut(trace *t, int depth)
{
  t->n = depth;
  t->grounds->n_words = depth ? t->words[depth - 1] : 0;
}

/* Reads at most `depth` callers. Returns the node above the last of them. */
static uint32_t read_path(trace *t, wtl_origin origin, int depth)
{
  uintptr_t frame = (uintptr_t)origin.frame;
  enum end end = CUT;
  if (!origin.frame || depth == 0) return WTL_NO_PATH;
  t->python = wtl_python_frame_here();
  if (frame >= t->stack.low && frame < t->stack.high - 2 * sizeof frame)
    end = read_callers(t, origin, depth + START_FRAMES);
  if (end == OUTERMOST) drop_start(t);
  if ((end == SIGNAL || end == IN_PYTHON) && t->n) t->n--; /* the kernel's or the interpreter's return address */
  bool is_deep = t->n > depth;
  if (is_deep) cut(t, depth);
  t->grounds->n_stack = t->grounds->n_words;
  if (is_deep || end == CUT || end == IN_PYTHON)
    return t->python && t->n < depth && read_python(t, depth - t->n) ? WTL_NO_PATH : WTL_PATH_CUT;
  return end == OUTERMOST ? WTL_NO_PATH : WTL_PATH_SIGNAL;
}

/* --- paths --- */

static void note_library(wtl_path_grounds *g, uintptr_t addr, int32_t module)
{
  if (wtl_elf_file_stays(module)) return;
  for (int i = 0; i < g->n_libraries; i++)
    if (g->library[i].module == module) return;
  if (g->n_libraries < WTL_PATH_LIBRARIES)
    g->library[g->n_libraries++] = (wtl_path_library){addr - 1, module};
  else
    g->complete = false;
}

/* `end`: WTL_NO_PATH or the mark above the callers. `region`: the node above that. */
static uint32_t add_path(const trace *t, uint32_t end, uint32_t region, uintptr_t addr)
{
  /* Half of the nodes are kept for the leaves of other paths, of which a program has as many as it has calls. */
  enum { INNER = WTL_PATH_NODES / 4 * 3 };
  uint32_t above = mark_in(region, end);
  for (int i = t->n_places - 1; i >= 0 && above != WTL_PATH_OTHER; i--)
    above = child_of(above, t->place[i] + 1, WTL_PATH_PYTHON, INNER);
  for (int i = t->n - 1; i >= 0 && above != WTL_PATH_OTHER; i--) {
    const known *k = rule_of(t->addr[i]);
    int32_t module = k->module;
    note_library(t->grounds, t->addr[i], module);
    above = child_of(above, t->addr[i], module, INNER);
  }
  int32_t module = rule_of(addr)->module;
  note_library(t->grounds, addr, module);
  uint32_t before = n_nodes, leaf = child_of(above, addr, module, n_leaves < WTL_PATH_LEAVES ? WTL_PATH_NODES : 0);
  n_leaves += n_nodes > before;
  return leaf != WTL_PATH_OTHER ? leaf : child_of(mark_in(region, WTL_PATH_OTHER), addr, module, WTL_PATH_NODES);
}

uint32_t wtl_path_find(wtl_origin origin, int depth, wtl_path_stack stack, uint32_t region, wtl_path_grounds *grounds)
{
  WTL_AS_GUEST;
  trace t = {.stack = stack, .grounds = grounds};
  uint32_t node = WTL_NO_PATH;
  grounds->n_words = grounds->n_libraries = grounds->n_stack = 0;
  grounds->python = NULL;
  grounds->complete = !is_inside;
  if (WTL_OS_IS_SIMULATED || is_inside) return WTL_NO_PATH;
  is_inside = true;
  pthread_mutex_lock(&lock);
  if (start()) {
    if (wtl_elf_files_update()) {
      uintptr_t python = wtl_python_find();
      interpreter = python ? wtl_elf_file_of(python) : -1;
      forget_rules();
    }
    node = add_path(&t, read_path(&t, origin, depth), region_node(region), origin.addr);
  }
  pthread_mutex_unlock(&lock);
  is_inside = false;
  return node;
}

bool wtl_path_libraries_stay(const wtl_path_library *library, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!wtl_elf_file_is_at(library[i].module, library[i].addr)) return false;
  return true;
}

wtl_path_node wtl_path_node_of(uint32_t node)
{
  wtl_path_node found = {.parent = WTL_NO_PATH, .module = -1};
  pthread_mutex_lock(&lock);
  if (node < n_nodes) found = nodes[node]; /* a simulated PE has none, and a wait of the runtime's own has node 0 */
  pthread_mutex_unlock(&lock);
  return found;
}

const wtl_module *wtl_path_module(int32_t module)
{
  return module < 0 ? NULL : wtl_elf_file(module);
}
