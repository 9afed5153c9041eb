/*
 * active_messages.c - fuzzes active messages from another node and those of the PE to itself.
 *
 * Messages from the other node are forged with the job's cookie: requests, replies, long messages, messages with a
 * target address, packed requests to global memory and their replies. The damage by a forged message must be bounded,
 * or the job ends. Messages to the PE itself pass through its rings, also in pieces, and must arrive unchanged.
 */
#define POST_SLICE_BYTES 8192
#include "job_ends.h"
#define exit job_ends

#include "fuzz.h"
#include "fabric/post.h"
#include "fabric/records.h"
#include "am/am_agent.h"
#include "am/am_order.h"
#include "am/am_run.h"
#include "am/am_wait.h"
#include "global/packed.c"
#include "profile/error_place.h"

enum { SENDER, ME, MOST_STEPS = 48, STATICS = 64, HEAP = 4096, GLOBAL = 4096, TO_MYSELF = 40000, MOST_REPLY = 9000 };
enum { ANSWERS, LISTENS, CHECKS, ATTACHED_LATER, HANDLERS };

/* --- the rest of the runtime, as far as it is called ------------------------------------------------------------- */

wtl_pe *wtl_self;
WTL_OS_DEFINE_THREAD_LOCAL(wtl_thread_profile, wtl_profile_of_thread);

void wtl_pe_fail(int status, const char *format, ...)
{
  job_ends(status);
}

const char *wtl_error_place(const char *call)
{
  return call;
}

/* Nothing comes while it waits, so it would wait for ever. */
void wtl_door_wait(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  if (!ready(arg)) job_ends(0);
}

void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg)
{
  for (int turns = 0; turns < 100 && !ready(arg); turns++)
    if (!wtl_am_take(self->am)) break;
  if (!ready(arg)) job_ends(0);
}

void wtl_bell_ring(wtl_bell *b) {}
void wtl_bell_ring_control(wtl_bell *b) {}
void wtl_am_order_free(wtl_am_order *o) {}
void wtl_am_order_waits(wtl_pe *self, const char *call) {}
void wtl_am_agent_is_notified(wtl_messages *messages) {}
void wtl_am_agent_note_poll(wtl_am_agent *a) {}
void wtl_am_agent_stop(wtl_am_agent *a) {}
double wtl_am_agent_cpu_s(const wtl_am_agent *a)
{
  return 0;
}
wtl_am_agent *wtl_am_agent_start(wtl_am *am, char *error, size_t size)
{
  return (wtl_am_agent *)(void *)am;
}
wtl_site_table *wtl_profile_handlers(wtl_profile *p)
{
  return NULL;
}
wtl_place wtl_far_place(const wtl_pe *self, const void *addr)
{
  return (wtl_place){0, WTL_SEGMENT_SLICE};
}
void wtl_global_before(const wtl_global_op *op, bool is_packed) {}
void wtl_global_move_plain(const wtl_global_op *op, char *here, char *there, size_t n) {}

/* --- this PE ------------------------------------------------------------------------------------------------------ */

static wtl_pe self;
static wtl_global global;
static const int slot_of[] = {-1, 0};
static int local_pe[] = {ME};
static wtl_site site;
static unsigned sum; /* of all bytes that handlers were given */

static void *cleared(size_t n)
{
  void *memory = aligned_alloc(64, (n + 63) / 64 * 64);
  if (!memory) abort();
  return memset(memory, 0, n);
}

static void look_at(const void *buf, size_t n)
{
  for (size_t i = 0; i < n; i++) sum += ((const unsigned char *)buf)[i];
}

static void answers(void *buf, size_t n, int pe, wtl_am_token token)
{
  look_at(buf, n);
  for (size_t i = 0; i < 1 + n % 3; i++)
    wtl_am_reply(&self, "reply", LISTENS, buf, n < MOST_REPLY ? n : MOST_REPLY, token);
}

