/*
 * The transport of simulated PEs. Bytes go from PE to PE by pointer, for all are in one process; what they cost is the
 * simulator's: the wire by its size, and the cores at both ends by the machine's prices.
 *
 * By rendezvous: the target is told, asks for the data when it knows where they go, and the sender's CPU sends them
 * then, as on a network without hardware for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"
#include "fabric/transport.h"
#include "sim/os.h"
#include "sim/simulator.h"

enum {
  HEADER_BYTES = 64,
  WIRE_BYTES = 64
}; /* WIRE_BYTES: about what Ethernet, IP and TCP, or InfiniBand, add to a message */

typedef struct sim {
  wtl_transport base; /* first: the rooms above know only this */
  wtl_transport_home home;
  int me;
} sim;

enum parcel_kind { MESSAGE, WANTED, DATA };

typedef struct parcel {
  enum parcel_kind kind;
  int from;
  unsigned message;
  char header[HEADER_BYTES];
  size_t header_bytes;
  const void *data; /* the sender's, where `later`; else a copy */
  void *copy;
  size_t n;
  bool later, taken;
  wtl_done_fn sent, received;
  void *sent_arg, *received_arg;
  void *to;
} parcel;

static sim *of(const wtl_transport *t)
{
  return (sim *)(uintptr_t)t;
}

/* What handing over, or taking, a message takes of the core. */
static void work(double message, size_t bytes)
{
  wtl_os_charge(message + (double)bytes * wtl_sim_price()->byte);
}

static void take_in(size_t bytes)
{
  work(wtl_sim_price()->receive, bytes);
}

static void post(int pe, parcel *p, enum parcel_kind kind, size_t bytes, int stream)
{
  p->kind = kind;
  work(wtl_sim_price()->message, bytes);
  wtl_sim_send(pe, p, WIRE_BYTES + bytes, stream, wtl_os_ahead());
}

static void sim_send(wtl_transport *t, int pe, unsigned message, const void *header, size_t header_bytes,
                     const void *data, size_t n, enum wtl_send_manner manner, wtl_done_fn done, void *arg)
{
  parcel *p = calloc(1, sizeof *p);
  bool later = manner == WTL_SEND_RENDEZVOUS && n;
  if (!p || header_bytes > HEADER_BYTES) abort();
  p->from = of(t)->me;
  p->message = message;
  p->header_bytes = header_bytes;
  p->data = data;
  p->n = n;
  p->later = later;
  p->sent = done;
  p->sent_arg = arg;
  if (header_bytes) memcpy(p->header, header, header_bytes);
  if (!later && n) {
    if (!(p->copy = malloc(n))) abort();
    p->data = memcpy(p->copy, data, n);
  }
  post(pe, p, MESSAGE, header_bytes + (later ? 0 : n), manner == WTL_SEND_APART);
  if (!later) done(arg);
}

static void sim_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  parcel *p = handle;
  int from = p->from;
  p->taken = true;
  p->to = to;
  p->received = done;
  p->received_arg = arg;
  p->from = of(t)->me;
  post(from, p, WANTED, 0, 1);
}

static void drop(parcel *p)
{
  free(p->copy);
  free(p);
}

/* What is in it belongs to both ends by turns: the sender's part is done when its data have left. */
static void open_parcel(sim *s, parcel *p)
{
  int from = p->from;
  switch (p->kind) {
  case MESSAGE:
    take_in(p->header_bytes + (p->later ? 0 : p->n));
    s->home.arrived(s->home.owner, p->message, p->header, p->header_bytes,
                    p->later ? (void *)p : (void *)(uintptr_t)p->data, p->n, p->later);
    if (!p->later) drop(p);
    break;
  case WANTED:
    take_in(0);
    if (!(p->copy = malloc(p->n))) abort();
    memcpy(p->copy, p->data, p->n);
    wtl_done_fn sent = p->sent;
    void *arg = p->sent_arg;
    p->from = s->me;
    post(from, p, DATA, p->n, 1);
    sent(arg);
    break;
  default:
    take_in(p->n);
    wtl_store_bytes(p->to, p->copy, p->n);
    p->received(p->received_arg);
    drop(p);
  }
}

static bool sim_progress(wtl_transport *t)
{
  parcel *p;
  bool any = false;
  while ((p = wtl_sim_take())) {
    open_parcel(of(t), p);
    any = true;
  }
  return any;
}

static int sim_descriptor(const wtl_transport *t)
{
  return -1; /* its agent waits otherwise (agent_sim.c) */
}

static bool sim_arm(wtl_transport *t)
{
  return !wtl_sim_has_message();
}

static bool sim_has_rma(wtl_transport *t, int pe)
{
  return false;
}

static int sim_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  return -1;
}

static void *sim_accept(wtl_transport *t, int pe, const void *key)
{
  return NULL;
}

extern const wtl_transport_ops wtl_transport_sim;

static int sim_start(wtl_transport **out, enum wtl_rma_use rma, wtl_boot *boot, const wtl_transport_home *home,
                     char *error, size_t size)
{
  sim *s = calloc(1, sizeof *s);
  if (!s) return snprintf(error, size, "no memory for the network"), WTL_EXIT_OSERR;
  s->base.ops = &wtl_transport_sim;
  s->home = *home;
  s->me = boot->pe;
  *out = &s->base;
  return 0;
}

static void sim_stop(wtl_transport *t)
{
  free(t);
}

const wtl_transport_ops wtl_transport_sim = {
    .name = "simulated",
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
};
