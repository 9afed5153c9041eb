/*
 * lsms_mpi.c - the two-stage pattern by MPI: two-sided messages. A put is a send, and a quiet waits until the receiver
 * has begun to receive: a blocking pattern uses MPI_Ssend for each parameter, the others MPI_Issend and one
 * MPI_Waitall. MMPQAMM packs the parameters into one message, which the receiver unpacks.
 */
#include <mpi.h>
#include <string.h>

#include "../common/job.h"
#include "lsms.h"

enum { TAG_PARAMETERS = 1, TAG_RESULT, TAG_SUM };

const char lsms_version[] = "mpi";

static struct {
  char *inbox, *packed;
  void *outgoing;
  MPI_Request *requests; /* one a parameter */
} self;

void *version_start(const lsms_job *j)
{
  size_t room = j->n * j->stride;
  self.inbox = job_calloc(1, room);
  self.packed = job_calloc(1, room);
  self.outgoing = job_calloc(1, room);
  self.requests = job_calloc(j->n, sizeof *self.requests);
  return self.outgoing;
}

void *version_inbox(void)
{
  return self.inbox;
}

void version_end(void)
{
  free(self.inbox);
  free(self.packed);
  free(self.outgoing);
  free(self.requests);
  memset(&self, 0, sizeof self);
}

static void send_packed(const lsms_job *j, int to, void *parameters)
{
  lsms_pack(j, self.packed, parameters);
  MPI_Ssend(self.packed, (int)(j->n * j->bytes), MPI_BYTE, to, TAG_PARAMETERS, MPI_COMM_WORLD);
}

void version_send(const lsms_job *j, int to, void *parameters)
{
  if (j->pattern == MMPQAMM) {
    send_packed(j, to, parameters);
    return;
  }
  for (size_t i = 0; i < j->n; i++) {
    void *source = lsms_source(j, parameters, self.packed, i);
    if (lsms_blocks(j->pattern))
      MPI_Ssend(source, (int)j->bytes, MPI_BYTE, to, TAG_PARAMETERS, MPI_COMM_WORLD);
    else
      MPI_Issend(source, (int)j->bytes, MPI_BYTE, to, TAG_PARAMETERS, MPI_COMM_WORLD, &self.requests[i]);
  }
  if (!lsms_blocks(j->pattern)) MPI_Waitall((int)j->n, self.requests, MPI_STATUSES_IGNORE);
}

static void receive_packed(const lsms_job *j, int from)
{
  MPI_Recv(self.packed, (int)(j->n * j->bytes), MPI_BYTE, from, TAG_PARAMETERS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  lsms_unpack(j, self.inbox, self.packed);
}

void version_receive(const lsms_job *j, int from)
{
  if (j->pattern == MMPQAMM) {
    receive_packed(j, from);
    return;
  }
  for (size_t i = 0; i < j->n; i++) {
    void *into = lsms_parameter(j, self.inbox, i);
    if (lsms_blocks(j->pattern))
      MPI_Recv(into, (int)j->bytes, MPI_BYTE, from, TAG_PARAMETERS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Irecv(into, (int)j->bytes, MPI_BYTE, from, TAG_PARAMETERS, MPI_COMM_WORLD, &self.requests[i]);
  }
  if (!lsms_blocks(j->pattern)) MPI_Waitall((int)j->n, self.requests, MPI_STATUSES_IGNORE);
}

static void send_word(uint64_t word, int to, int tag)
{
  MPI_Send(&word, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
}

static uint64_t received_word(int from, int tag)
{
  uint64_t word;
  MPI_Recv(&word, 1, MPI_UINT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return word;
}

void version_report(const lsms_job *j, uint64_t result)
{
  send_word(result, j->master, TAG_RESULT);
}

uint64_t version_collect(const lsms_job *j)
{
  uint64_t sum = 0;
  for (int pe = j->master + 1; pe < j->end; pe++) sum += received_word(pe, TAG_RESULT);
  return sum;
}

void version_conclude(const lsms_job *j, uint64_t sum)
{
  send_word(sum, 0, TAG_SUM);
}

uint64_t version_total(const lsms_job *j)
{
  uint64_t sum = 0;
  for (int group = 0; group < j->groups; group++) sum += received_word(lsms_first(j, group), TAG_SUM);
  return sum;
}
