/* messages.h - the study's transfer in MPI. It is a separate file, because mpi.h brings getopt's names. */
#ifndef APPS_MESSAGES_H
#define APPS_MESSAGES_H

#include <stddef.h>

/* Sends `n` messages of `size` bytes, which are consecutive in memory, from rank 0 to rank 1. Both ranks call it. */
void messages_transfer(unsigned char *buffer, size_t size, long n);

#endif
