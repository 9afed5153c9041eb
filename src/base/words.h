/*
 * words.h - copies bytes that other threads may read meanwhile.
 *
 * A copy of 1, 2, 4 or 8 bytes that is aligned in shared memory is one atomic access. So a flag is never seen half
 * written.
 */
#ifndef WTL_BASE_WORDS_H
#define WTL_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "os/atomic.h"

static inline bool wtl_word_is_aligned(const void *shared, size_t n)
{
  return (n == 8 || n == 4 || n == 2 || n == 1) && ((uintptr_t)shared & (n - 1)) == 0;
}

/* Stores the word after all earlier stores. `n`: the size of the word at `to`. */
static inline void wtl_store_word(void *to, const void *from, size_t n)
{
#define STORE(type)                                                                                                    \
  case sizeof(type): {                                                                                                 \
    type v;                                                                                                            \
    memcpy(&v, from, sizeof v);                                                                                        \
    __atomic_store_n((type *)to, v, __ATOMIC_RELEASE);                                                                 \
    break;                                                                                                             \
  }
  switch (n) {
    STORE(uint8_t)
    STORE(uint16_t)
    STORE(uint32_t)
    STORE(uint64_t)
  }
#undef STORE
}

/* `n`: the size of the word at `from`. */
static inline void wtl_load_word(void *to, const void *from, size_t n)
{
#define LOAD(type)                                                                                                     \
  case sizeof(type): {                                                                                                 \
    type v = __atomic_load_n((const type *)from, __ATOMIC_ACQUIRE);                                                    \
    memcpy(to, &v, sizeof v);                                                                                          \
    break;                                                                                                             \
  }
  switch (n) {
    LOAD(uint8_t)
    LOAD(uint16_t)
    LOAD(uint32_t)
    LOAD(uint64_t)
  }
#undef LOAD
}

/* Stores to shared memory. `to` and `from` may be the same. */
static inline void wtl_store_bytes_only(void *shared, const void *from, size_t n)
{
  if (WTL_LIKELY(wtl_word_is_aligned(shared, n)))
    wtl_store_word(shared, from, n);
  else if (n)
    memmove(shared, from, n);
}

/* Does the same; a full barrier follows. */
static inline void wtl_store_bytes(void *shared, const void *from, size_t n)
{
  wtl_store_bytes_only(shared, from, n);
  wtl_fence();
}

/* Loads from shared memory, before any later load. `to` and `from` may be the same. */
static inline void wtl_load_bytes(void *to, const void *shared, size_t n)
{
  if (WTL_LIKELY(wtl_word_is_aligned(shared, n))) {
    wtl_load_word(to, shared, n);
  } else if (n) {
    memmove(to, shared, n);
    wtl_fence_load();
  }
}

#endif
