/* packed.c - packs blocks into messages, and serves and answers such messages (packed.h). */
#include "global/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "am/am.h"
#include "os/floats.h"

/*
 * The format of messages. A request is a `head`, then a description: for a patch its levels (`level` each), for a list
 * the offsets of its blocks (8 bytes each). The bytes of the blocks follow in a put or an accumulate. A reply is a
 * `reply_head` and the bytes of the blocks.
 */
typedef struct head {
  uint8_t op, type, levels, is_list;
  uint32_t n;      /* blocks in this message */
  uint64_t first;  /* number of the first one */
  uint64_t block;  /* bytes */
  uint64_t offset; /* of block 0 of a patch, in the target's memory */
  uint64_t token;  /* of a get */
  char scale[WTL_ACC_MOST_BYTES];
} head;

typedef struct level {
  uint64_t count;
  int64_t step;
} level;

typedef struct reply_head {
  uint64_t token, first, n;
} reply_head;

/* MOST: bytes of the longest message. BODY: bytes after its head. MOST_BYTES: bytes of a block that always fit, with
 * any description. LONG_BLOCK: the longest block of a put or get that is packed. */
enum {
  MOST = 31 * 1024,
  BODY = MOST - sizeof(head),
  MOST_BYTES = BODY - WTL_MOST_LEVELS * sizeof(level),
  PIECE = BODY / WTL_ACC_MOST_BYTES * WTL_ACC_MOST_BYTES, /* of a block to accumulate: whole elements of any type */
  LONG_BLOCK = 8192
};
_Static_assert(MOST < (int)WTL_NET_LARGE, "packed messages keep their order");
_Static_assert(sizeof(reply_head) <= sizeof(head), "a reply carries what a request asked for");

/* A pending get. It ends with the last of its blocks. */
struct wtl_fetch {
  wtl_fetch *next;
  uint64_t token;
  uint64_t total, left; /* blocks */
  uint64_t each;        /* blocks of each reply but the last; replies arrive in the order of the requests */
  wtl_request *request; /* counts messages */
  wtl_strides strides;
  char *here;        /* address of a patch's block 0 */
  char *const *list; /* of a list: the address for each block, in a copy of the fetch's own */
  size_t block;
};

/* --- pending fetches ---------------------------------------------------------------------------------------------- */

static wtl_fetch *begin_fetch(wtl_pe *self, uint64_t blocks, uint64_t each, size_t block, wtl_request *r)
{
  wtl_global *g = self->global;
  wtl_fetch *f = calloc(1, sizeof *f);
  if (!f) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to get %llu blocks", (unsigned long long)blocks);
  f->total = f->left = blocks;
  f->each = each;
  f->block = block;
  f->request = r;
  pthread_mutex_lock(&g->lock);
  f->token = ++g->last_fetch;
  f->next = g->fetches;
  g->fetches = f;
  pthread_mutex_unlock(&g->lock);
  return f;
}

static wtl_fetch *find_fetch(wtl_global *g, uint64_t token)
{
  wtl_fetch *f;
  pthread_mutex_lock(&g->lock);
  for (f = g->fetches; f && f->token != token; f = f->next) continue;
  pthread_mutex_unlock(&g->lock);
  return f;
}

static void end_fetch(wtl_global *g, wtl_fetch *f)
{
  pthread_mutex_lock(&g->lock);
  wtl_fetch **at = &g->fetches;
  while (*at != f) at = &(*at)->next;
  *at = f->next;
  pthread_mutex_unlock(&g->lock);
  free((void *)(uintptr_t)f->list);
  free(f);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

/* A message under construction. */
typedef struct message {
  head head;
  size_t used;
  char bytes[MOST];
} message;

/* Sends a message. `more`: the call will send further ones, so no completion is requested yet. A get requests none,
 * because its reply completes it. */
static void send(const wtl_global_op *op, message *m, bool more)
{
  bool is_get = op->kind == WTL_GLOBAL_GET;
  memcpy(m->bytes, &m->head, sizeof m->head);
  if (is_get) atomic_fetch_add_explicit(&op->request->by_packed, 1, memory_order_relaxed);
  wtl_am_request_send(
      op->self, op->site,
      &(wtl_am_request){.pe = op->pe, .id = WTL_AM_PACKED, .source = m->bytes, .n = m->used, .more = more || is_get});
  /* Counted after sending: another thread's fence must not take an unsent message for complete. */
  if (!is_get) atomic_fetch_add_explicit(&op->self->global->packed[op->pe], 1, memory_order_relaxed);
}

static void start_message(const wtl_global_op *op, message *m, size_t block, const wtl_fetch *f)
{
  m->head = (head){.op = (uint8_t)op->kind, .type = (uint8_t)op->type, .block = block, .token = f ? f->token : 0};
  if (op->kind == WTL_GLOBAL_ACC) memcpy(m->head.scale, op->scale, wtl_acc_bytes(op->type));
  m->used = sizeof m->head;
}

static void pack_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                     uint64_t n)
{
  message *m = arg;
  (void)there, (void)there_step;
  wtl_copy_blocks(m->bytes + m->used, block, here, (size_t)here_step, block, n);
  m->used += block * n;
}

