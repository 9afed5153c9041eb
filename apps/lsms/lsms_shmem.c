/*
 * lsms_shmem.c - the two-stage pattern by OpenSHMEM: puts into the receiver's inbox, then an atomic flag. The receiver
 * waits for the flag, because a put alone does not say that it has arrived.
 */
#include <shmem.h>
#include <string.h>

#include "../common/job.h"
#include "lsms.h"

const char lsms_version[] = "shmem";

static struct {
  char *inbox, *packed, *arrived; /* symmetric; packed and arrived: parameters without gaps, for aggregation */
  void *outgoing;                 /* user buffers: symmetric where the pattern sends from them directly */
  bool pinned;
  uint64_t *results; /* symmetric: of each PE of the group, or of each group on the root */
} self;

static uint64_t flag, concluded;  /* symmetric: messages that have arrived; groups that have concluded */
static uint64_t received, totals; /* how often this PE has received; how often the root has waited for all groups */

void *version_start(const lsms_job *j)
{
  size_t room = j->n * j->stride;
  self.pinned = !lsms_copies(j->pattern) && j->pattern != MMPQAMM;
  self.inbox = job_shared(1, room);
  self.packed = job_shared(1, room);
  self.arrived = job_shared(1, j->n * j->bytes);
  self.results = job_shared((size_t)j->n_pes, sizeof *self.results);
  self.outgoing = self.pinned ? job_shared(1, room) : job_calloc(1, room);
  return self.outgoing;
}

void *version_inbox(void)
{
  return self.inbox;
}

void version_end(void)
{
  shmem_free(self.inbox);
  shmem_free(self.packed);
  shmem_free(self.arrived);
  shmem_free(self.results);
  if (self.pinned)
    shmem_free(self.outgoing);
  else
    free(self.outgoing);
  memset(&self, 0, sizeof self);
}

static void send_packed(const lsms_job *j, int to, void *parameters)
{
  lsms_pack(j, self.packed, parameters);
  shmem_putmem(self.arrived, self.packed, j->n * j->bytes, to);
  shmem_quiet();
}

void version_send(const lsms_job *j, int to, void *parameters)
{
  for (size_t i = 0; j->pattern != MMPQAMM && i < j->n; i++) {
    void *source = lsms_source(j, parameters, self.packed, i), *target = lsms_parameter(j, self.inbox, i);
    if (lsms_blocks(j->pattern)) {
      shmem_putmem(target, source, j->bytes, to);
      shmem_quiet();
    } else {
      shmem_putmem_nbi(target, source, j->bytes, to);
    }
  }
  if (j->pattern == MMPQAMM)
    send_packed(j, to, parameters);
  else if (!lsms_blocks(j->pattern))
    shmem_quiet();
  shmem_uint64_atomic_inc(&flag, to);
}

void version_receive(const lsms_job *j, int from)
{
  shmem_uint64_wait_until(&flag, SHMEM_CMP_GE, ++received);
  if (j->pattern == MMPQAMM) lsms_unpack(j, self.inbox, self.arrived);
}

void version_report(const lsms_job *j, uint64_t result)
{
  shmem_uint64_p(&self.results[j->me - j->master], result, j->master);
}

uint64_t version_collect(const lsms_job *j)
{
  uint64_t sum = 0;
  for (int pe = j->master + 1; pe < j->end; pe++) sum += self.results[pe - j->master];
  return sum;
}

void version_conclude(const lsms_job *j, uint64_t sum)
{
  shmem_uint64_p(&self.results[j->group], sum, 0);
  shmem_fence();
  shmem_uint64_atomic_inc(&concluded, 0);
}

uint64_t version_total(const lsms_job *j)
{
  uint64_t sum = 0;
  shmem_uint64_wait_until(&concluded, SHMEM_CMP_GE, ++totals * (uint64_t)j->groups);
  for (int group = 0; group < j->groups; group++) sum += self.results[group];
  return sum;
}
