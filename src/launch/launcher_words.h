/*
 * words.h - a command line that grows word by word.
 */
#ifndef WTL_LAUNCH_LAUNCHER_WORDS_H
#define WTL_LAUNCH_LAUNCHER_WORDS_H

#include <stddef.h>
#include <stdio.h>

typedef struct wtl_words {
  char **at; /* n words, then NULL; NULL while there are none. Owned, as are the words. */
  size_t n;
} wtl_words;

/* Adds a copy of `word`; ends the process where there is no memory. */
void wtl_words_add(wtl_words *w, const char *word);

/* Adds a word made as printf does. */
void wtl_words_format(wtl_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void wtl_words_free(wtl_words *w);

/* Writes the words so that a shell reads them as they are, with a space between them. */
void wtl_words_print(const wtl_words *w, FILE *out);

#endif
