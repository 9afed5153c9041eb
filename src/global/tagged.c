/* tagged.c - sends, keeps and finds tagged messages (tagged.h). */
#include "global/tagged.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "am/am.h"
#include "profile/error_place.h"
#include "team/barrier.h"

/* The header in front of the data. */
typedef struct address {
  uint64_t context;
  int64_t tag;
  uint64_t serial; /* counts this sender's messages to this receiver */
} address;

typedef struct message {
  struct message *next;
  address address;
  int from;
  size_t n;
  char data[];
} message;

struct wtl_tagged_queue {
  pthread_mutex_t lock;
  message *first, **end;
  message *early;                   /* messages that overtook others; a receive does not find them yet */
  uint64_t *received;               /* by PE: the serial number of the next message */
  _Atomic uint64_t arrivals, *sent; /* sent: by PE */
};

static void deliver(struct wtl_tagged_queue *p, message *l)
{
  l->next = NULL;
  *p->end = l;
  p->end = &l->next;
  p->received[l->from]++;
}

static message *take_early(struct wtl_tagged_queue *p, int from)
{
  for (message **at = &p->early, *l; (l = *at) != NULL; at = &l->next) {
    if (l->from != from || l->address.serial != p->received[from]) continue;
    *at = l->next;
    return l;
  }
  return NULL;
}

static void arrive(void *buf, size_t n, int from, wtl_am_token token)
{
  struct wtl_tagged_queue *p = wtl_self->posted;
  (void)token;
  if (n < sizeof(address)) wtl_pe_fail(WTL_EXIT_SOFTWARE, "PE %d sent a message without an address", from);
  message *l = malloc(sizeof *l + n);
  if (!l) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes from PE %d", n, from);
  *l = (message){.from = from, .n = n - sizeof l->address};
  memcpy(&l->address, buf, sizeof l->address);
  memcpy(l->data, (const char *)buf + sizeof l->address, l->n);
  pthread_mutex_lock(&p->lock);
  if (l->address.serial != p->received[from]) {
    l->next = p->early;
    p->early = l;
    l = NULL;
  }
  for (; l; l = take_early(p, from)) deliver(p, l);
  pthread_mutex_unlock(&p->lock);
  atomic_fetch_add_explicit(&p->arrivals, 1, memory_order_seq_cst);
}

void wtl_tagged_start(wtl_pe *self, wtl_site *site)
{
  if (self->posted) return;
  struct wtl_tagged_queue *p = calloc(1, sizeof *p);
  size_t n = (size_t)self->n;
  if (!p || !(p->received = calloc(n, sizeof *p->received)) || !(p->sent = calloc(n, sizeof *p->sent)))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory to set up tagged messages");
  p->end = &p->first;
  pthread_mutex_init(&p->lock, NULL);
  self->posted = p;
  wtl_am_attach(self, "messages", WTL_AM_POSTED, arrive);
  wtl_barrier(self, site); /* no PE sends before all can receive */
}

void wtl_tagged_stop(wtl_pe *self)
{
  struct wtl_tagged_queue *p = self->posted;
  if (!p) return;
  message *const left[] = {p->first, p->early};
  for (int i = 0; i < 2; i++)
    for (message *l = left[i], *next; l; l = next) next = l->next, free(l);
  free(p->received);
  free((void *)p->sent);
  pthread_mutex_destroy(&p->lock);
  self->posted = NULL;
  free(p);
}

void wtl_tagged_send(wtl_pe *self, wtl_site *site, int pe, uint64_t context, int64_t tag, const void *data, size_t n)
{
  enum { SHORT = 512 };
  char small[sizeof(address) + SHORT], *m = n <= SHORT ? small : malloc(sizeof(address) + n);
  if (!m) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes to PE %d", n, pe);
  uint64_t serial = atomic_fetch_add_explicit(&self->posted->sent[pe], 1, memory_order_relaxed);
  memcpy(m, &(address){context, tag, serial}, sizeof(address));
  if (n) memcpy(m + sizeof(address), data, n);
  wtl_am_request_send(self, site,
                      &(wtl_am_request){.pe = pe, .id = WTL_AM_POSTED, .source = m, .n = sizeof(address) + n});
  if (m != small) free(m);
}

static message **find(struct wtl_tagged_queue *p, wtl_envelope of)
{
  message **at = &p->first;
  for (; *at; at = &(*at)->next) {
    const message *l = *at;
    if (l->address.tag == of.tag && l->address.context == of.context && (of.from == WTL_FROM_ANY || l->from == of.from))
      break;
  }
  return at;
}

static message *take(struct wtl_tagged_queue *p, wtl_envelope of)
{
  pthread_mutex_lock(&p->lock);
  message **at = find(p, of), *l = *at;
  if (l && !(*at = l->next)) p->end = at;
  pthread_mutex_unlock(&p->lock);
  return l;
}

typedef struct arrival_wait {
  const struct wtl_tagged_queue *posted;
  uint64_t seen;
} arrival_wait;

static bool is_more(void *arg)
{
  const arrival_wait *l = arg;
  return atomic_load_explicit(&l->posted->arrivals, memory_order_acquire) != l->seen;
}

size_t wtl_tagged_receive(wtl_pe *self, wtl_site *site, const char *call, wtl_envelope of, void *to, size_t capacity,
                          int *sender)
{
  struct wtl_tagged_queue *p = self->posted;
  message *l;
  for (;;) {
    arrival_wait w = {p, atomic_load_explicit(&p->arrivals, memory_order_acquire)};
    if ((l = take(p, of)) != NULL) break;
    wtl_door_wait_for(&self->door, site, WTL_WATCH_ALL, is_more, &w, of.from); /* -1: from any PE */
  }
  size_t n = l->n;
  if (n > capacity)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the message of PE %d has %zu bytes, and the buffer has space for %zu",
                wtl_error_place(call), l->from, n, capacity);
  if (n) memcpy(to, l->data, n);
  if (sender) *sender = l->from;
  free(l);
  return n;
}

bool wtl_tagged_has_any(const wtl_pe *self, wtl_envelope of)
{
  struct wtl_tagged_queue *p = self->posted;
  pthread_mutex_lock(&p->lock);
  bool is = *find(p, of) != NULL;
  pthread_mutex_unlock(&p->lock);
  return is;
}

bool wtl_tagged_has(wtl_pe *self, wtl_envelope of)
{
  wtl_door_missed(&self->door);
  return wtl_tagged_has_any(self, of);
}