/* Accumulates one block in pieces that fit. */
static void accumulate_block(const wtl_global_op *op, const char *here, const char *there, size_t block, message *m)
{
  for (size_t done = 0, step; done < block; done += step) {
    step = block - done < PIECE ? block - done : PIECE;
    start_message(op, m, step, NULL);
    m->head.n = 1;
    m->head.offset = wtl_global_place(op->self, there + done, op->pe).offset;
    memcpy(m->bytes + m->used, here + done, step);
    m->used += step;
    send(op, m, done + step < block);
  }
}

typedef struct long_blocks {
  wtl_global_op op; /* blocks that are not packed are moved by non-blocking operations */
  message *message;
} long_blocks;

static void send_long_block(const long_blocks *l, char *here, char *there, size_t block)
{
  if (l->op.kind == WTL_GLOBAL_ACC) {
    accumulate_block(&l->op, here, there, block, l->message);
  } else {
    wtl_global_before(&l->op, false);
    wtl_global_move_plain(&l->op, here, there, block);
  }
}

static void send_long_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                          uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    send_long_block(arg, here + (ptrdiff_t)i * here_step, there + (ptrdiff_t)i * there_step, block);
}

static long_blocks long_ones(const wtl_global_op *op, message *m)
{
  long_blocks l = {*op, m};
  l.op.blocking = false;
  return l;
}

/* Puts and gets of long blocks are plain. An accumulate of any length is packed. */
static bool is_plain(const wtl_global_op *op, size_t block)
{
  return op->kind != WTL_GLOBAL_ACC && block > LONG_BLOCK;
}

static void keep_patch(wtl_fetch *f, const wtl_strides *s, char *here)
{
  f->here = here;
  f->strides = *s;
  memset(f->strides.there, 0, sizeof f->strides.there);
}

void wtl_packed_patch(const wtl_global_op *op, const wtl_strides *s, char *here, char *there)
{
  message m;
  uint64_t blocks = wtl_strides_blocks(s);
  wtl_global_before(op, !is_plain(op, s->block));
  if (is_plain(op, s->block) || s->block > MOST_BYTES) {
    long_blocks l = long_ones(op, &m);
    wtl_each_run(s, here, there, 0, blocks, send_long_run, &l);
    return;
  }
  uint64_t each = (BODY - (size_t)s->levels * sizeof(level)) / s->block;
  wtl_fetch *f = op->kind == WTL_GLOBAL_GET ? begin_fetch(op->self, blocks, each, s->block, op->request) : NULL;
  if (f) keep_patch(f, s, here);
  for (uint64_t first = 0; first < blocks; first += each) {
    start_message(op, &m, s->block, f);
    m.head.levels = (uint8_t)s->levels;
    m.head.first = first;
    m.head.n = (uint32_t)(blocks - first < each ? blocks - first : each);
    m.head.offset = wtl_global_place(op->self, there, op->pe).offset;
    for (int i = 0; i < s->levels; i++, m.used += sizeof(level))
      memcpy(m.bytes + m.used, &(level){s->count[i], s->there[i]}, sizeof(level));
    if (!f) wtl_each_run(s, here, there, first, m.head.n, pack_run, &m);
    send(op, &m, first + each < blocks); /* after the last message the fetch may have ended and been freed */
  }
}

static void keep_list(wtl_fetch *f, char *const *here, size_t n)
{
  char **copy = malloc(n * sizeof *copy);
  if (!copy) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to get %zu blocks", n);
  memcpy(copy, here, n * sizeof *copy);
  f->list = copy;
}

