/*
 * options.h - the command lines of benchmarks and mini-apps: "--name value" with a number or one of some words, or with
 * several of them; "--name" for a flag; --help; and words without a name, such as files.
 *
 * A program lists its options in one table. Each value is checked. Only the PE with `speaks` prints.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MOST = 64 }; /* values of a list */

typedef struct option {
  const char *name; /* without the dashes */
  double value;     /* the default, replaced by the user's value; of words: the index, from 0; of a flag: 0 or 1 */
  double lo, hi;    /* of a number, inclusive; lo == hi: a flag */
  bool whole;       /* a number is whole, and may end with K or M, for 2^10 and 2^20 */
  const char *help;
  const char *const *words; /* allowed words, ended by NULL; NULL: a number or a flag */
  const char *list;         /* of a list: its default, where "" means all words; NULL: one value */
  int n;                    /* of a list: its values, and whether they are a range in powers of two */
  double at[OPTIONS_MOST];
  bool is_range;
} option;

#define OPTION_FLAG(n, h)                                                                                              \
  {                                                                                                                    \
    .name = n, .help = h                                                                                               \
  }
#define OPTION_NUMBER(n, v, from, to, h)                                                                               \
  {                                                                                                                    \
    .name = n, .value = v, .lo = from, .hi = to, .help = h                                                             \
  }
#define OPTION_WHOLE(n, v, from, to, h)                                                                                \
  {                                                                                                                    \
    .name = n, .value = v, .lo = from, .hi = to, .whole = true, .help = h                                              \
  }
#define OPTION_WORD(n, v, w, h)                                                                                        \
  {                                                                                                                    \
    .name = n, .value = v, .words = w, .help = h                                                                       \
  }
#define OPTION_NUMBERS(n, v, from, to, h)                                                                              \
  {                                                                                                                    \
    .name = n, .list = v, .lo = from, .hi = to, .whole = true, .help = h                                               \
  }
#define OPTION_WORDS(n, v, w, h)                                                                                       \
  {                                                                                                                    \
    .name = n, .list = v, .words = w, .help = h                                                                        \
  }

/* The next action of the program. */
enum { OPTIONS_GO, OPTIONS_HELP, OPTIONS_WRONG };

static const char *options_program = "";
static char options_wrong[1100]; /* the wrong value, or the wrong one of a list with the reason */
static bool options_speaks;

/* Prints an error of the command line. Returns OPTIONS_WRONG. */
__attribute__((format(printf, 1, 2))) static inline int options_complain(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  if (options_speaks) {
    fprintf(stderr, "%s: ", options_program);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
  }
  va_end(args);
  return OPTIONS_WRONG;
}

/* The allowed values, such as "(1 to 24; default 4)" or "(works or waits; default works)". Empty for a flag. */
static inline void options_put_range(char *text, size_t size, const option *o, bool with_default)
{
  size_t at = 0;
  *text = '\0';
  for (int k = 0; o->words && o->words[k] && at < size; k++)
    at += (size_t)snprintf(text + at, size - at, "%s%s", k ? with_default || o->list ? ", " : " or " : "", o->words[k]);
  if (!o->words) at = (size_t)snprintf(text, size, "%.12g to %.12g", o->lo, o->hi);
  if (!with_default || at >= size) return;
  if (o->list)
    snprintf(text + at, size - at, "; default %s", *o->list ? o->list : "all");
  else if (o->words)
    snprintf(text + at, size - at, "; default %s", o->words[(int)o->value]);
  else
    snprintf(text + at, size - at, "; default %.12g", o->value);
}

static inline bool options_is_flag(const option *o)
{
  return !o->words && o->lo == o->hi;
}

static inline void options_help(const char *words, const char *purpose, const option *table, size_t n)
{
  char range[256];
  enum { INDENT = 15, COLUMNS = 80 };
  printf("usage: %s [options]%s%s\n%s\n\noptions:\n", options_program, *words ? " " : "", words, purpose);
  for (const option *o = table; o < table + n; o++) {
    options_put_range(range, sizeof range, o, true);
    bool fits = INDENT + strlen(o->help) + 3 + strlen(range) < COLUMNS;
    printf("  --%-10s %s", o->name, o->help);
    if (!options_is_flag(o) && fits) printf(" (%s)", range);
    if (!options_is_flag(o) && !fits) printf("\n%*s(%s)", INDENT, "", range);
    printf("\n");
  }
  printf("  --%-10s show this\n", "help");
}