static void listens(void *buf, size_t n, int pe, wtl_am_token token)
{
  look_at(buf, n);
}

/* Of what the PE sends itself each byte says its place and how many there are. */
static void checks(void *buf, size_t n, int pe, wtl_am_token token)
{
  for (size_t i = 0; pe == ME && i < n; i++) FUZZ_MUST(((const unsigned char *)buf)[i] == (unsigned char)(i * 7 + n));
}

static const wtl_am_handler handlers[HANDLERS] = {answers, listens, checks, listens};

static void open_self(void)
{
  static char *rings;
  if (!rings) rings = cleared(wtl_am_ring_bytes(1));
  wtl_am_ring *r = (wtl_am_ring *)(void *)rings;
  for (int way = 0; way < WTL_AM_WAYS; way++) {
    r[way].tail = r[way].head = 0;
    r[way].waiters = 0;
    for (int i = 0; i < WTL_AM_SLOTS; i++) r[way].slots[i].turn = 0;
  }
  self = (wtl_pe){.me = ME, .n = POST_PES, .n_local = 1, .slot_of = slot_of, .net = posts[ME].net, .global = &global};
  self.boot = (wtl_boot){.pe = ME, .n_pes = POST_PES, .n_local = 1, .local_pe = local_pe};
  self.statics_bytes = STATICS;
  self.statics = cleared(STATICS);
  self.heap_bytes = HEAP;
  self.heap = self.slices = cleared(HEAP);
  self.controls = cleared(sizeof(wtl_control));
  self.door.bell = &wtl_control_of(&self, ME)->bell;
  global = (wtl_global){.bytes = GLOBAL, .locks = cleared(wtl_acc_locks_bytes())};
  self.global_map = (wtl_global_map){.slices = cleared(GLOBAL), .stride = GLOBAL};
  self.global_map.start = calloc(POST_PES, sizeof *self.global_map.start);
  global.packed = calloc(POST_PES, sizeof *global.packed);
  pthread_mutex_init(&global.lock, NULL);
  wtl_self = &self;
  wtl_am_start(&self, rings);
  wtl_packed_start(&self);
  for (int id = 0; id < ATTACHED_LATER; id++) wtl_am_attach(&self, "attach", id, handlers[id]);
}

static void close_self(void)
{
  wtl_am_here = (wtl_am_thread){0};
  wtl_am_free(&self);
  while (global.fetches) end_fetch(&global, global.fetches);
  pthread_mutex_destroy(&global.lock);
  free(self.global_map.slices);
  free(global.locks);
  free(self.global_map.start);
  free((void *)global.packed);
  free(global.reply_buffer);
  free(self.statics);
  free(self.heap);
  free(self.controls);
}

/* --- what the PE does itself -------------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 700 };

/* A get of blocks. The caller may use the target again when all replies have come. */
typedef struct getting {
  struct getting *next;
  wtl_request request;
  char *memory;
} getting;
static getting *gettings;

static void sweep(bool all)
{
  for (getting **at = &gettings, *g; (g = *at) != NULL;) {
    if (!all && !wtl_global_request_is_done(&g->request)) {
      at = &g->next;
      continue;
    }
    *at = g->next;
    free(g->memory);
    free(g);
  }
}

static void get_blocks(fuzz_input *in)
{
  static char *here[MOST_BLOCKS], *there[MOST_BLOCKS];
  size_t n = 1 + fuzz_below(in, MOST_BLOCKS), block = 1 + fuzz_below(in, 200);
  getting *g = calloc(1, sizeof *g);
  if (!g || !(g->memory = malloc(n * block))) abort();
  g->next = gettings;
  gettings = g;
  wtl_global_op op = {.self = &self, .site = &site, .kind = WTL_GLOBAL_GET, .pe = SENDER, .request = &g->request};
  if (fuzz_below(in, 2)) {
    for (size_t i = 0; i < n; i++) here[i] = g->memory + i * block, there[i] = NULL;
    wtl_packed_list(&op, &(wtl_block_list){n, block, here, there});
  } else {
    wtl_strides s = {
        .levels = 1, .block = block, .count = {n}, .here = {(ptrdiff_t)block}, .there = {(ptrdiff_t)block}};
    wtl_packed_patch(&op, &s, g->memory, self.global_map.slices);
  }
}

