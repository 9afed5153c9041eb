/* pin.h - binds a PE to a core of those that it may use. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <sched.h>
#include <stdbool.h>

/* Binds this PE to the core of its number, counted round and round. Returns whether it is bound: it is not where it may
 * use fewer cores than `least`. A PE that the launcher has bound already stays unchanged. */
static inline bool pin(int pe, int least)
{
  cpu_set_t may, one;
  if (sched_getaffinity(0, sizeof may, &may) != 0) return false;
  if (CPU_COUNT(&may) == 1) return true;
  int skip = pe % CPU_COUNT(&may);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&may) >= least; cpu++)
    if (CPU_ISSET(cpu, &may) && skip-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      return sched_setaffinity(0, sizeof one, &one) == 0;
    }
  return false;
}

#endif