static inline bool options_set_one(const option *o, const char *given, double *value)
{
  char *end;
  for (int k = 0; o->words && o->words[k]; k++)
    if (!strcmp(given, o->words[k])) return *value = k, true;
  if (o->words) return false;
  double v = strtod(given, &end);
  bool some = end != given;
  if (o->whole && some && (*end == 'K' || *end == 'M')) v *= *end++ == 'K' ? 1 << 10 : 1 << 20;
  *value = v;
  return some && !*end && v >= o->lo && v <= o->hi && (!o->whole || v == floor(v));
}

static inline bool options_refuse(const char *value, const char *why)
{
  snprintf(options_wrong, sizeof options_wrong, "'%s'%s", value, why);
  return false;
}

/* Values separated by commas, or FIRST-LAST in powers of two. */
static inline bool options_set_list(option *o, const char *given)
{
  char text[1024], *part = text, *dash = o->words ? NULL : strchr(given, '-');
  double last = 0;
  if (strlen(given) >= sizeof text) return options_refuse("", ": it is too long");
  strcpy(text, given);
  o->n = 0;
  o->is_range = dash != NULL;
  if (dash) {
    text[dash - given] = '\0';
    if (!options_set_one(o, text, &o->at[0]) || !options_set_one(o, dash + 1, &last) || last < o->at[0])
      return options_refuse(given, "; a range has its smaller number first");
    for (o->n = 1; o->n < OPTIONS_MOST && 2 * o->at[o->n - 1] <= last; o->n++) o->at[o->n] = 2 * o->at[o->n - 1];
    return true;
  }
  while (part) {
    char *comma = strchr(part, ',');
    if (comma) *comma++ = '\0';
    if (o->n == OPTIONS_MOST) return options_refuse(given, ": there are too many");
    if (!options_set_one(o, part, &o->at[o->n])) return options_refuse(part, "");
    for (int k = 0; k < o->n; k++)
      if (o->at[k] == o->at[o->n]) return options_refuse(part, " twice");
    o->n++;
    part = comma;
  }
  return true;
}

static inline bool options_set(option *o, const char *given)
{
  if (!o->list) return options_set_one(o, given, &o->value) || options_refuse(given, "");
  if (o->words && !*given) /* all */
    for (o->n = 0; o->words[o->n]; o->n++) o->at[o->n] = o->n;
  return (o->words && !*given) || options_set_list(o, given);
}

/* Parses the command line. `words`: the words without a name, for the help. Fills the values of the table. Moves
 * words without a name to the front of argv[1..] and stores their number in *n_words. */
static inline int options_parse(int argc, char **argv, const char *words, const char *purpose, option *table, size_t n,
                                bool speaks, int *n_words)
{
  char range[256];
  const char *slash = strrchr(argv[0], '/');
  options_program = slash ? slash + 1 : argv[0];
  options_speaks = speaks;
  *n_words = 0;
  for (option *o = table; o < table + n; o++)
    if (o->list) options_set(o, o->list);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      if (speaks) options_help(words, purpose, table, n);
      return OPTIONS_HELP;
    }
    if (strncmp(argv[i], "--", 2) != 0) {
      argv[1 + (*n_words)++] = argv[i];
      continue;
    }
    option *o = table;
    while (o < table + n && strcmp(argv[i] + 2, o->name) != 0) o++;
    if (o == table + n) return options_complain("unknown option '%s'; --help lists them", argv[i]);
    if (options_is_flag(o)) {
      o->value = 1;
      continue;
    }
    const char *given = i + 1 < argc ? argv[++i] : "";
    if (*given && options_set(o, given)) continue;
    if (!*given) options_refuse(given, "");
    options_put_range(range, sizeof range, o, false);
    const char *what = o->list    ? o->words ? "a list of " : "a list of whole numbers from "
                       : o->words ? ""
                       : o->whole ? "a whole number from "
                                  : "a number from ";
    return options_complain("--%s wants %s%s, not %s", o->name, what, range, options_wrong);
  }
  if (*n_words && !*words) return options_complain("'%s' is not an option; --help lists them", argv[1]);
  return OPTIONS_GO;
}

#endif