void wtl_packed_list(const wtl_global_op *op, const wtl_block_list *l)
{
  message m;
  wtl_global_before(op, !is_plain(op, l->bytes));
  if (is_plain(op, l->bytes) || l->bytes + sizeof(uint64_t) > MOST_BYTES) {
    long_blocks each = long_ones(op, &m);
    for (size_t i = 0; i < l->n; i++) send_long_block(&each, l->here[i], l->there[i], l->bytes);
    return;
  }
  size_t each = BODY / (l->bytes + sizeof(uint64_t));
  wtl_fetch *f = op->kind == WTL_GLOBAL_GET ? begin_fetch(op->self, l->n, each, l->bytes, op->request) : NULL;
  if (f) keep_list(f, l->here, l->n);
  for (size_t first = 0; first < l->n; first += each) {
    size_t count = l->n - first < each ? l->n - first : each;
    start_message(op, &m, l->bytes, f);
    m.head.is_list = 1;
    m.head.first = first;
    m.head.n = (uint32_t)count;
    for (size_t i = 0; i < count; i++, m.used += sizeof(uint64_t)) {
      uint64_t offset = wtl_global_place(op->self, l->there[first + i], op->pe).offset;
      memcpy(m.bytes + m.used, &offset, sizeof offset);
    }
    for (size_t i = 0; !f && i < count; i++, m.used += l->bytes) memcpy(m.bytes + m.used, l->here[first + i], l->bytes);
    send(op, &m, first + each < l->n);
  }
}

/* --- serving ------------------------------------------------------------------------------------------------------ */

/* A request that is being served. */
typedef struct serving {
  wtl_pe *self;
  int from;
  head head;
  wtl_strides strides;
  const char *places; /* of a list: offsets of its blocks */
  char *bytes;        /* the next block's bytes in the request or the reply */
  wtl_acc acc;
} serving;

static void refuse(const serving *s, const char *what) __attribute__((noreturn, cold));
static void refuse(const serving *s, const char *what)
{
  wtl_pe_fail(WTL_EXIT_SOFTWARE, "PE %d sent a request for this PE's global memory that %s", s->from, what);
}

/* Returns the address of `n` bytes at `offset` of this PE's memory. */
static char *find(const serving *s, int64_t offset, uint64_t n)
{
  const wtl_global *g = s->self->global;
  if (offset < 0 || (uint64_t)offset > g->bytes || n > g->bytes - (uint64_t)offset)
    refuse(s, "names a place outside of it");
  return wtl_global_own(s->self) + offset;
}

static void serve_block(serving *s, char *there)
{
  size_t n = s->head.block;
  switch (s->head.op) {
  case WTL_GLOBAL_PUT: wtl_global_near_copy(there, s->bytes, n); break;
  case WTL_GLOBAL_GET: wtl_global_near_copy(s->bytes, there, n); break;
  default: wtl_acc_add(&s->acc, there, s->bytes, n);
  }
  s->bytes += n;
}

static void serve_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                      uint64_t n)
{
  (void)here, (void)here_step, (void)block;
  for (uint64_t i = 0; i < n; i++) serve_block(arg, there + (ptrdiff_t)i * there_step);
}

static void serve_blocks(serving *s)
{
  uint64_t place;
  if (!s->head.is_list) {
    char *there = find(s, (int64_t)s->head.offset, s->head.block);
    wtl_each_run(&s->strides, s->bytes, there, s->head.first, s->head.n, serve_run, s);
    return;
  }
  for (uint32_t i = 0; i < s->head.n; i++) {
    memcpy(&place, s->places + i * sizeof place, sizeof place);
    serve_block(s, find(s, (int64_t)place, s->head.block));
  }
}

/* Refuses a patch with a block outside this PE's memory, and steps whose sums overflow. */
static void check_patch(serving *s)
{
  int64_t low = (int64_t)s->head.offset, high = low, reach;
  find(s, low, s->head.block);
  for (int i = 0; i < s->strides.levels; i++) {
    ptrdiff_t *step = &s->strides.there[i];
    if (s->strides.count[i] == 1) *step = 0; /* the step is unused, so it may have any value */
    if (__builtin_mul_overflow(s->strides.count[i] - 1, *step, &reach) ||
        __builtin_add_overflow(reach, reach < 0 ? low : high, reach < 0 ? &low : &high))
      refuse(s, "names a place outside of it");
  }
  find(s, low, s->head.block);
  find(s, high, s->head.block);
}

/* Reads the head and the description from `n` bytes at `at`. The rest must be exactly the bytes of the blocks, if
 * the request has any. */
