/* messages.c - transfers the messages, see messages.h. */
#include "messages.h"

#include <mpi.h>

#include "../../bench/clocks.h"
#include "../common/job.h"

enum { TAG = 1, TAG_GO };
static const double patience = 0.2; /* seconds for a message to leave that waits for no receiver */

void messages_transfer(unsigned char *buffer, size_t size, long n)
{
  for (long i = 0; i < n; i++) {
    unsigned char *at = buffer + (size_t)i * size;
    if (job_me() == 0)
      MPI_Send(at, (int)size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    else
      MPI_Recv(at, (int)size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

bool messages_leave_early(unsigned char *buffer, size_t size)
{
  unsigned char go = 0;
  int left = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (job_me() == 0) {
    MPI_Request request;
    double begin = now();
    MPI_Isend(buffer, (int)size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    while (!left && now() - begin < patience) MPI_Test(&request, &left, MPI_STATUS_IGNORE);
    MPI_Send(&go, 1, MPI_BYTE, 1, TAG_GO, MPI_COMM_WORLD);
    if (!left) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&go, 1, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, (int)size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return left;
}
