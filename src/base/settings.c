/* settings.c - parses the environment by the table in settings.def. */
#include "base/settings.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/locale.h"

#define BOOL WTL_SET_BOOL
#define FLAG WTL_SET_FLAG
#define INT WTL_SET_INT
#define SIZE WTL_SET_SIZE
#define SECONDS WTL_SET_SECONDS
#define CHOICE WTL_SET_CHOICE
#define TEXT WTL_SET_TEXT

static const wtl_setting table[] = {
#define X(field, name, kind, unit, def, lo, hi, choices, help) {name, kind, unit, def, lo, hi, choices, help},
#include "settings.def"
#undef X
};

static const size_t offsets[] = {
#define X(field, name, kind, unit, def, lo, hi, choices, help) offsetof(wtl_settings, field),
#include "settings.def"
#undef X
};

enum { N_SETTINGS = sizeof table / sizeof table[0] };

extern char **environ;

const wtl_setting *wtl_settings_table(size_t *count)
{
  *count = N_SETTINGS;
  return table;
}

static wtl_value *field_of(wtl_settings *s, size_t i)
{
  return (wtl_value *)((char *)s + offsets[i]);
}

/* Returns a permanent copy of `text`, because the program may change its environment. Each text is kept once, so
 * reading the settings again takes no more memory. */
static const char *keep(const char *text)
{
  static struct text_copy {
    struct text_copy *next;
    char text[];
  } * all;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct text_copy *k;
  pthread_mutex_lock(&mutex);
  for (k = all; k && strcmp(k->text, text) != 0; k = k->next) continue;
  if (!k && (k = malloc(sizeof *k + strlen(text) + 1)) != NULL) {
    strcpy(k->text, text);
    k->next = all;
    all = k;
  }
  pthread_mutex_unlock(&mutex);
  return k ? k->text : NULL;
}

/* Splits "a|b|c": returns the index of `word`, or -1. */
static int choice_index(const char *choices, const char *word)
{
  size_t length = strlen(word);
  int index = 0;
  for (const char *c = choices; *c; index++) {
    size_t n = strcspn(c, "|");
    if (n == length && strncasecmp(c, word, n) == 0) return index;
    c += n;
    if (*c == '|') c++;
  }
  return -1;
}

static bool parse_bool(const char *text, bool *on)
{
  static const char *yes[] = {"1", "on", "yes", "true", "y", "t"}, *no[] = {"0", "off", "no", "false", "n", "f"};
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
    if (strcasecmp(text, yes[i]) == 0) return *on = true;
    if (strcasecmp(text, no[i]) == 0) return *on = false, true;
  }
  return false;
}

/* Any value turns a flag on, except those that mean off. */
static bool parse_flag(const char *text)
{
  bool on;
  return !parse_bool(text, &on) || on;
}

/* Reads a number and sets *rest to the text after it; false if it is not a finite number. */
static bool parse_number(const char *text, double *value, const char **rest)
{
  WTL_LOCALE_APART;
  char *end;
  errno = 0;
  if (!strchr("0123456789.", text[0]) || strncasecmp(text, "0x", 2) == 0) return false;
  *value = strtod(text, &end);
  *rest = end;
  return end != text && errno == 0 && isfinite(*value);
}

static bool parse_suffix(const char *rest, const char *const names[], const double factors[], double *value)
{
  if (*rest == '\0') return true;
  for (size_t i = 0; names[i]; i++) {
    if (strcasecmp(rest, names[i]) == 0) {
      *value *= factors[i];
      return true;
    }
  }
  return false;
}

/* Other suffixes are errors: the standard requires a program to end if the suffix is not one that it names. */
static bool parse_size(const char *text, double *value)
{
  static const char *const names[] = {"k", "m", "g", "t", NULL};
  static const double f[] = {0x1p10, 0x1p20, 0x1p30, 0x1p40};
  const char *rest;
  return parse_number(text, value, &rest) && parse_suffix(rest, names, f, value);
}

static bool parse_seconds(const char *text, double *value)
{
  static const char *const names[] = {"ns", "us", "ms", "s", NULL};
  static const double f[] = {1e9, 1e6, 1e3, 1.};
  const char *rest;
  double per_second = 1;
  if (!parse_number(text, value, &rest) || !parse_suffix(rest, names, f, &per_second)) return false;
  *value /= per_second; /* 100us is exactly 0.0001 then; 100 * 1e-6 would be slightly less, and below a bound */
  return true;
}

