/*
 * mst_bucket.c - the minimum spanning tree by plain OpenSHMEM. Offers are put into buckets: each PE has one for each
 * other PE, and the owner empties it when it finds it filled. Where a PE finds no bucket to empty and none to fill,
 * it yields the core. Look-ups are gets, all at once.
 */
#include <sched.h>
#include <shmem.h>
#include <string.h>

#include "../common/job.h"
#include "mst.h"

enum { BUCKET_MOST = 1024 }; /* offers */

const char mst_version[] = "bucket";

typedef struct bucket {
  uint64_t n, last; /* last: 1 if no other bucket follows in this exchange */
  offer offers[BUCKET_MOST];
} bucket;

static struct {
  bucket *buckets; /* symmetric: one for each PE, which fills it */
  /* symmetric, by PE: how often it filled its bucket here; how often it emptied this PE's bucket there */
  uint64_t *filled, *emptied;
  uint64_t *taken, *sent; /* by PE: how often this PE emptied; how often this PE filled */
  bucket outgoing;
} self;

void version_start(part *p)
{
  size_t n = (size_t)p->n_pes;
  self.buckets = job_shared(n, sizeof *self.buckets);
  self.filled = job_shared(n, sizeof *self.filled);
  self.emptied = job_shared(n, sizeof *self.emptied);
  self.taken = job_calloc(n, sizeof *self.taken);
  self.sent = job_calloc(n, sizeof *self.sent);
}

void version_end(void)
{
  shmem_free(self.buckets);
  shmem_free(self.filled);
  shmem_free(self.emptied);
  free(self.taken);
  free(self.sent);
}

/* Fills this PE's bucket on `pe` with the next offers, if it is empty. Returns whether it was. */
static bool fill(const part *p, int pe, const offer *offers, size_t *next, size_t end)
{
  if (!shmem_uint64_test(&self.emptied[pe], SHMEM_CMP_EQ, self.sent[pe])) return false;
  size_t n = end - *next < BUCKET_MOST ? end - *next : BUCKET_MOST;
  self.outgoing.n = n;
  self.outgoing.last = *next + n == end;
  memcpy(self.outgoing.offers, offers + *next, n * sizeof *offers);
  shmem_putmem(&self.buckets[p->me], &self.outgoing, offsetof(bucket, offers) + n * sizeof *offers, pe);
  shmem_fence();
  shmem_uint64_p(&self.filled[p->me], ++self.sent[pe], pe);
  *next += n;
  return true;
}

/* Empties the bucket of `pe`, if it is filled, and returns whether it was. *last: no other bucket follows. */
static bool empty(part *p, int pe, bool *last)
{
  if (!shmem_uint64_test(&self.filled[pe], SHMEM_CMP_GT, self.taken[pe])) return false;
  *last = self.buckets[pe].last != 0;
  take_offers(p, self.buckets[pe].offers, self.buckets[pe].n);
  shmem_uint64_p(&self.emptied[p->me], ++self.taken[pe], pe);
  return true;
}

void send_offers(part *p, const offer *offers, const size_t *first)
{
  size_t n = (size_t)p->n_pes, *next = job_calloc(n, sizeof *next);
  bool *done = job_calloc(n, sizeof *done), *over = job_calloc(n, sizeof *over);
  memcpy(next, first, n * sizeof *next);
  take_offers(p, offers + first[p->me], first[p->me + 1] - first[p->me]);
  for (int left = 2 * (p->n_pes - 1); left > 0;) {
    bool found = false;
    for (int i = 1; i < p->n_pes; i++) {
      int pe = (p->me + i) % p->n_pes;
      if (!done[pe] && fill(p, pe, offers, &next[pe], first[pe + 1])) {
        found = true;
        done[pe] = self.outgoing.last;
        left -= done[pe];
      }
      bool last = false;
      if (!over[pe] && empty(p, pe, &last)) {
        found = true;
        over[pe] = last;
        left -= last;
      }
    }
    if (!found) sched_yield();
  }
  free(next);
  free(done);
  free(over);
}

void look_up(part *p, word which, const uint32_t *vertex, const size_t *first, uint64_t *value)
{
  shmem_barrier_all(); /* every owner has its words */
  answer(p, which, vertex + first[p->me], first[p->me + 1] - first[p->me], value + first[p->me]);
  for (int i = 1; i < p->n_pes; i++) {
    int pe = (p->me + i) % p->n_pes;
    for (size_t k = first[pe]; k < first[pe + 1]; k++)
      shmem_uint64_get_nbi(&value[k], &p->words[which][vertex[k] % p->share], 1, pe);
  }
  shmem_barrier_all(); /* completes the gets, too */
}
