/*
 * atomic.h - defines the memory fences and the pause of a spin loop.
 *
 * ThreadSanitizer does not model stand-alone fences. Its build uses an atomic read-modify-write instead, which gives
 * the same order. WTL_MUTANT_NO_FENCE removes the full fence: the litmus tests (tests/wait) must then fail.
 */
#ifndef WTL_OS_ATOMIC_H
#define WTL_OS_ATOMIC_H

#include <stdatomic.h>

static inline void wtl_fence(void)
{
#if defined(WTL_MUTANT_NO_FENCE)
  atomic_signal_fence(memory_order_seq_cst);
#elif defined(__SANITIZE_THREAD__)
  extern _Atomic int wtl_fence_word;
  atomic_fetch_add_explicit(&wtl_fence_word, 0, memory_order_seq_cst);
#elif defined(__x86_64__)
  /* A locked add to the stack orders stores before later loads as MFENCE does, at about half the cost. */
  __asm__ __volatile__("lock; addl $0, -8(%%rsp)" ::: "memory", "cc");
#else
  atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Makes earlier stores visible before later ones. */
static inline void wtl_fence_store(void)
{
#if defined(__SANITIZE_THREAD__)
  extern _Atomic int wtl_fence_word;
  atomic_fetch_add_explicit(&wtl_fence_word, 0, memory_order_acq_rel);
#else
  atomic_thread_fence(memory_order_release);
#endif
}

/* Orders earlier loads before later ones. */
static inline void wtl_fence_load(void)
{
#if defined(__SANITIZE_THREAD__)
  wtl_fence_store(); /* its read-modify-write orders loads, too */
#else
  atomic_thread_fence(memory_order_acquire);
#endif
}

/* Hints to the core that this is a spin loop. */
static inline void wtl_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#define WTL_CACHE_LINE 64
#define WTL_LIKELY(x) __builtin_expect(!!(x), 1)
#define WTL_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
