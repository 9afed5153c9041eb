/*
 * transport_threads.c - the transport of the threads build: PEs are threads of one process, and PEs of other "nodes"
 * get messages in mailboxes. It imitates the difficult cases of real networks: data that arrive later, completions that
 * arrive later, and remote memory access (with WATTLE_RMA=on) that notifies no PE.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/words.h"
#include "fabric/transport.h"

enum { MOST_PES = 64, HEADER_BYTES = 64 };

typedef struct threads threads;

/* A message, or the notice of a completion. */
typedef struct parcel {
  struct parcel *next;
  unsigned message; /* 0: call `done` */
  wtl_done_fn done;
  void *arg;
  int from;
  char header[HEADER_BYTES];
  size_t header_bytes;
  const void *data; /* the sender's memory if `later` */
  void *copy;
  size_t n;
  bool later, taken;
} parcel;

struct threads {
  wtl_transport base; /* first */
  wtl_transport_callbacks callbacks;
  int pe, event;
  parcel *first, **end; /* the content of its mailbox */
};

/* The mailbox of each PE. Threads of other PEs add to it, possibly after its PE has ended (a last heartbeat). */
static struct mailbox {
  pthread_mutex_t lock;
  threads *of; /* NULL: the PE has not started, or has ended */
} boxes[MOST_PES] = {[0 ... MOST_PES - 1] = {PTHREAD_MUTEX_INITIALIZER, NULL}};

static threads *of(const wtl_transport *t)
{
  return (threads *)(uintptr_t)t;
}

static void free_parcel(parcel *p)
{
  free(p->copy);
  free(p);
}

/* A message for a PE that has ended is lost, as on a real network. */
static void deliver(int pe, parcel *p)
{
  struct mailbox *box = &boxes[pe];
  p->next = NULL;
  pthread_mutex_lock(&box->lock);
  threads *to = box->of;
  if (to) {
    *to->end = p;
    to->end = &p->next;
    eventfd_write(to->event, 1);
  }
  pthread_mutex_unlock(&box->lock);
  if (!to) free_parcel(p);
}

static parcel *new_parcel(void)
{
  parcel *p = calloc(1, sizeof *p);
  if (!p) abort();
  return p;
}

static void deliver_done(int pe, wtl_done_fn done, void *arg)
{
  parcel *p = new_parcel();
  p->done = done;
  p->arg = arg;
  deliver(pe, p);
}

static void threads_send(wtl_transport *t, int pe, const wtl_transport_message *m)
{
  parcel *p = new_parcel();
  bool eager = !wtl_transport_may_send_later(m->mode);
  if (m->header_bytes > HEADER_BYTES || !m->kind) abort();
  *p = (parcel){.message = m->kind,
                .done = m->done,
                .arg = m->arg,
                .from = of(t)->pe,
                .header_bytes = m->header_bytes,
                .data = m->data,
                .n = m->n,
                .later = !eager};
  if (m->header_bytes) memcpy(p->header, m->header, m->header_bytes);
  if (eager && m->n) {
    if (!(p->copy = malloc(m->n))) abort();
    p->data = memcpy(p->copy, m->data, m->n);
  }
  deliver(pe, p);
  if (eager) m->done(m->arg);
}

static void threads_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  parcel *p = handle;
  memcpy(to, p->data, n);
  p->taken = true;
  deliver_done(of(t)->pe, done, arg);
}

static void take(threads *t, parcel *p)
{
  void *data = p->later ? p : (void *)(uintptr_t)p->data;
  if (p->message) {
    t->callbacks.arrived(t->callbacks.owner, p->message, p->header, p->header_bytes, data, p->n, p->later);
    if (p->later) deliver_done(p->from, p->done, p->arg);
  } else {
    p->done(p->arg);
  }
  free_parcel(p);
}

static bool threads_progress(wtl_transport *base)
{
  threads *t = of(base);
  pthread_mutex_lock(&boxes[t->pe].lock);
  parcel *p = t->first;
  t->first = NULL;
  t->end = &t->first;
  pthread_mutex_unlock(&boxes[t->pe].lock);
  bool any = p != NULL;
  for (parcel *next; p; p = next) {
    next = p->next;
    take(t, p);
  }
  return any;
}

static int threads_descriptor(const wtl_transport *t)
{
  return of(t)->event;
}

static bool threads_arm(wtl_transport *base)
{
  threads *t = of(base);
  uint64_t n;
  pthread_mutex_lock(&boxes[t->pe].lock);
  bool empty = t->first == NULL;
  if (empty) (void)!read(t->event, &n, sizeof n);
  pthread_mutex_unlock(&boxes[t->pe].lock);
  return empty;
}

/* --- remote memory access --------------------------------------------------------------------------------------- */

static bool threads_has_rma(wtl_transport *t, int pe)
{
  return false; /* only if WATTLE_RMA=on */
}

static int threads_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  *length = 1;
  *(char *)key = 'k';
  return 0;
}

static void *threads_accept(wtl_transport *t, int pe, const void *key)
{
  return *(const char *)key == 'k' ? t : NULL;
}

static void threads_put(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  wtl_store_bytes((char *)(uintptr_t)(r->key->address + r->offset), r->here, r->n);
  deliver_done(of(t)->pe, r->done, r->arg);
}

static void threads_get(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  wtl_load_bytes(r->here, (const char *)(uintptr_t)(r->key->address + r->offset), r->n);
  deliver_done(of(t)->pe, r->done, r->arg);
}

static void threads_flush(wtl_transport *t, wtl_done_fn done, void *arg)
{
  deliver_done(of(t)->pe, done, arg);
}

/* --- start and stop --------------------------------------------------------------------------------------------- */

static const wtl_transport_ops transport_threads;

static int threads_start(wtl_transport **out, const wtl_settings *settings, wtl_boot *boot,
                         const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  threads *t = calloc(1, sizeof *t);
  int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!t || event < 0 || boot->n_pes > MOST_PES) {
    snprintf(error, size, "mailboxes for %d PEs: at most %d, and a descriptor each", boot->n_pes, MOST_PES);
    return WTL_EXIT_UNAVAILABLE;
  }
  t->base.ops = &transport_threads;
  t->callbacks = *callbacks;
  t->pe = boot->pe;
  t->event = event;
  t->end = &t->first;
  pthread_mutex_lock(&boxes[t->pe].lock);
  boxes[t->pe].of = t;
  pthread_mutex_unlock(&boxes[t->pe].lock);
  *out = &t->base;
  return 0;
}

static void threads_stop(wtl_transport *base)
{
  threads *t = of(base);
  pthread_mutex_lock(&boxes[t->pe].lock);
  boxes[t->pe].of = NULL;
  pthread_mutex_unlock(&boxes[t->pe].lock);
  for (parcel *p = t->first, *next; p; p = next) {
    next = p->next;
    free_parcel(p);
  }
  close(t->event);
  free(t);
}

static const wtl_transport_ops transport_threads = {
    .name = "threads",
    .start = threads_start,
    .stop = threads_stop,
    .send = threads_send,
    .receive = threads_receive,
    .progress = threads_progress,
    .descriptor = threads_descriptor,
    .arm = threads_arm,
    .has_rma = threads_has_rma,
    .offer = threads_offer,
    .accept = threads_accept,
    .put = threads_put,
    .get = threads_get,
    .flush = threads_flush,
};

/* This build has no other transport. */
const wtl_transport_ops *wtl_transport_load(const char *name, const char *sysfs, char *error, size_t size)
{
  (void)name, (void)sysfs, (void)error, (void)size;
  return &transport_threads;
}
