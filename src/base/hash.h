/*
 * hash.h - computes FNV-1a of 64 bits, which is the same in all processes for the same bytes.
 *
 * It is no protection against a user who looks for two inputs with the same hash.
 */
#ifndef WTL_BASE_HASH_H
#define WTL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define WTL_HASH_NONE UINT64_C(0xcbf29ce484222325) /* of no bytes */

/* The hash of the bytes of `hash` followed by these. */
static inline uint64_t wtl_hash(uint64_t hash, const void *bytes, size_t n)
{
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++) hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