static void read_request(serving *s, char *at, size_t n)
{
  head *h = &s->head;
  uint64_t blocks = 1;
  level l;
  if (n < sizeof *h) refuse(s, "has no head");
  memcpy(h, at, sizeof *h);
  size_t described = h->is_list ? h->n * sizeof(uint64_t) : h->levels * sizeof(level);
  if (h->op > WTL_GLOBAL_GET || h->levels > WTL_MOST_LEVELS || (h->op == WTL_GLOBAL_ACC && h->type >= WTL_ACC_TYPES) ||
      (h->is_list && h->levels) || h->n == 0 || h->block == 0 || h->block > BODY || h->n > BODY / h->block ||
      described > n - sizeof *h)
    refuse(s, "is not well-formed");
  s->places = at + sizeof *h;
  s->bytes = at + sizeof *h + described;
  s->strides.levels = h->levels;
  s->strides.block = h->block;
  for (int i = 0; i < h->levels; i++) {
    memcpy(&l, s->places + (size_t)i * sizeof l, sizeof l);
    s->strides.count[i] = l.count;
    s->strides.there[i] = (ptrdiff_t)l.step;
    if (l.count == 0 || __builtin_mul_overflow(blocks, l.count, &blocks)) refuse(s, "counts no blocks, or too many");
  }
  if (!h->is_list && (h->first >= blocks || h->n > blocks - h->first)) refuse(s, "has more blocks than its patch");
  if (!h->is_list) check_patch(s);
  size_t expected = h->op == WTL_GLOBAL_GET ? 0 : h->n * h->block;
  if (n - sizeof *h - described != expected) refuse(s, "is longer or shorter than its header states");
  if (h->op == WTL_GLOBAL_ACC && h->block % wtl_acc_bytes((enum wtl_acc_type)h->type)) refuse(s, "splits an element");
}

/* Serves a request of another PE. Its arithmetic must not trap in this program, which has not asked for it. */
static void serve(void *buf, size_t n, int from, wtl_am_token token)
{
  WTL_FLOATS_APART;
  serving s = {.self = wtl_self, .from = from};
  wtl_global *g = s.self->global;
  read_request(&s, buf, n);
  if (s.head.op == WTL_GLOBAL_GET) {
    reply_head r = {s.head.token, s.head.first, s.head.n};
    memcpy(g->reply_buffer, &r, sizeof r);
    s.bytes = g->reply_buffer + sizeof r;
    serve_blocks(&s);
    wtl_fence_load();
    wtl_am_reply(s.self, "a get", WTL_AM_PACKED_REPLY, g->reply_buffer, (size_t)(s.bytes - g->reply_buffer), token);
    return;
  }
  if (s.head.op == WTL_GLOBAL_ACC)
    wtl_acc_begin(&s.acc, s.self, &g->served, (enum wtl_acc_type)s.head.type, s.head.scale, s.self->slot);
  serve_blocks(&s);
  if (s.head.op == WTL_GLOBAL_ACC) wtl_acc_end(&s.acc);
  wtl_fence();
}

/* --- replies ------------------------------------------------------------------------------------------------------ */

static void unpack_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                       uint64_t n)
{
  const char **bytes = arg;
  (void)there, (void)there_step;
  wtl_copy_blocks(here, (size_t)here_step, *bytes, block, block, n);
  *bytes += block * n;
}

static void take_reply(void *buf, size_t n, int from, wtl_am_token token)
{
  wtl_global *g = wtl_self->global;
  const char *bytes = (const char *)buf + sizeof(reply_head);
  reply_head r;
  wtl_fetch *f = NULL;
  (void)token;
  if (n >= sizeof r) {
    memcpy(&r, buf, sizeof r);
    f = find_fetch(g, r.token);
  }
  if (!f || r.first != f->total - f->left || r.n != (f->left < f->each ? f->left : f->each) ||
      n - sizeof r != r.n * f->block)
    wtl_pe_fail(WTL_EXIT_SOFTWARE, "PE %d sent an answer to no request of this PE", from);
  wtl_request *request = f->request;
  if (f->list)
    for (uint64_t i = 0; i < r.n; i++, bytes += f->block) memcpy(f->list[r.first + i], bytes, f->block);
  else
    wtl_each_run(&f->strides, f->here, f->here, r.first, r.n, unpack_run, &bytes);
  if ((f->left -= r.n) == 0) end_fetch(g, f);
  atomic_fetch_sub_explicit(&request->by_packed, 1, memory_order_release); /* last: the owner may continue */
}

void wtl_packed_start(wtl_pe *self)
{
  self->global->reply_buffer = malloc(MOST);
  if (!self->global->reply_buffer) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to serve global memory");
  wtl_am_serve(self);
  wtl_am_attach(self, "global memory", WTL_AM_PACKED, serve);
  wtl_am_attach(self, "global memory", WTL_AM_PACKED_REPLY, take_reply);
}
