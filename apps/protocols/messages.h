/* messages.h - the study's transfer in MPI, and a test of the MPI's protocol. They are separate from the program,
 * because mpi.h brings getopt's names. */
#ifndef APPS_MESSAGES_H
#define APPS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Sends `n` messages of `size` bytes, which are consecutive in memory, from rank 0 to rank 1. Both ranks call it. */
void messages_transfer(unsigned char *buffer, size_t size, long n);

/* Whether a message of this size leaves rank 0 before rank 1 has called a receive for it, so that its protocol is
 * eager. Valid on rank 0. Both ranks call it; rank 1's `buffer` receives the message. */
bool messages_leave_early(unsigned char *buffer, size_t size);

#endif