/* Parses `text` for row i; false if the row does not allow it. */
static bool parse_value(size_t i, const char *text, wtl_value *out)
{
  const wtl_setting *row = &table[i];
  double number;
  const char *rest;
  switch (row->kind) {
  case WTL_SET_BOOL: return parse_bool(text, &out->on);
  case WTL_SET_FLAG: out->on = parse_flag(text); return true;
  case WTL_SET_CHOICE: return (out->number = choice_index(row->choices, text)) >= 0;
  case WTL_SET_TEXT: return (out->text = keep(text)) != NULL;
  case WTL_SET_SECONDS:
    if (strcmp(row->def, "auto") == 0 && strcasecmp(text, "auto") == 0) return out->seconds = -1, true;
    if (!parse_seconds(text, &number) || number < row->lo || number > row->hi) return false;
    out->seconds = number;
    return true;
  case WTL_SET_SIZE:
    if (!parse_size(text, &number) || number < row->lo || number > row->hi) return false;
    out->bytes = (size_t)ceil(number);
    return true;
  case WTL_SET_INT:
    if (!parse_number(text, &number, &rest) || *rest || number != floor(number)) return false;
    if (number < row->lo || number > row->hi) return false;
    out->number = (long long)number;
    return true;
  }
  return false;
}

/* "65536 to 1.76e13 bytes (suffixes K, M, G, T)", "on or off", "spin, yield, sleep or adaptive". */
static void describe_allowed(const wtl_setting *row, char *buf, size_t size)
{
  WTL_LOCALE_APART;
  switch (row->kind) {
  case WTL_SET_BOOL: snprintf(buf, size, "on or off"); break;
  case WTL_SET_FLAG: snprintf(buf, size, "any value; off, no, false or 0 turn it off"); break;
  case WTL_SET_TEXT: snprintf(buf, size, "any text"); break;
  case WTL_SET_INT: snprintf(buf, size, "a whole number from %.0f to %.0f", row->lo, row->hi); break;
  case WTL_SET_SIZE: snprintf(buf, size, "%.0f to %.0f bytes (K, M, G or T may follow)", row->lo, row->hi); break;
  case WTL_SET_SECONDS:
    snprintf(buf, size, "%s%g to %g seconds (or a number with ns, us, ms or s)",
             strcmp(row->def, "auto") == 0 ? "auto, or " : "", row->lo, row->hi);
    break;
  case WTL_SET_CHOICE: {
    size_t at = 0;
    for (const char *c = row->choices; *c && at + 1 < size;) {
      size_t n = strcspn(c, "|");
      bool last = c[n] == '\0', next_last = !last && !strchr(c + n + 1, '|');
      at += (size_t)snprintf(buf + at, size - at, "%.*s%s", (int)n, c, last ? "" : next_last ? " or " : ", ");
      c += n + !last;
    }
  }
  }
}

