/*
 * sys.h - what a meter needs of the operating system: a clock, a sleep, a small file. Tests put their own in its place,
 * so that made-up sensors wrap and fail without waiting and without depending on who runs the test.
 */
#ifndef WTL_POWER_SYS_H
#define WTL_POWER_SYS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_sys {
  void *arg;                /* passed to the functions */
  double (*now)(void *arg); /* s; goes on while the machine is suspended, since counters may then start anew */
  void (*sleep)(void *arg, double seconds); /* called only while a meter opens */
  /* Reads a file of at most size-1 bytes and ends it with NUL. Returns the bytes read or a negative errno. */
  int (*read_file)(void *arg, const char *path, char *buf, size_t size);
  /* Opens an event of perf on a CPU: a descriptor whose 8 bytes are its count, or a negative errno. NULL: the
   * kernel's. */
  int (*perf_open)(void *arg, unsigned type, unsigned long long config, int cpu);
  bool background; /* may a meter start a thread of its own */
} wtl_sys;

/* The machine itself. */
extern const wtl_sys wtl_sys_real;

#endif
