/* json_read_test.c - tests that the JSON reader shows valid input with its path and refuses all other input. */
#include <stdint.h>
#include <stdio.h>

#include "base/json_read.h"
#include "power/check.h"

static char shown[4096];

static void write_down(void *arg, const wtl_json_leaf *leaf)
{
  size_t at = strlen(shown);
  (void)arg;
  if (leaf->kind == WTL_JSON_IS_TEXT)
    snprintf(shown + at, sizeof shown - at, "%s=\"%s\" ", leaf->path, leaf->text);
  else if (leaf->kind == WTL_JSON_IS_NULL)
    snprintf(shown + at, sizeof shown - at, "%s=null ", leaf->path);
  else
    snprintf(shown + at, sizeof shown - at, "%s=%d/1000 ", leaf->path, (int)(leaf->number * 1000));
}

static const char *read_text(const char *text)
{
  shown[0] = '\0';
  return wtl_json_read(text, strlen(text), write_down, NULL);
}

static void leaves_are_shown_with_their_paths(void)
{
  CHECK(
      !read_text(" {\"a\": {\"b\": 1.5, \"c\": {\"d\": \"x\"}}, \"e\": null, \"f\": true, \"g\": {}, \"h\": -2e0}\n"));
  CHECK_TEXT(shown, "a.b=1500/1000 a.c.d=\"x\" e=null f=1000/1000 h=-2000/1000 ");
  CHECK(!read_text("\"alone\""));
  CHECK_TEXT(shown, "=\"alone\" ");
}

static void elements_of_lists_are_named_by_their_number(void)
{
  CHECK(!read_text("{\"a\": [1, [2], {\"b\": 3}, []], \"c\": 4}"));
  CHECK_TEXT(shown, "a.0=1000/1000 a.1.0=2000/1000 a.2.b=3000/1000 c=4000/1000 ");
  CHECK(read_text("{\"a\": [1, ]}"));
  CHECK(read_text("[1 2]"));
}

static void texts_are_decoded(void)
{
  CHECK(!read_text("{\"a\": \"q\\\"\\\\\\/\\n\\u0041\\u00b5\\u20ac\"}"));
  CHECK_TEXT(shown, "a=\"q\"\\/\nA\xc2\xb5\xe2\x82\xac\" ");
  CHECK(read_text("\"\\x\""));
  CHECK(read_text("\"\\u12g4\""));
  CHECK(read_text("\"\\u12"));
  CHECK(read_text("\"a\nb\""));
}

static void long_texts_are_cut_and_long_paths_hidden(void)
{
  char text[2048], key[600];
  memset(key, 'k', sizeof key);
  snprintf(text, sizeof text, "{\"a\": \"%.*s\", \"%.*s\": {\"b\": 1}, \"c\": 2}", 600, key, 600, key);
  CHECK(!read_text(text));
  CHECK(strlen(shown) == strlen("a=\"\" c=2000/1000 ") + WTL_JSON_TEXT - 1);
  CHECK_CONTAINS(shown, "c=2000/1000 ");
}

static void numbers_are_those_of_json_in_any_locale(void)
{
  static const char *const wrong[] = {"+1", "01", "1.", ".5", "1e", "0x10", "nan", "inf", "-", "1,5", "--1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK(read_text(wrong[i]));
  CHECK(!read_text("{\"a\": 3.25e-1, \"b\": 0.001, \"c\": 12E+1, \"d\": 0}"));
  CHECK_TEXT(shown, "a=325/1000 b=1/1000 c=120000/1000 d=0/1000 ");
}

static void keep_number(void *arg, const wtl_json_leaf *leaf)
{
  *(double *)arg = leaf->number;
}

static double number_of(const char *text)
{
  double number = NAN;
  CHECK(!wtl_json_read(text, strlen(text), keep_number, &number));
  return number;
}

/* Digits and powers of ten without end: never NaN, and infinite only where the number is that large. */
static void numbers_of_any_length_have_their_value(void)
{
  char text[2100];
  CHECK(number_of("0e999") == 0 && number_of("-0.0e99999999999999999999") == 0);
  CHECK(number_of("1e999") == INFINITY && number_of("1e-99999999999999999999") == 0);
  CHECK_NEAR(number_of("1.7976931348623157e308"), 1.7976931348623157e308, 1e293);
  CHECK_NEAR(number_of("12345678901234567890123456789e-28"), 1.2345678901234567, 1e-15);
  memset(text, '0', sizeof text);
  text[0] = '1';
  strcpy(text + 1001, "e-1000");
  CHECK_NEAR(number_of(text), 1, 1e-15);
  memset(text, '0', sizeof text);
  text[1] = '.';
  strcpy(text + 1002, "1e1001");
  CHECK_NEAR(number_of(text), 1, 1e-15);
}

static void text_that_is_not_json_is_refused(void)
{
  static const char *const wrong[] = {"",
                                      " ",
                                      "{",
                                      "}",
                                      "[",
                                      "{\"a\"}",
                                      "{\"a\": }",
                                      "{a: 1}",
                                      "{\"a\": 1",
                                      "{\"a\": 1,",
                                      "tru",
                                      "nulll",
                                      "1 2",
                                      "{} x",
                                      "\"",
                                      "{,}",
                                      "[,]",
                                      ("\x7f"
                                       "ELF"),
                                      "{\"a\" 1}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK(read_text(wrong[i]));
  CHECK(wtl_json_read("1\0002", 3, write_down, NULL));
}

static void nesting_has_an_end(void)
{
  static char deep[100000];
  memset(deep, '[', sizeof deep - 1);
  CHECK(read_text(deep));
  for (size_t i = 0; i + 5 < sizeof deep; i += 5) memcpy(deep + i, "{\"a\":", 5);
  CHECK(read_text(deep));
}

/* Changed bytes never read past the end (the sanitizers check it) and never hang. */
static void rubbish_is_refused_or_read(void)
{
  static const char good[] = "{\"a\": {\"b\": [1.5e-3, \"\\u00b5\\n\", null, true], \"c\": -0.25}, \"d\": \"text\"}";
  uint64_t state = 7;
  char text[sizeof good];
  for (int i = 0; i < 100000; i++) {
    memcpy(text, good, sizeof good);
    for (int k = 0; k < 3; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text[(state >> 33) % (sizeof good - 1)] = (char)(state >> 56);
    }
    shown[0] = '\0';
    wtl_json_read(text, (state >> 20) % sizeof good, write_down, NULL);
  }
}

TESTS(TEST(leaves_are_shown_with_their_paths), TEST(elements_of_lists_are_named_by_their_number),
      TEST(texts_are_decoded), TEST(long_texts_are_cut_and_long_paths_hidden),
      TEST(numbers_are_those_of_json_in_any_locale), TEST(numbers_of_any_length_have_their_value),
      TEST(text_that_is_not_json_is_refused), TEST(nesting_has_an_end), TEST(rubbish_is_refused_or_read))
