/* json.c - writes JSON texts and numbers. */
#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "os/locale.h"

/* The length of the UTF-8 character at `c`, 1 to 4; 0 if it is none. It never passes the end of the text. */
static int utf8_length(const unsigned char *c)
{
  static const struct {
    unsigned char low, high;   /* of the first byte */
    unsigned char from, until; /* of the second byte: shortest form only, no surrogates, at most U+10FFFF */
    int length;
  } forms[] = {
      {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
      {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
      {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  if (*c < 0x80) return 1;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (*c < forms[i].low || *c > forms[i].high) continue;
    if (c[1] < forms[i].from || c[1] > forms[i].until) return 0;
    for (int k = 2; k < forms[i].length; k++)
      if (c[k] < 0x80 || c[k] > 0xbf) return 0;
    return forms[i].length;
  }
  return 0;
}

/* Names of files and hosts are bytes. Each byte that is not UTF-8 becomes the replacement character. */
void wtl_json_text(FILE *f, const char *text)
{
  if (!text) {
    fputs("null", f);
    return;
  }
  putc('"', f);
  int length;
  for (const unsigned char *c = (const unsigned char *)text; *c; c += length ? length : 1) {
    length = utf8_length(c);
    if (!length)
      fputs("\\ufffd", f);
    else if (*c == '"' || *c == '\\')
      fprintf(f, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(f, "\\u%04x", *c);
    else
      fwrite(c, 1, (size_t)length, f);
  }
  putc('"', f);
}

void wtl_json_number(FILE *f, double value)
{
  WTL_LOCALE_APART;
  if (!isfinite(value))
    fputs("null", f);
  else if (value == floor(value) && fabs(value) < 1e15)
    fprintf(f, "%.0f", value);
  else
    fprintf(f, "%.9g", value);
}

void wtl_json(FILE *f, const char *form, ...)
{
  va_list given;
  va_start(given, form);
  for (const char *c = form; *c; c++) {
    if (*c != '%') {
      putc(*c == '\'' ? '"' : *c, f);
      continue;
    }
    char size = *++c == 'l' || *c == 'z' || *c == 'j' ? *c++ : 'i';
    if (*c == 's') wtl_json_text(f, va_arg(given, const char *));
    if (*c == 'g') wtl_json_number(f, va_arg(given, double));
    if (*c == 'i') fputs(va_arg(given, int) ? "true" : "false", f);
    if (*c == 'd') fprintf(f, "%ld", size == 'l' ? va_arg(given, long) : (long)va_arg(given, int));
    if (*c == 'x') fprintf(f, "%jx", va_arg(given, uintmax_t));
    if (*c == 'u') fprintf(f, "%ju", size == 'z' ? va_arg(given, size_t) : va_arg(given, uintmax_t));
  }
  va_end(given);
}

void wtl_json_key(FILE *f, const char *key, int first)
{
  if (!first) putc(',', f);
  wtl_json_text(f, key);
  putc(':', f);
}

void wtl_json_number_field(FILE *f, const char *key, double value, int first)
{
  wtl_json_key(f, key, first);
  wtl_json_number(f, value);
}

void wtl_json_text_field(FILE *f, const char *key, const char *value, int first)
{
  wtl_json_key(f, key, first);
  wtl_json_text(f, value);
}
