/* align.h - rounds to multiples of a power of two, and of the page. */
#ifndef WTL_BASE_ALIGN_H
#define WTL_BASE_ALIGN_H

#include <stdint.h>
#include <unistd.h>

/* `to`: a power of two. */
static inline uintptr_t wtl_round_down(uintptr_t n, uintptr_t to)
{
  return n & ~(to - 1);
}

static inline uintptr_t wtl_round_up(uintptr_t n, uintptr_t to)
{
  return wtl_round_down(n + to - 1, to);
}

static inline uintptr_t wtl_page_down(uintptr_t n)
{
  return wtl_round_down(n, (uintptr_t)sysconf(_SC_PAGESIZE));
}

static inline uintptr_t wtl_page_up(uintptr_t n)
{
  return wtl_round_up(n, (uintptr_t)sysconf(_SC_PAGESIZE));
}

#endif
