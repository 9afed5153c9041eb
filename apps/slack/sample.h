/* sample.h - the JSON lines that the programs of the studies of waiting print, and the lists that they are given. */
#ifndef APPS_SAMPLE_H
#define APPS_SAMPLE_H

#include "../common/measure.h"

enum { SAMPLE_MOST_CASES = 64 };

/* "2" or "2:3" on the command line: what is swept, and what with it (0 where it is not given). */
typedef struct sample_case {
  double x, y;
} sample_case;

/* The words of a command line as cases within the ranges, or complaint and -1; `speaks`: this PE says so. */
int sample_cases(int argc, char **argv, int words, double most_x, double most_y, bool speaks, sample_case *cases);

/* Rounds of something that takes `each` seconds, so that it lasts `least` in all: one at least. */
long sample_rounds(double each, double least);

/* "kind":"setup": the program, the PEs, the meter; then whatever else the caller prints, and "}\n". */
void sample_print_setup(const char *program);

/* The beginning of a line of "kind":"sample" and all that every such line has; the caller adds members and "}\n". */
void sample_print(const char *name, const char *who, sample_case c, int repeat, const measured *m, bool verified);

/* ,"name":[v, ...] */
void sample_print_list(const char *name, const double *v, int n);

#endif