static void send_myself(fuzz_input *in)
{
  static unsigned char bytes[TO_MYSELF];
  static uint64_t done;
  size_t n = fuzz_below(in, TO_MYSELF);
  int id = fuzz_below(in, 4) ? CHECKS : ATTACHED_LATER;
  for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(i * 7 + n);
  uint64_t *counter = fuzz_below(in, 2) ? &done : NULL;
  wtl_am_request_send(
      &self, &site, &(wtl_am_request){.call = "request", .pe = ME, .id = id, .source = bytes, .n = n, .done = counter});
}

static void send_other(fuzz_input *in)
{
  static char bytes[2 * WTL_NET_MERGED];
  static uint64_t done;
  uint64_t *counter = fuzz_below(in, 2) ? &done : NULL;
  size_t n = fuzz_below(in, WTL_NET_MERGED);
  wtl_am_request_send(
      &self, &site,
      &(wtl_am_request){.call = "request", .pe = SENDER, .id = 1, .source = bytes, .n = n, .done = counter});
}

/* --- what arrives ------------------------------------------------------------------------------------------------- */

static uint64_t often(fuzz_input *in, const uint64_t *values, size_t n)
{
  size_t i = fuzz_below(in, n + 1);
  return i < n ? values[i] : fuzz_number(in, 8);
}
#define OFTEN(in, ...)                                                                                                 \
  often(in, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A request for global memory, nearly a good one. */
static size_t a_packed_request(fuzz_input *in, char *to)
{
  head h = {
      .op = (uint8_t)fuzz_below(in, 4), .type = (uint8_t)fuzz_below(in, 7), .levels = (uint8_t)fuzz_below(in, 10)};
  size_t used = sizeof h;
  h.is_list = (uint8_t)fuzz_below(in, 2);
  if (h.is_list && fuzz_below(in, 4)) h.levels = 0;
  h.n = (uint32_t)OFTEN(in, 1, 2, 3, 16, 31744, UINT32_MAX);
  h.first = OFTEN(in, 0, 0, 1, 2);
  h.block = OFTEN(in, 8, 16, 1, 4, GLOBAL, 31 * 1024);
  h.offset = OFTEN(in, 0, 8, GLOBAL - 8, GLOBAL, UINT64_MAX);
  for (int i = 0; !h.is_list && i < h.levels; i++, used += sizeof(level))
    memcpy(to + used, &(level){OFTEN(in, 1, 2, 4, 31744, 1ull << 63), (int64_t)OFTEN(in, 8, 16, -8ull, 0, 1ull << 62)},
           sizeof(level));
  for (uint32_t i = 0; h.is_list && i < h.n && i < 16; i++, used += 8)
    memcpy(to + used, &(uint64_t){OFTEN(in, 0, 8, GLOBAL - 8, GLOBAL)}, 8);
  memcpy(to, &h, sizeof h);
  uint64_t bytes = h.op == WTL_GLOBAL_GET ? 0 : h.n * h.block;
  if (fuzz_below(in, 8) == 0) bytes = fuzz_number(in, 1);
  return used + (bytes < 4096 ? bytes : 4096);
}

/* An answer to a get, nearly a good one: its bytes are zeros. */
static size_t a_packed_reply(fuzz_input *in, char *to)
{
  const wtl_fetch *f = global.fetches;
  uint64_t left = f ? f->left : 1, each = f ? f->each : 1, block = f ? f->block : 1;
  reply_head r = {OFTEN(in, global.last_fetch, global.last_fetch - 1), OFTEN(in, f ? f->total - left : 0, 0),
                  OFTEN(in, left < each ? left : each, 1)};
  memcpy(to, &r, sizeof r);
  uint64_t bytes = fuzz_below(in, 8) ? r.n * block : fuzz_number(in, 2);
  return sizeof r + (bytes < MOST - sizeof r ? bytes : MOST - sizeof r);
}

static size_t a_payload(fuzz_input *in, int id, char *to)
{
  if (id == WTL_AM_PACKED) return a_packed_request(in, to);
  if (id == WTL_AM_PACKED_REPLY) return a_packed_reply(in, to);
  return OFTEN(in, 0, 1, 8, 100, WTL_NET_MERGED) % MOST;
}

static void a_message_arrives(fuzz_input *in)
{
  static const int ids[] = {
      WTL_AM_PACKED, WTL_AM_PACKED, WTL_AM_PACKED_REPLY, ANSWERS, LISTENS, CHECKS, ATTACHED_LATER, 99, WTL_AM_POSTED};
  static pack p;
  static char payload[2 * MOST];
  int id = ids[fuzz_below(in, sizeof ids / sizeof *ids)];
  uint32_t kind = (uint32_t)fuzz_below(in, 9); /* of am_far.h */
  uint64_t a = OFTEN(in, 0, STATICS - 4, STATICS, STATICS + HEAP, 1), b = OFTEN(in, 0, 1, 2) << 32 | (uint32_t)id;
  memset(payload, 0, sizeof payload);
  size_t n = a_payload(in, id, payload);
  if (fuzz_below(in, 3) == 0) {
    wire_large h = {posts[ME].net->cookie, SENDER, kind, a, b, 0};
    (fuzz_below(in, 2) ? arrive_later : arrive)(ME, WIRE_LARGE_AM, &h, sizeof h, payload, n);
    return;
  }
  p.head = (wire_head){posts[ME].net->cookie, SENDER, 0};
  p.used = 0;
  char *to = add(&p, WIRE_AM, kind, a, b, n, n);
  memcpy(to, payload, n);
  if (n < 256) add_more(&p, to, (uint16_t)fuzz_below(in, 20));
  arrive(ME, WIRE_BATCH, NULL, 0, &p.head, sizeof p.head + p.used);
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static void letters_leave(void)
{
  for (letter *l; (l = take_letter()) != NULL;) l->done(l->arg), free(l);
}

static void step(fuzz_input *in)
{
  switch (fuzz_below(in, 10)) {
  case 0: send_myself(in); break;
  case 1: send_other(in); break;
  case 2: get_blocks(in); break;
  case 3: letters_leave(); break;
  case 4: wtl_am_attach(&self, "attach", ATTACHED_LATER, handlers[ATTACHED_LATER]); break;
  case 5: wtl_am_take(self.am); break;
  default: a_message_arrives(in);
  }
  sweep(false);
}

static void steps(fuzz_input *in)
{
  if (setjmp(where_jobs_end)) {
    let_go(&posts[ME].net->lock);
    let_go(&self.am->lock);
    let_go(&global.lock);
    return;
  }
  for (int i = 0; i < MOST_STEPS && fuzz_left(in); i++) step(in);
  letters_leave();
  while (wtl_am_take(self.am)) letters_leave();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  open_posts();
  wtl_net_callbacks *callbacks = &posts[ME].net->callbacks;
  callbacks->owner = &self;
  callbacks->message = wtl_am_far_message;
  callbacks->buffer = wtl_am_far_buffer;
  callbacks->landed = wtl_am_far_landed;
  open_self();
  steps(&in);
  callbacks->owner = &posts[ME];
  for (int i = 0; i < 3; i++) letters_leave(), progress_all();
  close_self();
  for (int pe = 0; pe < POST_PES; pe++) wtl_net_close(posts[pe].net);
  sweep(true);
  return 0;
}
