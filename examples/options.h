/*
 * options.h - the command lines of the examples: "--name value" with numbers, and --help.
 *
 * A program lists its options in one table. Each value is checked against its bounds. Only PE 0 prints.
 */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option {
  const char *name; /* without the dashes */
  double value;     /* the default, replaced by the user's value */
  double lo, hi;    /* inclusive */
  const char *help;
} option;

/* The next action of the program after options_parse. */
enum { OPTIONS_GO, OPTIONS_HELP, OPTIONS_WRONG };

static void options_help(FILE *to, const char *program, const char *purpose, const option *table, size_t n)
{
  fprintf(to, "%s: %s\n\noptions:\n", program, purpose);
  for (size_t i = 0; i < n; i++)
    fprintf(to, "  --%-12s %s (%g to %g; default %g)\n", table[i].name, table[i].help, table[i].lo, table[i].hi,
            table[i].value);
  fprintf(to, "  --%-12s show this\n", "help");
}

static option *options_find(option *table, size_t n, const char *word)
{
  for (size_t i = 0; i < n; i++)
    if (strncmp(word, "--", 2) == 0 && strcmp(word + 2, table[i].name) == 0) return &table[i];
  return NULL;
}

/* Fills the table's values from the command line. `speak` is true on the one PE that may print. */
static int options_parse(int argc, char **argv, const char *purpose, option *table, size_t n, bool speak)
{
  const char *slash = strrchr(argv[0], '/');
  const char *program = slash ? slash + 1 : argv[0];
  for (int i = 1; i < argc; i += 2) { /* a name and its value */
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      if (speak) options_help(stdout, program, purpose, table, n);
      return OPTIONS_HELP;
    }
    option *o = options_find(table, n, argv[i]);
    if (!o) {
      if (speak) fprintf(stderr, "%s: unknown option '%s'; --help lists them\n", program, argv[i]);
      return OPTIONS_WRONG;
    }
    char *end = argv[i];
    double value = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;
    if (end == argv[i] || (i + 1 < argc && (end == argv[i + 1] || *end)) || !(value >= o->lo && value <= o->hi)) {
      if (speak)
        fprintf(stderr, "%s: --%s needs a number from %g to %g, not '%s'\n", program, o->name, o->lo, o->hi,
                i + 1 < argc ? argv[i + 1] : "");
      return OPTIONS_WRONG;
    }
    o->value = value;
  }
  return OPTIONS_GO;
}

#endif
