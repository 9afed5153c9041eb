/* json_line.h - members of a JSON line, each with a comma before it: the line begins with a text, such as its kind.
 * An unknown number is null. */
#ifndef BENCH_JSON_LINE_H
#define BENCH_JSON_LINE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static inline void print_number(const char *name, double v)
{
  if (isfinite(v))
    printf(",\"%s\":%.9g", name, v);
  else
    printf(",\"%s\":null", name);
}

static inline void print_flag(const char *name, bool v)
{
  printf(",\"%s\":%s", name, v ? "true" : "false");
}

static inline void print_text(const char *name, const char *text)
{
  printf(",\"%s\":\"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else
      putchar((unsigned char)*text < ' ' ? ' ' : *text);
  putchar('"');
}

static inline void print_list(const char *name, const double *v, int n)
{
  printf(",\"%s\":[", name);
  for (int i = 0; i < n; i++)
    if (isfinite(v[i]))
      printf("%s%.9g", i ? "," : "", v[i]);
    else
      printf("%snull", i ? "," : "");
  putchar(']');
}

/* Begin and end of a block, by the time of day. */
typedef struct block_time {
  double begin, end;
} block_time;

static inline void print_span(block_time block, double share)
{
  printf("{\"begin_s\":%.6f,\"end_s\":%.6f,\"share\":%.9g}", block.begin, block.end, share);
}

/* Prints "spans":[{begin, end, share}, ...], from which the joules of an external meter are found: those of each
 * span, times its share. A second span without a share is left out. */
static inline void print_spans(block_time block, double share, block_time other, double other_share)
{
  printf(",\"spans\":[");
  print_span(block, share);
  if (other_share != 0) {
    putchar(',');
    print_span(other, other_share);
  }
  putchar(']');
}

/* Ends the line at once, so that lines of several PEs do not mix. */
static inline void end_line(void)
{
  printf("}\n");
  fflush(stdout);
}

#endif
