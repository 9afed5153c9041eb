/*
 * check.h - the smallest test program: named tests, checks that say what failed and go on, a non-zero exit if any did.
 *
 * A program lists its tests with TESTS(...) and is run with the name of one, or without a name for all of them.
 */
#ifndef WTL_TESTS_CHECK_H
#define WTL_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"

static int check_failures;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      check_failures++;                                                                                                \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                        \
    }                                                                                                                  \
  } while (0)

#define CHECK_NEAR(got, want, tolerance)                                                                               \
  do {                                                                                                                 \
    double got_ = (got), want_ = (want), tolerance_ = (tolerance);                                                     \
    if (!(fabs(got_ - want_) <= tolerance_)) {                                                                         \
      check_failures++;                                                                                                \
      fprintf(stderr, "%s:%d: %s is %.12g, must be %.12g +- %.3g\n", __FILE__, __LINE__, #got, got_, want_,            \
              tolerance_);                                                                                             \
    }                                                                                                                  \
  } while (0)

#define CHECK_TEXT(got, want)                                                                                          \
  do {                                                                                                                 \
    const char *got_ = (got), *want_ = (want);                                                                         \
    if (strcmp(got_, want_) != 0) {                                                                                    \
      check_failures++;                                                                                                \
      fprintf(stderr, "%s:%d: %s is \"%s\", must be \"%s\"\n", __FILE__, __LINE__, #got, got_, want_);                 \
    }                                                                                                                  \
  } while (0)

#define CHECK_CONTAINS(got, want)                                                                                      \
  do {                                                                                                                 \
    const char *got_ = (got), *want_ = (want);                                                                         \
    if (!strstr(got_, want_)) {                                                                                        \
      check_failures++;                                                                                                \
      fprintf(stderr, "%s:%d: %s is \"%s\", must contain \"%s\"\n", __FILE__, __LINE__, #got, got_, want_);            \
    }                                                                                                                  \
  } while (0)

/* A number that the library has printed. */
static inline double check_number(const char *text)
{
  WTL_LOCALE_APART;
  return atof(text);
}

typedef struct check_test {
  const char *name;
  void (*run)(void);
} check_test;

#define TEST(name)                                                                                                     \
  {                                                                                                                    \
#name, name                                                                                                        \
  }

static inline int check_main(int argc, char **argv, const check_test *tests, size_t n)
{
  size_t ran = 0;
  setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* a program may have a decimal comma; tests/CMakeLists.txt makes this locale */
  for (size_t i = 0; i < n; i++) {
    if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) continue;
    int before = check_failures;
    tests[i].run();
    printf("%s %s\n", check_failures == before ? "ok  " : "FAIL", tests[i].name);
    ran++;
  }
  if (ran == 0) fprintf(stderr, "no test %s\n", argc > 1 ? argv[1] : "");
  return check_failures != 0 || ran == 0;
}

#define TESTS(...)                                                                                                     \
  int main(int argc, char **argv)                                                                                      \
  {                                                                                                                    \
    static const check_test tests[] = {__VA_ARGS__};                                                                   \
    return check_main(argc, argv, tests, sizeof tests / sizeof *tests);                                                \
  }

#endif
