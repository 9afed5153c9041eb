/* am_tests.h - what the tests of active messages share: state of each PE that handlers find, in the threads build
 * too. */
#ifndef WTL_TESTS_AM_H
#define WTL_TESTS_AM_H

#include <shmem.h>
#include <shmemx.h>

#include "pes.h"

enum { MOST_PES = 64 };

/* The bytes of message `serial` from one PE to another, eight at a time. Arrived messages are compared with them. */
static inline uint64_t word_of(uint64_t serial, int from, int to, size_t k)
{
  return (serial * 31 + (uint64_t)from * 7 + (uint64_t)to * 3 + 1) * 0x9e3779b97f4a7c15u + k * 0xd1342543de82ef95u;
}

static inline void fill(unsigned char *at, size_t n, uint64_t serial, int from, int to)
{
  for (size_t k = 0; k < n / 8; k++) {
    uint64_t word = word_of(serial, from, to, k);
    memcpy(at + 8 * k, &word, 8);
  }
  uint64_t last = word_of(serial, from, to, n / 8);
  if (n % 8) memcpy(at + n / 8 * 8, &last, n % 8);
}

static inline bool is_filled(const unsigned char *at, size_t n, uint64_t serial, int from, int to)
{
  uint64_t wrong = 0, found, last = word_of(serial, from, to, n / 8);
  for (size_t k = 0; k < n / 8; k++) {
    memcpy(&found, at + 8 * k, 8);
    wrong |= found ^ word_of(serial, from, to, k);
  }
  return wrong == 0 && (n % 8 == 0 || memcmp(at + n / 8 * 8, &last, n % 8) == 0);
}

#endif
