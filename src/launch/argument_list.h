/* argument_list.h - a command line that grows word by word. */
#ifndef WTL_LAUNCH_ARGUMENT_LIST_H
#define WTL_LAUNCH_ARGUMENT_LIST_H

#include <stddef.h>
#include <stdio.h>

typedef struct wtl_words {
  char **at; /* n words, then NULL; NULL while there are no words. Owned, with the words. */
  size_t n;
} wtl_words;

/* Adds a copy of `word`. Ends the process if there is no memory. */
void wtl_arguments_add(wtl_words *w, const char *word);

/* Adds a word, formatted as by printf. */
void wtl_arguments_format(wtl_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void wtl_arguments_free(wtl_words *w);

/* Writes the words with spaces between them, quoted so that a shell reads them unchanged. */
void wtl_arguments_print(const wtl_words *w, FILE *out);

#endif
