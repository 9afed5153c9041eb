/*
 * sample.h - the frame of a program of the studies of waiting and of messages: its command line, its cases, and the
 * JSON lines that it prints.
 */
#ifndef APPS_SAMPLE_H
#define APPS_SAMPLE_H

#include "../../bench/options.h"
#include "../common/job.h"
#include "../common/measure.h"

enum { SAMPLE_MOST_CASES = 64 };

/* A case, "2" or "2:3" on the command line: the swept value, and a second one (0 where it is not given). */
typedef struct sample_case {
  double x, y;
} sample_case;

/* A program. `words`: of its cases, for the help. */
typedef struct sample_program {
  const char *name, *words, *purpose;
  option *options;
  size_t n_options;
  double most_x, most_y;                          /* of a case */
  const char *(*wrong)(const sample_case *, int); /* the error of the cases and options, or NULL; may be NULL */
  void (*begin)(const sample_case *, int);        /* before the first line; may be NULL */
  void (*print_setup)(void);                      /* further members of the line of kind "setup"; may be NULL */
  void (*run)(const sample_case *, int);
  void (*end)(int code); /* before the job ends; may be NULL */
} sample_program;

/* Runs the program. Returns its exit code: 64 for wrong usage, 1 where a printed sample was not verified. */
int sample_main(int argc, char **argv, const sample_program *program);

/* The number of rounds of `each` seconds that take `least` seconds together: at least one. The same on all PEs, by
 * PE 0's `each`. */
long sample_rounds(double each, double least);

/* The result on all PEs. */
bool sample_all(bool right);

/* Prints the beginning of a line of "kind":"sample" with its common members. The caller adds members and ends the
 * line. */
void sample_print(const char *name, const char *who, sample_case c, int repeat, const measured *m, bool verified);

#endif
