/* json_read.c - parses JSON in one pass and reports each leaf with its path. */
#include "base/json_read.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
  const char *at, *end;
  const char *wrong; /* the first error */
  int depth;         /* objects and lists around this place */
  size_t path_length;
  size_t hidden; /* last parts of the path that did not fit */
  char path[WTL_JSON_PATH];
  char text[WTL_JSON_TEXT];
  void (*show)(void *, const wtl_json_leaf *);
  void *arg;
} reader;

static bool fail(reader *r, const char *what)
{
  if (!r->wrong) r->wrong = what;
  return false;
}

static void skip_space(reader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

/* The next character that is not a space, or 0 at the end. A NUL in the text belongs to no value either. */
static char peek(reader *r)
{
  skip_space(r);
  return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c)
{
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

/* ---- texts ---- */

static void add_byte(reader *r, size_t *length, unsigned byte)
{
  if (*length + 1 < sizeof r->text) r->text[(*length)++] = (char)byte;
}

static void add_character(reader *r, size_t *length, unsigned code)
{
  if (code < 0x80) {
    add_byte(r, length, code);
  } else if (code < 0x800) {
    add_byte(r, length, 0xc0 | code >> 6);
    add_byte(r, length, 0x80 | (code & 63));
  } else {
    add_byte(r, length, 0xe0 | code >> 12);
    add_byte(r, length, 0x80 | (code >> 6 & 63));
    add_byte(r, length, 0x80 | (code & 63));
  }
}

static bool read_hex(reader *r, unsigned *code)
{
  *code = 0;
  if (r->end - r->at < 4) return false;
  for (int i = 0; i < 4; i++) {
    char c = *r->at++;
    unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                            : 16;
    if (digit > 15) return false;
    *code = *code * 16 + digit;
  }
  return true;
}

/* Reads the part of an escape after the backslash. Halves of surrogate pairs stay halves; no text that is compared has
 * such. */
static bool read_escape(reader *r, size_t *length)
{
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  char c = r->at < r->end ? *r->at++ : '\0';
  const char *found = c ? strchr(letters, c) : NULL;
  unsigned code;
  if (found) {
    add_byte(r, length, (unsigned char)meant[found - letters]);
    return true;
  }
  if (c != 'u' || !read_hex(r, &code)) return fail(r, "a backslash in a text that means nothing");
  add_character(r, length, code);
  return true;
}

/* To be called after the opening quotation mark. */
static bool read_text(reader *r)
{
  size_t length = 0;
  while (r->at < r->end) {
    char c = *r->at++;
    if (c == '"') {
      r->text[length] = '\0';
      return true;
    }
    if ((unsigned char)c < 0x20) return fail(r, "a control character in a text");
    if (c != '\\')
      add_byte(r, &length, (unsigned char)c);
    else if (!read_escape(r, &length))
      return false;
  }
  return fail(r, "a text without an end");
}

/* ---- numbers ---- */

/* The digits of a number: the first ones, as many as a double distinguishes, and the power of ten for the others. */
typedef struct digits {
  uint64_t value;
  long power;
} digits;

/* any kept digits times 10 to the power of this are 0 or infinite */
enum { MOST_POWER = 1000 };
static const uint64_t most_value = (UINT64_MAX - 9) / 10;

/* Reads the digits before or after the point. Returns their number. */
static size_t read_digits(reader *r, digits *d, bool behind_point)
{
  size_t n = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, n++) {
    bool is_kept = d->value <= most_value;
    if (is_kept) d->value = d->value * 10 + (uint64_t)(*r->at - '0');
    d->power += (long)!is_kept - (long)behind_point;
  }
  return n;
}

/* To be called after the letter e. */
static bool read_exponent(reader *r, long *power)
{
  bool negative = false, any = false;
  if (r->at < r->end && (*r->at == '-' || *r->at == '+')) negative = *r->at++ == '-';
  for (*power = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, any = true)
    if (*power < INT32_MAX) *power = *power * 10 + (*r->at - '0');
  if (negative) *power = -*power;
  return any;
}

/* Exact where both factors are: up to 2^53 and 10^22. Elsewhere it may be off in the last digits that a double has. */
static double value_of(const digits *d)
{
  long power = d->power < -MOST_POWER ? -MOST_POWER : d->power > MOST_POWER ? MOST_POWER : d->power;
  double value = (double)d->value, half = pow(10, (double)(power < 0 ? -power / 2 : power / 2));
  double rest = power % 2 ? 10 * half : half;
  if (!d->value) return 0;
  if (power >= -22 && power < 0) return value / (half * rest);
  return power < 0 ? value / half / rest : value * half * rest;
}

static bool read_number(reader *r, double *value)
{
  bool negative = r->at < r->end && *r->at == '-';
  digits d = {0, 0};
  long exponent = 0;
  r->at += negative;
  bool zero = r->at < r->end && *r->at == '0';
  size_t whole = read_digits(r, &d, false);
  if (whole == 0 || (zero && whole > 1)) return fail(r, "a value that is none");
  if (r->at < r->end && *r->at == '.') {
    r->at++;
    if (read_digits(r, &d, true) == 0) return fail(r, "a number that ends with its point");
  }
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    r->at++;
    if (!read_exponent(r, &exponent)) return fail(r, "a number without its exponent");
  }
  d.power += exponent;
  *value = negative ? -value_of(&d) : value_of(&d);
  return true;
}

