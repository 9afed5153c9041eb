/*
 * Messages of the network: sequences of them, of strangers, broken or forged by one that knows the job's cookie, between
 * operations of the PE's own. Nothing is touched but what is offered, and what a caller has back is not written to.
 */
#define POST_SLICE_BYTES 8192
#include "job_ends.h"
#define exit job_ends

#include "fuzz.h"
#include "fabric/post.h"
#include "fabric/records.h"

enum { SENDER, VICTIM, MOST_STEPS = 64, MOST_DATA = 4096 };

/* --- what is received later --------------------------------------------------------------------------------------- */

typedef struct late {
  struct late *next;
  void *to;
  size_t n;
  wtl_done_fn done;
  void *arg;
} late;
static late *lates;

static void receive_later(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  late *l = malloc(sizeof *l);
  if (!l) abort();
  *l = (late){lates, to, n, done, arg};
  lates = l;
}

static void receive_one(void)
{
  late *l = lates;
  if (!l) return;
  lates = l->next;
  memset(l->to, 0x5a, l->n);
  l->done(l->arg);
  free(l);
}

/* --- the victim's own operations ---------------------------------------------------------------------------------- */

typedef struct operation {
  struct operation *next;
  _Atomic uint32_t left;
  char *memory; /* the caller's own again when `left` is 0 */
} operation;
static operation *operations;

/* Frees what the victim's caller has back; all of it where the network has ended. */
static void sweep(bool all)
{
  for (operation **at = &operations, *o; (o = *at) != NULL;) {
    if (o->left && !all) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    free(o->memory);
    free(o);
  }
}

static void operate_one(fuzz_input *in)
{
  static const size_t lengths[] = {8, 4, 1, 100, WTL_NET_MERGED, SLICE_BYTES};
  wtl_net *net = posts[VICTIM].net;
  size_t n = lengths[fuzz_below(in, sizeof lengths / sizeof *lengths)];
  operation *o = calloc(1, sizeof *o);
  if (!o || !(o->memory = calloc(1, n < 8 ? 8 : n))) abort();
  o->next = operations;
  operations = o;
  wtl_net_op to = {.pe = SENDER, .at = {(SLICE_BYTES - n) / 8 * 8, 0}, .left = &o->left};
  switch (fuzz_below(in, 5)) {
  case 0: wtl_net_put(net, &to, o->memory, n); break;
  case 1: wtl_net_get(net, &to, o->memory, n); break;
  case 2: wtl_net_amo(net, &to, &(wtl_atomic){WTL_AMO_ADD, n % 8 ? 4 : 8, 1, 0}, o->memory); break;
  case 3: to.mode = WTL_NET_HELD, wtl_net_amo(net, &to, &(wtl_atomic){WTL_AMO_XOR, 8, 5, 0}, NULL); break;
  default: wtl_net_flush(net);
  }
}

/* --- what arrives ------------------------------------------------------------------------------------------------- */

/* Of an operation that is under way, or was; or any. */
static uint64_t token(fuzz_input *in)
{
  const wtl_net *net = posts[VICTIM].net;
  if (net->n_pendings == 0 || fuzz_below(in, 4) == 0) return fuzz_number(in, 8);
  uint32_t i = (uint32_t)fuzz_below(in, 8);
  return (uint64_t)net->pendings[i].generation << 32 | i;
}

static uint64_t length(fuzz_input *in)
{
  static const uint64_t often[] = {
      0, 1, 4, 8, 24, 100, WTL_NET_MERGED, SLICE_BYTES, SLICE_BYTES + 1, UINT64_MAX, UINT64_MAX - 6};
  size_t i = fuzz_below(in, sizeof often / sizeof *often + 2);
  return i < sizeof often / sizeof *often ? often[i] : fuzz_number(in, 2);
}

static uint64_t offset(fuzz_input *in)
{
  static const uint64_t often[] = {0, 8, SLICE_BYTES - 8, SLICE_BYTES, SLICE_BYTES - 4, UINT64_MAX - 7};
  size_t i = fuzz_below(in, sizeof often / sizeof *often + 2);
  return i < sizeof often / sizeof *often ? often[i] : fuzz_number(in, 2);
}

