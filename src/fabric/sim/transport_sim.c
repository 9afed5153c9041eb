/*
 * transport_sim.c - the transport of simulated PEs. Bytes go from PE to PE by pointer, for all PEs are in one process.
 * The simulator accounts for their cost: the wire by the size, and the cores at both ends by the machine's prices.
 *
 * Like UCX over TCP (transport_ucx.c), it sends messages of up to WTL_NET_MOST bytes at once, and longer ones by
 * rendezvous if that mode is given. Then the target is notified first and asks for the data when it knows their place.
 * The sender's CPU sends them then, as on a network without hardware for it. Puts and gets are those of the network
 * card (card.h), if the cluster's network has such cards.
 *
 * A message that leaves at once is copied, as into a socket's buffer, and its sender continues. A message for which the
 * buffer has no space is not copied, and its sender is notified when the target has taken it. This bounds the memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"
#include "fabric/net.h"
#include "fabric/sim/card.h"
#include "fabric/transport.h"
#include "fabric/wire.h"
#include "os/floats.h"
#include "sim/libc_calls.h"
#include "sim/simulator.h"

/* WIRE_BYTES: about what Ethernet, IP and TCP, or InfiniBand, add to a message. BUFFER_BYTES: of messages of a PE that
 * are under way; within what Linux gives a TCP connection (tcp_wmem: 16 KiB to 4 MiB). SMALL: not worth counting. */
enum { HEADER_BYTES = 64, WIRE_BYTES = 64, BUFFER_BYTES = 1 << 20, SMALL = 1024 };

typedef struct sim {
  wtl_transport base; /* first: callers know only this */
  wtl_transport_callbacks callbacks;
  int me;
  wtl_card *card;   /* NULL: the network moves no bytes by itself */
  size_t *buffered; /* bytes; never freed, for a message may be taken after its sender has ended */
  bool *unanswered; /* by PE: one message arrived and none went back; NULL if acknowledgements cost nothing */
} sim;

enum parcel_kind { MESSAGE, TAKEN, WANTED, DATA };

typedef struct parcel {
  wtl_mail mail; /* first */
  enum parcel_kind kind;
  int from;
  unsigned message;
  char header[HEADER_BYTES];
  size_t header_bytes;
  const void *data; /* the sender's, or the copy */
  void *copy;
  size_t n;
  bool later;       /* by rendezvous */
  size_t *buffered; /* the counter of its copy; NULL: it is not counted */
  wtl_done_fn sent, received;
  void *sent_arg, *received_arg;
  void *to;
} parcel;

static sim *of(const wtl_transport *t)
{
  return (sim *)(uintptr_t)t;
}

/* Charges the core for sending or receiving a message with `records` small operations. */
static void work(double message, size_t bytes, uint32_t records)
{
  WTL_FLOATS_APART;
  const wtl_sim_prices *price = wtl_sim_price();
  wtl_sim_charge(message + (double)bytes * price->byte + records * price->record);
}

static uint32_t records_of(const parcel *p)
{
  wire_head head = {0};
  if (p->kind != MESSAGE || p->message != WIRE_BATCH || p->n < sizeof head) return 0;
  memcpy(&head, p->data, sizeof head);
  return head.records;
}

/* TCP acknowledges every second message by a packet of its own, unless a message went back in between. */
static void acknowledge(sim *s, int from)
{
  if (!s->unanswered) return;
  if (s->unanswered[from]) wtl_sim_charge(wtl_sim_price()->acknowledge);
  s->unanswered[from] = !s->unanswered[from];
}

static void take_in(sim *s, int from, size_t bytes, uint32_t records)
{
  work(wtl_sim_price()->receive + records * wtl_sim_price()->serve, bytes, records);
  acknowledge(s, from);
}

/* The time that the core still works on a message after the message, or its first segment, has left. */
static double afterwards(size_t bytes)
{
  const wtl_sim_prices *price = wtl_sim_price();
  size_t first = price->segment > 0 && (double)bytes > price->segment ? (size_t)price->segment : bytes;
  return price->message - price->leaves + (double)(bytes - first) * price->byte;
}

static void post(sim *s, int pe, parcel *p, enum parcel_kind kind, size_t bytes, int stream)
{
  WTL_FLOATS_APART;
  p->kind = kind;
  work(wtl_sim_price()->message, bytes, records_of(p));
  if (s->unanswered) s->unanswered[pe] = false;
  wtl_sim_send(pe, p, WIRE_BYTES + bytes, stream, wtl_sim_ahead() - afterwards(bytes) * wtl_sim_pace());
}

/* Copies the message if there is space. False: there is none. */
static bool buffer(sim *s, parcel *p)
{
  bool counts = p->n > SMALL;
  if (counts && *s->buffered + p->n > BUFFER_BYTES) return false;
  if (counts) *(p->buffered = s->buffered) += p->n;
  if (!(p->copy = malloc(p->n))) abort();
  p->data = memcpy(p->copy, p->data, p->n);
  return true;
}

static void sim_send(wtl_transport *t, int pe, const wtl_transport_message *m)
{
  parcel *p = calloc(1, sizeof *p);
  if (!p || m->header_bytes > HEADER_BYTES) abort();
  p->from = of(t)->me;
  p->message = m->kind;
  p->header_bytes = m->header_bytes;
  p->data = m->data;
  p->n = m->n;
  p->later = wtl_transport_may_send_later(m->mode) && m->n > WTL_NET_MOST;
  if (m->header_bytes) memcpy(p->header, m->header, m->header_bytes);
  bool is_done = !p->later && (!m->n || buffer(of(t), p));
  if (!is_done) p->sent = m->done, p->sent_arg = m->arg;
  post(of(t), pe, p, MESSAGE, m->header_bytes + (p->later ? 0 : m->n), !wtl_transport_is_ordered(m->mode));
  if (is_done) m->done(m->arg);
}

