/*
 * sys.h - the operating system as a meter uses it: a clock, a sleep, small files.
 *
 * Tests replace it. Their sensors wrap and fail without waiting, and do not depend on the user that runs the test.
 */
#ifndef WTL_POWER_SYS_H
#define WTL_POWER_SYS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_sys {
  void *arg;                /* passed to the functions */
  double (*now)(void *arg); /* s; continues while the machine is suspended, because counters may be reset then */
  void (*sleep)(void *arg, double seconds); /* called only while a meter opens */
  /* Reads at most size-1 bytes of a file and adds NUL. Returns the number of bytes or a negative errno. */
  int (*read_file)(void *arg, const char *path, char *buf, size_t size);
  /*
   * Opens an event of perf on a CPU. Returns a descriptor whose 8 bytes are its count, or a negative errno. NULL: the
   * kernel's function is used.
   */
  int (*perf_open)(void *arg, unsigned type, unsigned long long config, int cpu);
  bool background; /* may a meter start a thread? */
} wtl_sys;

/*
 * Returns the text of an error of a reading: an errno, or a finding of a meter. EBADMSG: not a number. EOVERFLOW: above
 * the range that the sensor states. ERANGE: beyond the watts that its domain can draw. ETIME: it has stopped.
 */
const char *wtl_sys_error_text(int error);

/* The real machine. */
extern const wtl_sys wtl_sys_real;

#endif