/* A record as a PE would write it, or nearly. */
static void add_record_to(pack *p, fuzz_input *in)
{
  unsigned kind = (unsigned)fuzz_below(in, WIRE_AM + 2);
  uint64_t n = length(in), at = offset(in);
  uint32_t segment = (uint32_t)fuzz_below(in, 4);
  size_t carried = n <= MOST_DATA ? n : fuzz_below(in, 64);
  if (p->used + sizeof(wire_record) + wire_padded(carried) > WIRE_BATCH_BYTES) return;
  uint8_t *to = add(p, kind, segment, at, token(in), n, carried);
  for (size_t i = 0; i < carried && i < 32; i++) to[i] = (uint8_t)fuzz_number(in, 1);
}

static void a_batch_arrives(fuzz_input *in)
{
  static pack p;
  p.head = (wire_head){posts[VICTIM].net->cookie, SENDER, 0};
  p.used = 0;
  for (size_t i = 1 + fuzz_below(in, 8); i > 0; i--) add_record_to(&p, in);
  if (fuzz_below(in, 8) == 0) p.head.records += (uint32_t)fuzz_number(in, 4);
  size_t cut = fuzz_below(in, 8) == 0 ? fuzz_number(in, 1) : 0;
  arrive(VICTIM, WIRE_BATCH, NULL, 0, &p.head, sizeof p.head + (cut < p.used ? p.used - cut : 0));
}

static void a_large_one_arrives(fuzz_input *in)
{
  wire_large h = {posts[VICTIM].net->cookie, SENDER, (uint32_t)fuzz_below(in, 3), offset(in), token(in), 0};
  unsigned message = WIRE_PUT + (unsigned)fuzz_below(in, 3);
  uint64_t n = length(in);
  bool later = fuzz_below(in, 2);
  static char data[2 * SLICE_BYTES];
  if (later)
    arrive_later(VICTIM, message, &h, sizeof h, data, n);
  else
    arrive(VICTIM, message, &h, sizeof h, data, n < sizeof data ? n : sizeof data);
}

/* Any bytes, behind the cookie or not. */
static void rubbish_arrives(fuzz_input *in)
{
  unsigned message = (unsigned)fuzz_below(in, 6);
  size_t header_bytes, n;
  uint8_t *header = fuzz_bytes(in, message == WIRE_BATCH ? 0 : fuzz_below(in, 48), &header_bytes);
  uint8_t *data = fuzz_bytes(in, fuzz_number(in, 1), &n);
  bool knows = fuzz_below(in, 2);
  uint8_t *first = message == WIRE_BATCH ? data : header;
  if (knows && (message == WIRE_BATCH ? n : header_bytes) >= sizeof(wire_head))
    memcpy(first, &posts[VICTIM].net->cookie, 8), memset(first + 8, 0, 4);
  arrive(VICTIM, message, header, header_bytes, data, n);
  free(header);
  free(data);
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static void one_letter(void)
{
  letter *l = take_letter();
  if (l) deliver(l);
}

static void step(fuzz_input *in)
{
  switch (fuzz_below(in, 8)) {
  case 0: rubbish_arrives(in); break;
  case 1:
  case 2: a_batch_arrives(in); break;
  case 3: a_large_one_arrives(in); break;
  case 4:
  case 5: operate_one(in); break;
  case 6: receive_one(); break;
  default: one_letter(); progress_all();
  }
  sweep(false);
}

static void steps(fuzz_input *in)
{
  if (setjmp(where_jobs_end)) { /* a PE that ends takes no more; its process would be gone with all it holds */
    let_go(&posts[VICTIM].net->lock);
    return;
  }
  for (int i = 0; i < MOST_STEPS && fuzz_left(in); i++) step(in);
  while (lates) receive_one();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  post_transport.receive = receive_later;
  open_posts();
  steps(&in);
  post_transport.receive = post_receive;
  for (letter *l; (l = take_letter()) != NULL;) l->done(l->arg), free(l);
  progress_all();
  for (letter *l; (l = take_letter()) != NULL;) l->done(l->arg), free(l);
  while (lates) receive_one();
  FUZZ_MUST(canaries_live(VICTIM) && canaries_live(SENDER));
  for (int pe = 0; pe < POST_PES; pe++) wtl_net_close(posts[pe].net);
  sweep(true);
  return 0;
}
