/*
 * no_core.h - measures the time in which a thread was ready to run and had no core, in waits and outside them.
 *
 * DESIGN. Linux counts this time for each thread: the second number of its file `schedstat`, in ns. The time by state
 * of a process is wall-clock time of the thread that initialized the library, so that thread is measured. Its file
 * stays open, and a reading is one system call of 0.25 to 1 us. The wait door reads it when a wait turns out to be
 * long, and again when that wait ends. So the time without a core before the wait is known apart from that in it. A
 * wait that ends earlier is not read: the core was not away for longer than that. Where PEs share a core such waits
 * yield it all the time, and a reading would take as long as a yield. So the door adds the time of their yields.
 *
 * A kernel without these figures (CONFIG_SCHED_INFO) shows zeroes. Then the time that the thread did not run is taken
 * instead, from its CPU time. Outside waits it includes the time in which the kernel blocked the thread, such as for
 * a file.
 */
#ifndef WTL_WAIT_NO_CORE_H
#define WTL_WAIT_NO_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The origin of the figures. In simulation each PE has a core of its own. */
enum wtl_no_core_source { WTL_NO_CORE_UNKNOWN, WTL_NO_CORE_SIMULATED, WTL_NO_CORE_SCHEDSTAT, WTL_NO_CORE_CPU_TIME };

/* One measured thread; all zeroes: none. Times are ns, except long_ticks. */
typedef struct wtl_no_core {
  enum wtl_no_core_source source;
  int file; /* its `schedstat`, open; the program may have closed it */
  dev_t device;
  ino_t inode;         /* of the file, by which it is known */
  clockid_t cpu_clock; /* CPU time of the thread */
  const void *thread;  /* memory of the thread */
  double ns_per_tick;
  uint64_t long_ticks; /* a wait of this length is read at its end */
  uint64_t start, last, in_waits;
  uint64_t yields; /* in waits that were not read, since the last reading */
} wtl_no_core;

/* Starts to measure the calling thread. `schedstat`: the path of its file; NULL: that of the kernel. `yields`: PEs
 * yield a core to each other, so a wait is read at its end only from the length of a time slice on. */
void wtl_no_core_start(wtl_no_core *n, const char *schedstat, double ns_per_tick, bool yields);

/* Closes the file. The figures stay as they were last read. */
void wtl_no_core_stop(wtl_no_core *n);

/* Notes that the calling thread is in a wait that began `ticks` ago, or at the end of it. Only the measured thread is
 * noted. Returns true if the time without a core was read. */
bool wtl_no_core_note_wait(wtl_no_core *n, uint64_t ticks);

/* Notes that a wait which is not read has yielded the core for `ticks`. */
void wtl_no_core_note_yields(wtl_no_core *n, uint64_t ticks);

/* Returns the seconds without a core since the start, outside waits; may be called by any thread. 0 if unknown. */
double wtl_no_core_outside_waits(const wtl_no_core *n);

/* Returns the seconds without a core in waits. */
double wtl_no_core_in_waits(const wtl_no_core *n);

/* Returns the time without a core outside waits as last read, in ns. */
uint64_t wtl_no_core_last_outside_waits(const wtl_no_core *n);

/* Parses the contents of a file `schedstat`: the time on a core and the time without one, in ns. False if it has other
 * contents, or zeroes alone. */
bool wtl_no_core_parse(const char *text, uint64_t *ran, uint64_t *waited);

#endif
