/* sample.h - the JSON lines that the programs of the studies of waiting print, and the cases of their command lines. */
#ifndef APPS_SAMPLE_H
#define APPS_SAMPLE_H

#include "../common/measure.h"

enum { SAMPLE_MOST_CASES = 64 };

/* A case, "2" or "2:3" on the command line: the swept value, and a second one (0 where it is not given). */
typedef struct sample_case {
  double x, y;
} sample_case;

/* Parses the words of a command line as cases within the ranges. Returns their number, or -1 for a wrong one.
 * `speaks`: this PE prints the error. */
int sample_cases(int argc, char **argv, int words, double most_x, double most_y, bool speaks, sample_case *cases);

/* The number of rounds of `each` seconds that take `least` seconds together: at least one. */
long sample_rounds(double each, double least);

/* Prints "kind":"setup": the program, the PEs, the meter. The caller adds further members and "}\n". */
void sample_print_setup(const char *program);

/* Prints the beginning of a line of "kind":"sample" with its common members. The caller adds members and "}\n". */
void sample_print(const char *name, const char *who, sample_case c, int repeat, const measured *m, bool verified);

/* Prints ,"name":[v, ...] */
void sample_print_list(const char *name, const double *v, int n);

#endif
