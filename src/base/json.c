#include "base/json.h"

#include <math.h>
#include <string.h>

void wtl_json_text(FILE *f, const char *text)
{
  if (!text) {
    fputs("null", f);
    return;
  }
  putc('"', f);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(f, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(f, "\\u%04x", *c);
    else
      putc(*c, f);
  }
  putc('"', f);
}

void wtl_json_number(FILE *f, double value)
{
  char text[64];
  if (!isfinite(value))
    fputs("null", f);
  else if (value == floor(value) && fabs(value) < 1e15)
    fprintf(f, "%.0f", value);
  else {
    snprintf(text, sizeof text, "%.9g", value);
    /* The program may have chosen a locale whose decimal point is a comma. */
    for (char *c = text; *c; c++)
      if (!strchr("0123456789+-e", *c)) *c = '.';
    fputs(text, f);
  }
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
