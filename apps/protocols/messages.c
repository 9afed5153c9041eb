/* messages.c - transfers the messages, see messages.h. */
#include "messages.h"

#include <mpi.h>

#include "../common/job.h"

enum { TAG = 1 };

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
