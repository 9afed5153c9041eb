/*
 * error.h - how every room speaks to the user: one line, "wattle: PE 3: ...", on standard error, in one write.
 */
#ifndef WTL_BASE_ERROR_H
#define WTL_BASE_ERROR_H

/* Exit codes, those of sysexits.h. */
enum {
  WTL_EXIT_USAGE = 64,
  WTL_EXIT_UNAVAILABLE = 69,
  WTL_EXIT_SOFTWARE = 70,
  WTL_EXIT_OSERR = 71,
  WTL_EXIT_CONFIG = 78
};

/* The PE whose name messages of this process (in the threads build: this thread) carry; negative: none yet. */
void wtl_message_pe(int pe);

/* Says one line on standard error. `format` needs no newline. Async-signal-safe it is not. */
void wtl_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Before a process ends with an error: gives whoever reads its standard error half a second to do so. MPICH's launcher
 * ends a job as soon as one of its processes is gone, and what it has not read by then nobody sees.
 */
void wtl_hear_out(void);

#endif
