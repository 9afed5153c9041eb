/*
 * options.h - the command lines of the mini-apps: "--name value" with a number or one of some words, "--name" for a
 * flag, --help, and words without a name, such as files.
 *
 * A program lists its options in one table. Each value is checked. Only the PE with `speak` prints.
 */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct option {
  const char *name; /* without the dashes */
  double value;     /* the default, replaced by the user's value; of words: the index, from 0; of a flag: 0 or 1 */
  double lo, hi;    /* of a number, inclusive; lo == hi: a flag */
  const char *help;
  const char *const *words; /* allowed words, ended by NULL; NULL: a number or a flag */
} option;

/* The next action of the program. */
enum { OPTIONS_GO, OPTIONS_HELP, OPTIONS_WRONG };

/* Parses the command line. `words`: the words without a name, for the help. Fills the values of the table. Moves
 * words without a name to the front of argv[1..] and stores their number in *n_words. */
int options_parse(int argc, char **argv, const char *words, const char *purpose, option *table, size_t n, bool speak,
                  int *n_words);

#endif