/* ---- values ---- */

static void show(reader *r, enum wtl_json_kind kind, const char *text, double number)
{
  wtl_json_leaf leaf = {r->path, kind, text, number};
  if (r->hidden == 0) r->show(r->arg, &leaf);
}

static bool read_word(reader *r, const char *word, enum wtl_json_kind kind, double number)
{
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return fail(r, "a value that is none");
  r->at += n;
  show(r, kind, "", number);
  return true;
}

/* Adds the key that was just read to the path. Returns the argument of cut_path. */
static size_t add_to_path(reader *r)
{
  size_t before = r->path_length, n = strlen(r->text);
  if (r->hidden || before + n + 2 > sizeof r->path) {
    r->hidden++;
    return before;
  }
  if (before) r->path[r->path_length++] = '.';
  memcpy(r->path + r->path_length, r->text, n + 1);
  r->path_length += n;
  return before;
}

static void cut_path(reader *r, size_t before)
{
  if (r->hidden)
    r->hidden--;
  else
    r->path[r->path_length = before] = '\0';
}

static bool read_value(reader *r);

static bool read_member(reader *r)
{
  size_t before;
  bool good;
  if (!take(r, '"')) return fail(r, "an object's key that is no text");
  if (!read_text(r)) return false;
  before = add_to_path(r);
  good = take(r, ':') ? read_value(r) : fail(r, "a key without a colon");
  cut_path(r, before);
  return good;
}

/* To be called after the opening bracket. Reads members with commas between them, and the closing bracket. */
static bool read_object(reader *r)
{
  bool good = true;
  if (++r->depth > WTL_JSON_DEPTH) return fail(r, "values nested too deeply");
  if (take(r, '}')) return r->depth--, true;
  do good = read_member(r);
  while (good && take(r, ','));
  if (good && !take(r, '}')) good = fail(r, "an object or a list without an end");
  r->depth--;
  return good;
}

static bool read_list(reader *r)
{
  unsigned long i = 0;
  bool good = true;
  if (++r->depth > WTL_JSON_DEPTH) return fail(r, "values nested too deeply");
  if (take(r, ']')) return r->depth--, true;
  do {
    snprintf(r->text, sizeof r->text, "%lu", i++);
    size_t before = add_to_path(r);
    good = read_value(r);
    cut_path(r, before);
  } while (good && take(r, ','));
  if (good && !take(r, ']')) good = fail(r, "an object or a list without an end");
  r->depth--;
  return good;
}

static bool read_value(reader *r)
{
  double number;
  switch (peek(r)) {
  case '{': r->at++; return read_object(r);
  case '[': r->at++; return read_list(r);
  case '"':
    r->at++;
    if (!read_text(r)) return false;
    show(r, WTL_JSON_IS_TEXT, r->text, NAN);
    return true;
  case 't': return read_word(r, "true", WTL_JSON_IS_BOOL, 1);
  case 'f': return read_word(r, "false", WTL_JSON_IS_BOOL, 0);
  case 'n': return read_word(r, "null", WTL_JSON_IS_NULL, NAN);
  default:
    if (!read_number(r, &number)) return false;
    show(r, WTL_JSON_IS_NUMBER, "", number);
    return true;
  }
}

const char *wtl_json_read(const char *text, size_t length, void (*show_leaf)(void *arg, const wtl_json_leaf *leaf),
                          void *arg)
{
  reader r = {.at = text, .end = text + length, .show = show_leaf, .arg = arg};
  if (read_value(&r)) {
    skip_space(&r);
    if (r.at != r.end) fail(&r, "something after the end");
  }
  return r.wrong;
}
