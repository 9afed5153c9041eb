/* yaml_words.c - says an error of libcyaml in plain words: the key, the expected value and the found one. */
#include "power/machine/yaml/yaml_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 }; /* keys that lead to a value */

/* The texts of libcyaml, each followed by a value, and the words that replace them. */
static const struct {
  const char *says, *before, *after;
} words[] = {
    {"Invalid FLOAT value: ", "expected a number, found '", "'"},
    {"Invalid INT value: ", "expected a whole number, found '", "'"},
    {"Invalid UINT value: ", "expected a whole number from 0, found '", "'"},
    {"Invalid uint64_t value: ", "expected a whole number from 0, found '", "'"},
    {"Invalid BOOL value: ", "expected true or false, found '", "'"},
    {"Invalid ENUM value: ", "expected cited, derived or assumed, found '", "'"},
    {"Unexpected key: ", "there is no key '", "' here"},
    {"Missing required mapping field: ", "the key '", "' is missing"},
    {"Mapping field already seen: ", "the key '", "' stands here twice"},
    {"Expecting MAPPING, got event: ", "expected keys with values", NULL},
    {"Expecting SEQUENCE, got event: ", "expected a list", NULL},
    {"Expecting ", "expected a single value", NULL},
    {"libyaml: ", "is no YAML: ", ""},
};

/* Adds `length` characters of a text, without quotes at both ends, as far as there is space. */
static void add(char *out, size_t size, const char *text, size_t length)
{
  size_t used = strlen(out);
  if (length >= 2 && text[0] == '\'' && text[length - 1] == '\'') text++, length -= 2;
  if (used < size) snprintf(out + used, size - used, "%.*s", (int)length, text);
}

/*
 * Adds the keys to the place of the error, the outermost first, such as `clocks[1].active: `. `is_missing`: a key is
 * missing. libcyaml then names the last key before the end of the mapping, too, which is left out.
 */
static void add_place(char *out, size_t size, const char *errors, bool is_missing)
{
  static const char field[] = "in mapping field '", entry[] = "in sequence entry '";
  const char *names[DEEPEST];
  bool entries[DEEPEST];
  int n = 0;
  for (const char *at = errors; n < DEEPEST && (at = strstr(at, " in ")) != NULL; at++) {
    entries[n] = strncmp(at + 1, entry, sizeof entry - 1) == 0;
    if (!entries[n] && strncmp(at + 1, field, sizeof field - 1) != 0) continue;
    names[n] = at + 1 + (entries[n] ? sizeof entry : sizeof field) - 1;
    n++;
  }
  int last = is_missing && n && !entries[0] ? 1 : 0;
  for (int i = n - 1; i >= last; i--) {
    char number[16];
    snprintf(number, sizeof number, "[%d]", atoi(names[i]) - 1); /* libcyaml counts entries from 1 */
    if (!entries[i] && i < n - 1) add(out, size, ".", 1);
    add(out, size, entries[i] ? number : names[i], entries[i] ? strlen(number) : strcspn(names[i], "'"));
  }
  if (n > last) add(out, size, ": ", 2);
}

void wtl_yaml_words(const char *errors, char *out, size_t size)
{
  static const char mark[] = "Load: ";
  const char *said = strncmp(errors, mark, sizeof mark - 1) == 0 ? errors + sizeof mark - 1 : errors;
  const char *end = strstr(said, " Load: ");
  size_t length = end ? (size_t)(end - said) : strlen(said), i = 0;
  while (length && said[length - 1] == ' ') length--;
  out[0] = '\0';
  add_place(out, size, end ? end : "", strncmp(said, "Missing", strlen("Missing")) == 0);
  while (i < sizeof words / sizeof words[0] && strncmp(said, words[i].says, strlen(words[i].says)) != 0) i++;
  if (i == sizeof words / sizeof words[0]) {
    add(out, size, said, length);
    return;
  }
  add(out, size, words[i].before, strlen(words[i].before));
  if (!words[i].after) return;
  add(out, size, said + strlen(words[i].says), length - strlen(words[i].says));
  add(out, size, words[i].after, strlen(words[i].after));
}
