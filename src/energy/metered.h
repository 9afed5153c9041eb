/*
 * metered.h - divides the joules of a node among programs, other programs and the idle node, as one line of JSON.
 *
 * DESIGN. `wattle energy` and `import wattle` show the same figures, because both take them from here: the first by the
 * program wattle-meter, the second in the process itself. The caller counts the CPU time of the programs, as only it
 * knows which processes belong to them. An interval ends with a line of text, which has the CPU time of each metered
 * process or program in it: SECONDS, SECONDS~SWITCHES, SECONDS@PID or SECONDS~SWITCHES@PID, with spaces between them.
 * SWITCHES are its voluntary context switches. With a PID it also gets the joules of the accelerators that this process
 * uses. None of these names is public: the Python package and the library are of one version.
 *
 * Threads: one at a time for each object. After a fork the child must not use it.
 */
#ifndef WTL_ENERGY_METERED_H
#define WTL_ENERGY_METERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct wtl_metered wtl_metered;

/*
 * Opens the meter that the settings name, and begins the first interval. Returns NULL with the reason in `error`, of
 * `size` bytes, for a wrong setting or without memory. The caller owns the object until wtl_metered_close.
 */
wtl_metered *wtl_metered_open(char *error, size_t size);

/* Frees the object; NULL is allowed. */
void wtl_metered_close(wtl_metered *m);

/* The name of the meter, which lives as long as the object. */
const char *wtl_metered_name(const wtl_metered *m);

/* Begins an interval now. */
void wtl_metered_begin(wtl_metered *m);

/*
 * Ends the interval and prints its joules to `out`. The interval goes on: a second call ends it later. Returns false,
 * and prints nothing, for any other text or without memory.
 */
bool wtl_metered_end(wtl_metered *m, const char *line, FILE *out);

/* Begins the next interval where the last one ended. */
void wtl_metered_next(wtl_metered *m);

/*
 * wtl_metered_end into `text`, of `size` bytes, with a NUL at the end. Returns the length of the whole text, of which
 * nothing is written if it has no space; 0 on failure.
 */
size_t wtl_metered_read(wtl_metered *m, const char *line, char *text, size_t size);

#endif
