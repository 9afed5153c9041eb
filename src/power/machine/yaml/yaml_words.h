/* yaml_words.h - says an error of libcyaml in plain words. */
#ifndef WTL_POWER_YAML_WORDS_H
#define WTL_POWER_YAML_WORDS_H

#include <stddef.h>

/*
 * Writes an error in one line, such as `idle.cpu.value: expected a number, found 'x'`. `errors` are the log lines of
 * libcyaml, joined by spaces: the error, then the keys that lead to its place, from the inside to the outside.
 */
void wtl_yaml_words(const char *errors, char *out, size_t size);

#endif
