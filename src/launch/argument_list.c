/* argument_list.c - a list of words that grows. */
#include "launch/argument_list.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/locale.h"

static void *or_end(void *memory)
{
  if (memory) return memory;
  fputs("oshrun: no memory for the launcher's command line\n", stderr);
  exit(WTL_EXIT_OSERR);
}

void wtl_arguments_add(wtl_words *w, const char *word)
{
  if ((w->n & (w->n + 1)) == 0) /* full: there is space for 2^k words including the final NULL */
    w->at = or_end(realloc(w->at, 2 * (w->n + 1) * sizeof *w->at));
  w->at[w->n++] = or_end(strdup(word));
  w->at[w->n] = NULL;
}

void wtl_arguments_format(wtl_words *w, const char *format, ...)
{
  WTL_LOCALE_APART;
  char *word = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&word, format, args) < 0) word = NULL;
  va_end(args);
  wtl_arguments_add(w, or_end(word));
  free(word);
}

void wtl_arguments_free(wtl_words *w)
{
  for (size_t i = 0; i < w->n; i++) free(w->at[i]);
  free(w->at);
  *w = (wtl_words){0};
}

static void print_quoted(const char *word, FILE *out)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, out);
    return;
  }
  fputc('\'', out);
  for (; *word; word++)
    if (*word == '\'')
      fputs("'\\''", out);
    else
      fputc(*word, out);
  fputc('\'', out);
}

void wtl_arguments_print(const wtl_words *w, FILE *out)
{
  for (size_t i = 0; i < w->n; i++) {
    if (i > 0) fputc(' ', out);
    print_quoted(w->at[i], out);
  }
}
