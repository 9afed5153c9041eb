/* options.c - parses the command line of a mini-app, see options.h. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_of(char **argv)
{
  const char *slash = strrchr(argv[0], '/');
  return slash ? slash + 1 : argv[0];
}

/* The allowed values, such as "(1 to 24; default 4)". Empty for a flag. */
static void put_range(char *text, size_t size, const option *o)
{
  size_t at = 0;
  text[0] = '\0';
  for (int k = 0; o->words && o->words[k] && at < size; k++)
    at += (size_t)snprintf(text + at, size - at, "%s%s", k ? ", " : "(", o->words[k]);
  if (o->words && at < size)
    snprintf(text + at, size - at, "; default %s)", o->words[(int)o->value]);
  else if (!o->words && o->lo != o->hi)
    snprintf(text, size, "(%.12g to %.12g; default %.12g)", o->lo, o->hi, o->value);
}

static void help(const char *program, const char *words, const char *purpose, const option *table, size_t n)
{
  char range[256];
  enum { INDENT = 15, COLUMNS = 80 };
  printf("usage: %s [options]%s%s\n%s\n\noptions:\n", program, *words ? " " : "", words, purpose);
  for (size_t i = 0; i < n; i++) {
    put_range(range, sizeof range, &table[i]);
    bool fits = INDENT + strlen(table[i].help) + 1 + strlen(range) < COLUMNS;
    printf("  --%-10s %s", table[i].name, table[i].help);
    if (*range && fits) printf(" %s", range);
    if (*range && !fits) printf("\n%*s%s", INDENT, "", range);
    printf("\n");
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

int options_parse(int argc, char **argv, const char *words, const char *purpose, option *table, size_t n, bool speak,
                  int *n_words)
{
  const char *program = program_of(argv);
  *n_words = 0;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      if (speak) help(program, words, purpose, table, n);
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
