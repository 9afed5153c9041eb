/*
 * options.h - the mini-apps' command lines: "--name value" with a number or one of some words, "--name" alone for a
 * flag, --help, and words without a name, such as files.
 *
 * A program lists its options in one table; each value is checked, and only the PE that may print speaks.
 */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct option {
  const char *name; /* without the dashes */
  double value;     /* the default, replaced by what the user gives; of words: which one, from 0; of a flag: 0 or 1 */
  double lo, hi;    /* of a number, inclusive; lo == hi: a flag */
  const char *help;
  const char *const *words; /* what may be given, ended by NULL; NULL: a number or a flag */
} option;

/* What the program should do afterwards. */
enum { OPTIONS_GO, OPTIONS_HELP, OPTIONS_WRONG };

/* `words`: what the program takes besides, for its help. Fills the values of the table; moves what has no name to the
 * front of argv[1..] and gives their number in *n_words. */
int options_parse(int argc, char **argv, const char *words, const char *purpose, option *table, size_t n, bool speak,
                  int *n_words);

#endif
