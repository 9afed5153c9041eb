/* error.h - writes the messages of all rooms: one line, "wattle: PE 3: ..." (MPI: "wattle: rank 3: ..."), on
 * standard error, in one write. */
#ifndef WTL_BASE_ERROR_H
#define WTL_BASE_ERROR_H

/* Exit codes, as in sysexits.h. */
enum {
  WTL_EXIT_USAGE = 64,
  WTL_EXIT_UNAVAILABLE = 69,
  WTL_EXIT_SOFTWARE = 70,
  WTL_EXIT_OSERR = 71,
  WTL_EXIT_CONFIG = 78
};

/* Sets the PE that messages of this process (in the threads build: of this thread) name; negative: none yet. */
void wtl_message_pe(int pe);

/* The same for a process of MPI, whose messages name its rank. A process that has a PE's number keeps it. */
void wtl_message_rank(int rank);

/* Returns the word for a process of this job: "rank" after wtl_message_rank, otherwise "PE". Async-signal-safe. */
const char *wtl_message_noun(void);

/* Writes one line to standard error. `format` needs no newline. Not async-signal-safe. */
void wtl_message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits half a second before a process ends with an error. MPICH's launcher ends a job as soon as one of its processes
 * has ended, and drops the part of standard error that it has not read by then. */
void wtl_message_linger(void);

#endif
