/*
 * card.c - simulates puts and gets by network cards. The steps of a card happen between the turns of PEs.
 *
 * The steps run in the copy of the program of the PE that began the operation. They use no variables of that copy but
 * the operation and its card, so they may store into the memory of another PE.
 */
#include "fabric/sim/card.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "fabric/sim/pinned.h"
#include "os/floats.h"
#include "sim/libc_calls.h"
#include "sim/simulator.h"

/* HEADER_BYTES: about what InfiniBand adds. COPIED_BYTES: less is copied, as set for UCX (ucx/transport_ucx.c,
 * ZCOPY_THRESHOLD). INLINE_BYTES: up to which the core hands the bytes over with the request (UCX, TX_MIN_INLINE).
 * QUEUE: of puts without an acknowledgement, before copied ones wait for theirs, too (UCX, TX_QUEUE_LEN). */
enum { HEADER_BYTES = 64, COPIED_BYTES = 8192, INLINE_BYTES = 64, QUEUE = 256 };

struct wtl_card {
  int me;
  wtl_pinned pinned;
  unsigned epoch;         /* of the puts that begin now */
  uint32_t unanswered[2]; /* puts without an acknowledgement, by epoch; a flush waits for those of the one before */
  struct operation *flush;
};

typedef struct operation {
  wtl_mail mail; /* first */
  wtl_card *card;
  int pe;
  unsigned epoch;
  char *here, *there, *copy;
  size_t n; /* 0: a flush */
  bool gets;
  wtl_done_fn done; /* NULL: called already */
  void *arg;
} operation;

static operation *new_operation(wtl_card *c, int pe, const wtl_transport_rma *r)
{
  operation *o = calloc(1, sizeof *o);
  if (!o) abort();
  *o = (operation){.mail = {.of_card = true},
                   .card = c,
                   .pe = pe,
                   .here = r->here,
                   .there = (char *)(uintptr_t)(r->key->address + r->offset),
                   .n = r->n,
                   .done = r->done,
                   .arg = r->arg};
  return o;
}

static void free_operation(operation *o)
{
  free(o->copy);
  free(o);
}

static char *space_for(const operation *o)
{
  char *space = malloc(o->n);
  if (!space) abort();
  return space;
}

static bool is_copied(const operation *o)
{
  return o->n < COPIED_BYTES;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

void wtl_card_complete(wtl_mail *mail)
{
  WTL_FLOATS_APART;
  const wtl_sim_prices *price = wtl_sim_price();
  operation *o = (operation *)(void *)mail;
  wtl_sim_charge(price->post);
  if (o->gets && is_copied(o)) {
    wtl_sim_charge((double)o->n * price->byte);
    wtl_store_bytes(o->here, o->copy, o->n);
  }
  o->done(o->arg);
  free_operation(o);
}

static void report(operation *o)
{
  wtl_sim_hand_back(o->card->me, o);
}

static void end_flush(wtl_card *c)
{
  operation *flush = c->flush;
  if (!flush || c->unanswered[!c->epoch]) return;
  c->flush = NULL;
  report(flush);
}

/* --- put ---------------------------------------------------------------------------------------------------------- */

static void acknowledged(void *what, uint64_t zero)
{
  operation *o = what;
  wtl_card *c = o->card;
  (void)zero;
  c->unanswered[o->epoch]--;
  if (o->done)
    report(o);
  else
    free_operation(o);
  end_flush(c);
}

static void put_arrives(void *what, uint64_t zero)
{
  operation *o = what;
  (void)zero;
  wtl_store_bytes(o->there, o->copy ? o->copy : o->here, o->n);
  wtl_sim_stored(o->pe);
  wtl_sim_later(wtl_sim_price()->latency, acknowledged, o);
}

void wtl_card_put(wtl_card *c, int pe, const wtl_transport_rma *r)
{
  WTL_FLOATS_APART;
  const wtl_sim_prices *price = wtl_sim_price();
  operation *o = new_operation(c, pe, r);
  bool is_free = is_copied(o) && c->unanswered[0] + c->unanswered[1] < QUEUE;
  if (is_copied(o)) {
    wtl_sim_charge((double)o->n * price->byte);
    o->copy = memcpy(space_for(o), o->here, o->n);
  } else {
    wtl_card_register(c, o->here, o->n);
  }
  wtl_sim_charge(price->post);
  o->epoch = c->epoch;
  c->unanswered[o->epoch]++;
  if (is_free) o->done = NULL;
  wtl_sim_transfer(c->me, pe, HEADER_BYTES + o->n, wtl_sim_ahead() + (o->n > INLINE_BYTES ? price->fetch : 0),
                   put_arrives, o);
  if (is_free) r->done(r->arg);
}

void wtl_card_flush(wtl_card *c, wtl_done_fn done, void *arg)
{
  c->epoch = !c->epoch;
  if (!c->unanswered[!c->epoch]) {
    done(arg);
    return;
  }
  operation *o = calloc(1, sizeof *o);
  if (!o) abort();
  *o = (operation){.mail = {.of_card = true}, .card = c, .done = done, .arg = arg};
  c->flush = o;
}

/* --- get ---------------------------------------------------------------------------------------------------------- */

static void data_arrive(void *what, uint64_t zero)
{
  operation *o = what;
  (void)zero;
  if (!is_copied(o)) wtl_store_bytes(o->here, o->copy, o->n);
  report(o);
}

static void get_arrives(void *what, uint64_t zero)
{
  operation *o = what;
  (void)zero;
  o->copy = space_for(o);
  wtl_load_bytes(o->copy, o->there, o->n);
  wtl_sim_transfer(o->pe, o->card->me, HEADER_BYTES + o->n, wtl_sim_price()->fetch, data_arrive, o);
}

void wtl_card_get(wtl_card *c, int pe, const wtl_transport_rma *r)
{
  operation *o = new_operation(c, pe, r);
  o->gets = true;
  if (!is_copied(o)) wtl_card_register(c, o->here, o->n);
  wtl_sim_charge(wtl_sim_price()->post);
  wtl_sim_transfer(c->me, pe, HEADER_BYTES, wtl_sim_ahead(), get_arrives, o);
}

/* --- start and end ------------------------------------------------------------------------------------------------ */

void wtl_card_register(wtl_card *c, const void *start, size_t n)
{
  WTL_FLOATS_APART;
  const wtl_sim_prices *price = wtl_sim_price();
  size_t pages = wtl_pinned_add(&c->pinned, start, n);
  if (pages) wtl_sim_charge(price->enroll + (double)pages * price->page);
}

wtl_card *wtl_card_open(int pe)
{
  wtl_card *c = calloc(1, sizeof *c);
  if (c) c->me = pe;
  return c;
}

/* All PEs have synchronized, so no operation is pending; but acknowledgements may be. */
void wtl_card_close(wtl_card *c)
{
  wtl_pinned_free(&c->pinned);
  if (!c->unanswered[0] && !c->unanswered[1]) free(c);
}
