/* options.c - see options.h. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_of(char **argv)
{
  const char *slash = strrchr(argv[0], '/');
  return slash ? slash + 1 : argv[0];
}

static void help(const char *program, const char *purpose, const option *table, size_t n)
{
  printf("%s: %s\n\noptions:\n", program, purpose);
  for (size_t i = 0; i < n; i++) {
    const option *o = &table[i];
    printf("  --%-10s %s", o->name, o->help);
    if (o->words)
      for (int k = 0; o->words[k]; k++) printf("%s%s", k ? ", " : " (", o->words[k]);
    else if (o->lo != o->hi)
      printf(" (%.12g to %.12g", o->lo, o->hi);
    if (o->words)
      printf("; default %s)\n", o->words[(int)o->value]);
    else
      printf(o->lo != o->hi ? "; default %.12g)\n" : "\n", o->value);
  }
  printf("  --%-10s show this\n", "help");
}

static bool set_word(option *o, const char *given)
{
  for (int k = 0; o->words[k]; k++)
    if (!strcmp(given, o->words[k])) {
      o->value = k;
      return true;
    }
  return false;
}

static bool set_number(option *o, const char *given)
{
  char *end;
  double value = strtod(given, &end);
  if (end == given || *end || !(value >= o->lo && value <= o->hi)) return false;
  o->value = value;
  return true;
}

static void complain(const char *program, const option *o, const char *given)
{
  fprintf(stderr, "%s: --%s wants ", program, o->name);
  if (o->words)
    for (int k = 0; o->words[k]; k++) fprintf(stderr, "%s%s", k ? " or " : "", o->words[k]);
  else
    fprintf(stderr, "a number from %.12g to %.12g", o->lo, o->hi);
  fprintf(stderr, ", not '%s'\n", given);
}

int options_parse(int argc, char **argv, const char *purpose, option *table, size_t n, bool speak, int *n_words)
{
  const char *program = program_of(argv);
  *n_words = 0;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      if (speak) help(program, purpose, table, n);
      return OPTIONS_HELP;
    }
    if (strncmp(argv[i], "--", 2) != 0) {
      argv[1 + (*n_words)++] = argv[i];
      continue;
    }
    option *o = table;
    while (o < table + n && strcmp(argv[i] + 2, o->name) != 0) o++;
    if (o == table + n) {
      if (speak) fprintf(stderr, "%s: unknown option '%s'; --help lists them\n", program, argv[i]);
      return OPTIONS_WRONG;
    }
    if (!o->words && o->lo == o->hi) {
      o->value = 1;
      continue;
    }
    const char *given = i + 1 < argc ? argv[++i] : "";
    if (o->words ? !set_word(o, given) : !set_number(o, given)) {
      if (speak) complain(program, o, given);
      return OPTIONS_WRONG;
    }
  }
  return OPTIONS_GO;
}