static void sim_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  parcel *p = handle;
  int from = p->from;
  p->to = to;
  p->received = done;
  p->received_arg = arg;
  p->from = of(t)->me;
  post(of(t), from, p, WANTED, 0, 1);
}

static void drop(parcel *p)
{
  free(p->copy);
  free(p);
}

/* Handles a parcel. Its fields belong to both ends alternately: the sender's part is done when its data have left. */
static void open_parcel(sim *s, parcel *p)
{
  int from = p->from;
  switch (p->kind) {
  case MESSAGE:
    take_in(s, from, p->header_bytes + (p->later ? 0 : p->n), records_of(p));
    s->callbacks.arrived(s->callbacks.owner, p->message, p->header, p->header_bytes,
                         p->later ? (void *)p : (void *)(uintptr_t)p->data, p->n, p->later);
    if (p->later) break;
    if (p->buffered) *p->buffered -= p->n;
    if (!p->sent) {
      drop(p);
      break;
    }
    p->kind = TAKEN;
    wtl_sim_hand_back(from, p);
    break;
  case TAKEN:
    p->sent(p->sent_arg);
    drop(p);
    break;
  case WANTED:
    take_in(s, from, 0, 0);
    if (!(p->copy = malloc(p->n))) abort();
    memcpy(p->copy, p->data, p->n);
    wtl_done_fn sent = p->sent;
    void *arg = p->sent_arg;
    p->from = s->me;
    post(s, from, p, DATA, p->n, 1);
    sent(arg);
    break;
  default:
    take_in(s, from, p->n, 0);
    wtl_store_bytes(p->to, p->copy, p->n);
    p->received(p->received_arg);
    drop(p);
  }
}

static bool sim_progress(wtl_transport *t)
{
  wtl_mail *mail;
  bool any = false;
  while ((mail = wtl_sim_take())) {
    if (mail->of_card)
      wtl_card_complete(mail);
    else
      open_parcel(of(t), (parcel *)(void *)mail);
    any = true;
  }
  return any;
}

static int sim_descriptor(const wtl_transport *t)
{
  return -1; /* the agent waits in the simulator (wtl_os_await_network) */
}

static bool sim_arm(wtl_transport *t)
{
  return !wtl_sim_has_message();
}

/* --- remote memory access --------------------------------------------------------------------------------------- */

static bool sim_has_rma(wtl_transport *t, int pe)
{
  (void)pe;
  return of(t)->card;
}

static int sim_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  if (!of(t)->card || *length < 1) return -1;
  wtl_card_register(of(t)->card, start, n);
  *(char *)key = 'k';
  *length = 1;
  return 0;
}

static void *sim_accept(wtl_transport *t, int pe, const void *key)
{
  (void)pe;
  return of(t)->card && *(const char *)key == 'k' ? t : NULL;
}

static void sim_put(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  wtl_card_put(of(t)->card, pe, r);
}

static void sim_get(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  wtl_card_get(of(t)->card, pe, r);
}

static void sim_flush(wtl_transport *t, wtl_done_fn done, void *arg)
{
  wtl_card_flush(of(t)->card, done, arg);
}

/* --- start and stop --------------------------------------------------------------------------------------------- */

static const wtl_transport_ops transport_sim;

static void free_sim(sim *s)
{
  if (s->card) wtl_card_close(s->card);
  free(s->unanswered);
  free(s);
}

/* False: there is no memory. */
static bool make_parts(sim *s, int n_pes)
{
  const wtl_sim_prices *price = wtl_sim_price();
  if (!(s->buffered = calloc(1, sizeof *s->buffered))) return false;
  if (price->acknowledge > 0 && !(s->unanswered = calloc((size_t)n_pes, sizeof *s->unanswered))) return false;
  return !price->has_cards || (s->card = wtl_card_open(s->me)) != NULL;
}

static int sim_start(wtl_transport **out, const wtl_settings *settings, wtl_boot *boot,
                     const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  WTL_FLOATS_APART;
  sim *s = calloc(1, sizeof *s);
  (void)settings;
  if (s) *s = (sim){.base = {&transport_sim}, .callbacks = *callbacks, .me = boot->pe};
  if (!s || !make_parts(s, boot->n_pes)) {
    if (s) free(s->buffered), free_sim(s);
    return snprintf(error, size, "no memory for the network"), WTL_EXIT_OSERR;
  }
  *out = &s->base;
  return 0;
}

static void sim_stop(wtl_transport *t)
{
  free_sim(of(t));
}

static const wtl_transport_ops transport_sim = {
    .name = "simulated",
    .keeps_order = true, /* as UCX over TCP */
    .start = sim_start,
    .stop = sim_stop,
    .send = sim_send,
    .receive = sim_receive,
    .progress = sim_progress,
    .descriptor = sim_descriptor,
    .arm = sim_arm,
    .has_rma = sim_has_rma,
    .offer = sim_offer,
    .accept = sim_accept,
    .put = sim_put,
    .get = sim_get,
    .flush = sim_flush,
};

/* This build has no other transport. */
const wtl_transport_ops *wtl_transport_load(const char *name, const char *sysfs, char *error, size_t size)
{
  (void)name, (void)sysfs, (void)error, (void)size;
  return &transport_sim;
}
