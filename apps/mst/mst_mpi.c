/*
 * mst_mpi.c - the minimum spanning tree by MPI: two-sided messages with tags. The PEs first exchange the number of
 * items for each; then all items are sent and received.
 */
#include <mpi.h>
#include <string.h>

#include "../common/job.h"
#include "mst.h"

enum { TAG_OFFERS = 1, TAG_QUESTIONS, TAG_ANSWERS };

const char mst_version[] = "mpi";

static struct {
  int n;
  MPI_Request *requests; /* two a PE */
  int *out, *in;         /* numbers of items for, and from, each PE */
  size_t *in_first;      /* where the items from each PE begin; one more than PEs */
  void *arrived, *replies;
  size_t arrived_room, replies_room;
} self;

void version_start(part *p)
{
  size_t n = (size_t)p->n_pes;
  self.n = p->n_pes;
  self.requests = job_calloc(2 * n, sizeof *self.requests);
  self.out = job_calloc(n, sizeof *self.out);
  self.in = job_calloc(n, sizeof *self.in);
  self.in_first = job_calloc(n + 1, sizeof *self.in_first);
}

void version_end(void)
{
  free(self.requests);
  free(self.out);
  free(self.in);
  free(self.in_first);
  free(self.arrived);
  free(self.replies);
  memset(&self, 0, sizeof self);
}

static void make_room(void **place, size_t *room, size_t bytes)
{
  if (*place && bytes <= *room) return;
  free(*place);
  *place = job_calloc(1, bytes);
  *room = bytes;
}

/* Sends to each PE the items that `first` bounds and receives those that self.in_first bounds; this PE's own part is
 * copied. */
static void swap(int me, const char *out, const size_t *first, char *in, const size_t *in_first, size_t size, int tag)
{
  int n = 0;
  for (int pe = 0; pe < self.n; pe++) {
    size_t count = in_first[pe + 1] - in_first[pe];
    if (pe != me && count)
      MPI_Irecv(in + in_first[pe] * size, (int)(count * size), MPI_BYTE, pe, tag, MPI_COMM_WORLD, &self.requests[n++]);
  }
  for (int pe = 0; pe < self.n; pe++) {
    size_t count = first[pe + 1] - first[pe];
    if (pe != me && count)
      MPI_Isend(out + first[pe] * size, (int)(count * size), MPI_BYTE, pe, tag, MPI_COMM_WORLD, &self.requests[n++]);
  }
  memcpy(in + in_first[me] * size, out + first[me] * size, (first[me + 1] - first[me]) * size);
  MPI_Waitall(n, self.requests, MPI_STATUSES_IGNORE);
}

/* Exchanges the number of items for each PE. */
static void agree(const size_t *first)
{
  for (int pe = 0; pe < self.n; pe++) self.out[pe] = (int)(first[pe + 1] - first[pe]);
  MPI_Alltoall(self.out, 1, MPI_INT, self.in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int pe = 0; pe < self.n; pe++) self.in_first[pe + 1] = self.in_first[pe] + (size_t)self.in[pe];
}

void send_offers(part *p, const offer *offers, const size_t *first)
{
  agree(first);
  size_t n = self.in_first[self.n];
  make_room(&self.arrived, &self.arrived_room, n * sizeof(offer));
  swap(p->me, (const char *)offers, first, self.arrived, self.in_first, sizeof(offer), TAG_OFFERS);
  take_offers(p, self.arrived, n);
}

void look_up(part *p, word which, const uint32_t *vertex, const size_t *first, uint64_t *value)
{
  agree(first);
  size_t n = self.in_first[self.n];
  make_room(&self.arrived, &self.arrived_room, n * sizeof *vertex);
  make_room(&self.replies, &self.replies_room, n * sizeof *value);
  swap(p->me, (const char *)vertex, first, self.arrived, self.in_first, sizeof *vertex, TAG_QUESTIONS);
  answer(p, which, self.arrived, n, self.replies);
  swap(p->me, self.replies, self.in_first, (char *)value, first, sizeof *value, TAG_ANSWERS);
}
