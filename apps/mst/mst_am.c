/*
 * mst_am.c - the minimum spanning tree by active messages. An offer is a request whose handler processes it at the
 * owner. A look-up is a request that the owner's handler answers in the reply. There are no buckets to scan.
 *
 * Handlers of a PE run one at a time, and its own thread accesses their data only between barriers, so no lock is
 * needed.
 */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

#include "mst.h"

enum { ON_OFFERS = 1, ON_QUESTIONS, ON_ANSWERS };
enum { OFFERS_MOST = 256, QUESTIONS_MOST = 512 }; /* in a message: 4 KiB */

const char mst_version[] = "am";

typedef struct questions {
  uint32_t which, n;
  uint64_t first; /* index of the answers among the asker's values */
  uint32_t vertex[QUESTIONS_MOST];
} questions;

typedef struct answers {
  uint64_t first, n;
  uint64_t value[QUESTIONS_MOST];
} answers;

static struct {
  part *p;
  uint64_t *value; /* destination of answers during look_up */
} self;

static void on_offers(void *buf, size_t nbytes, int from, shmemx_am_token_t token)
{
  offer offers[OFFERS_MOST];
  memcpy(offers, buf, nbytes); /* buf may not be aligned for an offer */
  take_offers(self.p, offers, nbytes / sizeof *offers);
}

static void on_questions(void *buf, size_t nbytes, int from, shmemx_am_token_t token)
{
  questions q;
  answers a;
  memcpy(&q, buf, nbytes);
  a.first = q.first;
  a.n = q.n;
  answer(self.p, (word)q.which, q.vertex, q.n, a.value);
  shmemx_am_reply(ON_ANSWERS, &a, offsetof(answers, value) + a.n * sizeof *a.value, token);
}

static void on_answers(void *buf, size_t nbytes, int from, shmemx_am_token_t token)
{
  answers a;
  memcpy(&a, buf, nbytes);
  memcpy(self.value + a.first, a.value, a.n * sizeof *a.value);
}

void version_start(part *p)
{
  self.p = p;
  shmemx_am_attach(ON_OFFERS, on_offers);
  shmemx_am_attach(ON_QUESTIONS, on_questions);
  shmemx_am_attach(ON_ANSWERS, on_answers);
  shmem_barrier_all(); /* self.p is set before the first request */
}

void version_end(void)
{
  shmemx_am_detach(ON_OFFERS);
  shmemx_am_detach(ON_QUESTIONS);
  shmemx_am_detach(ON_ANSWERS);
}

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

void send_offers(part *p, const offer *offers, const size_t *first)
{
  for (int i = 0; i < p->n_pes; i++) {
    int pe = (p->me + i) % p->n_pes;
    for (size_t k = first[pe], n; k < first[pe + 1]; k += n) {
      n = least(first[pe + 1] - k, OFFERS_MOST);
      shmemx_am_request(pe, ON_OFFERS, (void *)(offers + k), n * sizeof *offers);
    }
  }
  shmemx_am_quiet();   /* this PE's offers are processed */
  shmem_barrier_all(); /* and those of all PEs */
}

static void ask(int pe, word which, const uint32_t *vertex, size_t first, size_t n)
{
  questions q = {.which = which, .n = (uint32_t)n, .first = first};
  memcpy(q.vertex, vertex + first, n * sizeof *vertex);
  shmemx_am_request(pe, ON_QUESTIONS, &q, offsetof(questions, vertex) + n * sizeof *vertex);
}

void look_up(part *p, word which, const uint32_t *vertex, const size_t *first, uint64_t *value)
{
  self.value = value;
  shmem_barrier_all(); /* every owner has its words */
  answer(p, which, vertex + first[p->me], first[p->me + 1] - first[p->me], value + first[p->me]);
  for (int i = 1; i < p->n_pes; i++) {
    int pe = (p->me + i) % p->n_pes;
    for (size_t k = first[pe], n; k < first[pe + 1]; k += n) {
      n = least(first[pe + 1] - k, QUESTIONS_MOST);
      ask(pe, which, vertex, k, n);
    }
  }
  shmemx_am_quiet();   /* this PE's answers have arrived */
  shmem_barrier_all(); /* and no PE asks any more */
}
