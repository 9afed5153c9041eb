/*
 * futex.h - sleeping on a word until somebody wakes those that do.
 */
#ifndef WTL_BASE_FUTEX_H
#define WTL_BASE_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef WTL_SIM
#include "sim/os.h"
#include "sim/simulator.h"
#else
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

/* Whose threads may sleep on the word: this process's, or others' too. */
enum wtl_futex_reach { WTL_FUTEX_OURS, WTL_FUTEX_SHARED };

/* Sleeps while *word == seen, at most `seconds`. 0: woken; EAGAIN: *word was another before; ETIMEDOUT; EINTR. */
static inline int wtl_futex_wait(_Atomic uint32_t *word, uint32_t seen, double seconds, enum wtl_futex_reach reach)
{
#ifdef WTL_SIM
  wtl_os_catch_up();
  if (*word != seen) return EAGAIN; /* nobody else runs until the block */
  if (!wtl_sim_block(word, seconds)) return ETIMEDOUT;
  if (wtl_sim_resting() == WTL_SIM_SLEEPS) wtl_sim_wake_up(); /* who looks on needs no waking */
  return 0;
#else
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  return syscall(SYS_futex, word, reach == WTL_FUTEX_OURS ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT, seen, &t, NULL, 0) == 0
             ? 0
             : errno;
#endif
}

/* Wakes up to `n` of them. */
static inline void wtl_futex_wake(_Atomic uint32_t *word, int n, enum wtl_futex_reach reach)
{
#ifdef WTL_SIM
  if (!wtl_sim_is_awaited(word)) return;
  wtl_os_catch_up(); /* it is now that they are woken */
  wtl_sim_wake(word, n);
#else
  syscall(SYS_futex, word, reach == WTL_FUTEX_OURS ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, n, NULL, NULL, 0);
#endif
}

#endif
