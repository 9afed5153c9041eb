/*
 * measure.h - time, time on cores, and joules of a section that all PEs run together, with provenance; the same way in
 * every version.
 *
 * Joules of scope process are summed over the PEs. Those of a wider scope (a sensor's, a node's idle draw) are PE 0's
 * alone, since every PE of a node reads the same; of several nodes they are those of PE 0's.
 */
#ifndef APPS_MEASURE_H
#define APPS_MEASURE_H

#include <stdbool.h>
#include <wattle.h>

enum { MEASURE_DOMAINS = 8 };

/* Of the section on all PEs; right on PE 0. Seconds; joules as wattle.h has them. */
typedef struct measured {
  double seconds, cpu_seconds;
  int n_domains; /* 0: there is no meter */
  wattle_joules_t joules[MEASURE_DOMAINS];
} measured;

/* Every PE together, in turn: begin meets first, end meets last. What they cost is outside of the section. */
void measure_begin(void);
void measure_end(measured *m);

/*
 * A section in pieces, of which each PE tells its own: prepare opens it, resume and pause bound a piece, own closes it
 * and gives this PE's figures, `seconds` the pieces' together. A sensor's are the node's all the same. Nobody meets.
 */
void measure_prepare(void);
void measure_resume(void);
void measure_pause(void);
void measure_own(measured *mine);

/* A round's share, of `rounds` alike. */
void measure_divide(measured *m, double rounds);

/* Any PE: the meter's name and why it is no better one, as two JSON members; and the joules of `m` as one:
 * "energy":[...] or null. */
void measure_print_meter(void);
void measure_print_energy(const measured *m);

/* Prints `"name":value`, null where it is not finite; and a text as a JSON string. */
void json_number(const char *name, double value);
void json_text(const char *name, const char *text);

#endif
