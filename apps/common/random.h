/* random.h - splitmix64: the same numbers from the same seed on every PE. */
#ifndef APPS_RANDOM_H
#define APPS_RANDOM_H

#include <stdint.h>

/* The k-th number of the stream of `seed`, computed directly. */
static inline uint64_t random_at(uint64_t seed, uint64_t k)
{
  uint64_t z = seed + (k + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline uint64_t next_random(uint64_t *state)
{
  uint64_t value = random_at(*state, 0);
  *state += 0x9e3779b97f4a7c15u;
  return value;
}

#endif
