/* am_tests.h - what the tests of active messages share: state of each PE that handlers find, in the threads build
 * too. */
#ifndef WTL_TESTS_AM_H
#define WTL_TESTS_AM_H

#include <shmem.h>
#include <shmemx.h>

#include "pes.h"

enum { MOST_PES = 64 };

/* The bytes of message `serial` from one PE to another: what arrives is compared with it. */
static inline unsigned char byte_of(uint64_t serial, int from, int to, size_t i)
{
  return (unsigned char)(serial * 31 + (uint64_t)from * 7 + (uint64_t)to * 3 + i * 13 + (i >> 8));
}

static inline void fill(unsigned char *at, size_t n, uint64_t serial, int from, int to)
{
  for (size_t i = 0; i < n; i++) at[i] = byte_of(serial, from, to, i);
}

static inline bool is_filled(const unsigned char *at, size_t n, uint64_t serial, int from, int to)
{
  for (size_t i = 0; i < n; i++)
    if (at[i] != byte_of(serial, from, to, i)) return false;
  return true;
}

#endif
