/* messages.h - the study's transfer, in MPI. Its own file, for mpi.h brings getopt's names. */
#ifndef APPS_MESSAGES_H
#define APPS_MESSAGES_H

#include <stddef.h>

/* `n` messages of `size` bytes, one after the other in memory, from rank 0 to rank 1: both call it. */
void messages_transfer(unsigned char *buffer, size_t size, long n);

#endif