static void add_error(char *errors, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add_error(char *errors, size_t size, const char *format, ...)
{
  WTL_LOCALE_APART;
  size_t at = strlen(errors);
  va_list args;
  va_start(args, format);
  if (at + 1 < size) vsnprintf(errors + at, size - at, format, args);
  va_end(args);
}

static size_t edit_distance(const char *a, const char *b)
{
  size_t row[64], n = strlen(b);
  if (n >= 64) return 64;
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[n];
}

/* Variables of other programs of the project, which are no settings of the runtime. */
static bool belongs_to_tools(const char *name, size_t length)
{
  static const char *const tools[] = {"WATTLE_HOME", "WATTLE_OWN_CODE"};
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
    if (strlen(tools[i]) == length && strncmp(tools[i], name, length) == 0) return true;
  return false;
}

static bool is_known(const char *name)
{
  for (size_t i = 0; i < N_SETTINGS; i++)
    if (strcmp(table[i].name, name) == 0) return true;
  return false;
}

/* The setting whose name is most similar. */
static const char *nearest_name(const char *name)
{
  size_t best = 0, least = edit_distance(name, table[0].name);
  for (size_t i = 1; i < N_SETTINGS; i++) {
    size_t distance = edit_distance(name, table[i].name);
    if (distance < least) best = i, least = distance;
  }
  return table[best].name;
}

static int check_unknown_names(char *errors, size_t size)
{
  int wrong = 0;
  for (char **e = environ; e && *e; e++) {
    size_t length = strcspn(*e, "=");
    char name[64];
    if (strncmp(*e, "WATTLE_", 7) != 0 || belongs_to_tools(*e, length)) continue;
    snprintf(name, sizeof name, "%.*s", (int)length, *e);
    if (is_known(name)) continue;
    const char *meant = nearest_name(name);
    add_error(errors, size, "unknown setting %s; did you mean %s? (wattle doctor lists all)\n", name, meant);
    wrong++;
  }
  return wrong;
}

/* True if the name begins like those of the standard. */
static bool is_of_shmem(const char *name)
{
  return strncmp(name, "SHMEM_", 6) == 0;
}

bool wtl_settings_near_miss(char *text, size_t size)
{
  for (char **e = environ; e && *e; e++) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
    if (!is_of_shmem(name) || is_known(name)) continue;
    for (size_t i = 0; i < N_SETTINGS; i++) {
      if (!is_of_shmem(table[i].name) || edit_distance(name, table[i].name) > strlen(table[i].name) / 4) continue;
      snprintf(text, size, "%s is not a setting of this library; is %s meant?", name, table[i].name);
      return true;
    }
  }
  return false;
}

/* SHMEM_X was SMA_X until OpenSHMEM 1.3. The new name has precedence. */
static const char *text_of(const char *name)
{
  const char *text = getenv(name);
  char old[64];
  if (text || !is_of_shmem(name)) return text;
  snprintf(old, sizeof old, "SMA_%s", name + 6);
  return getenv(old);
}

int wtl_settings_parse(wtl_settings *out, char *errors, size_t size)
{
  wtl_settings parsed;
  int wrong = 0;
  if (size) errors[0] = '\0';
  for (size_t i = 0; i < N_SETTINGS; i++) {
    const char *text = text_of(table[i].name);
    char allowed[256];
    if (parse_value(i, text ? text : table[i].def, field_of(&parsed, i))) continue;
    describe_allowed(&table[i], allowed, sizeof allowed);
    add_error(errors, size, "%s=%s is not a value of this setting; allowed: %s\n", table[i].name,
              text ? text : table[i].def, allowed);
    wrong++;
  }
  wrong += check_unknown_names(errors, size);
  if (wrong == 0) *out = parsed;
  return wrong;
}

/* In the largest unit that gives a number of at least one: "20ms". */
static void print_seconds(double seconds, char *buf, size_t size)
{
  WTL_LOCALE_APART;
  static const struct {
    double factor;
    const char *unit;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t i = 0;
  while (i < 3 && seconds > 0 && seconds < units[i].factor) i++;
  if (seconds < 0)
    snprintf(buf, size, "auto");
  else
    snprintf(buf, size, "%.6g%s", seconds / units[i].factor, units[i].unit);
}

const char *wtl_settings_text(const wtl_settings *s, size_t i, char *buf, size_t size)
{
  const wtl_value *v = field_of((wtl_settings *)(uintptr_t)s, i);
  const wtl_setting *row = &table[i];
  const char *choice = row->choices;
  switch (row->kind) {
  case WTL_SET_BOOL:
  case WTL_SET_FLAG: snprintf(buf, size, "%s", v->on ? "on" : "off"); break;
  case WTL_SET_INT: snprintf(buf, size, "%lld", v->number); break;
  case WTL_SET_TEXT: snprintf(buf, size, "%s", v->text); break;
  case WTL_SET_SECONDS: print_seconds(v->seconds, buf, size); break;
  case WTL_SET_SIZE: {
    size_t bytes = v->bytes;
    int unit = 0;
    while (unit < 4 && bytes && bytes % 1024 == 0) bytes /= 1024, unit++;
    snprintf(buf, size, "%zu%.*s", bytes, unit > 0, &" KMGT"[unit]);
    break;
  }
  case WTL_SET_CHOICE:
    for (long long k = v->number; k > 0; k--) choice += strcspn(choice, "|") + 1;
    snprintf(buf, size, "%.*s", (int)strcspn(choice, "|"), choice);
    break;
  }
  return buf;
}
