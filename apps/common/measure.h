/*
 * measure.h - time, CPU time and joules of a section that all PEs run together, with provenance, for every version.
 *
 * Joules of scope process are summed over the PEs. Joules of a wider scope (a sensor's, or a node's idle joules) are
 * PE 0's alone, since every PE of a node reads the same. With several nodes they are those of PE 0's node.
 */
#ifndef APPS_MEASURE_H
#define APPS_MEASURE_H

#define USE_WATTLE
#include "../../bench/joules.h"

enum { MEASURE_DOMAINS = 8 };

/* Figures of the section on all PEs; valid on PE 0. Seconds; joules as in wattle.h. `when`: the last of its pieces
 * by this PE's time of day. `share`: the part of the section that the figures are for, 1 until they are divided. */
typedef struct measured {
  double seconds, cpu_seconds;
  long pieces;
  block_time when;
  double share;
  int n_domains; /* 0: no meter */
  wattle_joules_t joules[MEASURE_DOMAINS];
} measured;

/* Collective. begin starts with a barrier, end finishes with one. The section excludes their own cost. */
void measure_begin(void);
void measure_end(measured *m);

/* A section in pieces, of which each PE reports its own figures. measure_prepare opens it, measure_resume and
 * measure_pause bound a piece. measure_own closes it and returns this PE's figures. `seconds` is the sum over the
 * pieces. A sensor's joules are still the node's. These calls are not collective. */
void measure_prepare(void);
void measure_resume(void);
void measure_pause(void);
void measure_own(measured *mine);

/* Bound a part of a piece. measure_part returns this PE's figures of all parts of that name. It
 * is called before measure_own. A part that a sensor cannot resolve (it is shorter than
 * an interval of the sensor's readings) has no figures: only modelled joules are given. */
void measure_part_begin(const char *name);
void measure_part_end(const char *name);
void measure_part(const char *name, measured *mine);

/* Divides the figures by the number of equal rounds. */
void measure_divide(measured *m, double rounds);

/* Prints the beginning of a line of "kind":"setup": the program, the PEs, the meter's name, and the reason why no
 * better one is used. The caller adds members and ends the line. */
void measure_print_setup(const char *program);

/* Prints the figures: seconds, CPU seconds, joules, and the span from which the joules of an external meter are
 * found (null where there are several). Any PE may call it. */
void measure_print(const measured *m);

#endif
