/*
 * locale.h - keeps the library's numbers as text apart from the locale and the rounding mode of the program.
 *
 * DESIGN. After setlocale(LC_ALL, "") in a country with a decimal comma, printf writes 0,5 and strtod reads 0.5 as 0.
 * The files, settings and messages of the library have a point. A function that declares WTL_LOCALE_APART prints and
 * reads in the locale "C". Only its thread does, and at its end that thread's locale is as it was. The C library has
 * the locale "C" without memory of its own, so this works in a signal handler and beside a setlocale. After
 * fesetround(FE_UPWARD), printf also writes another last digit. There it rounds to nearest.
 *
 * Such a function must run no code of the program. tests/python/house/test_locale.py finds functions that print or read
 * numbers without the declaration.
 */
#ifndef WTL_OS_LOCALE_H
#define WTL_OS_LOCALE_H

#include <locale.h>

#include "os/floats.h"

typedef struct wtl_locale {
  locale_t locale;
  wtl_x87 x87;
} wtl_locale;

static inline wtl_locale wtl_locale_hold(void)
{
  return (wtl_locale){uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)), wtl_x87_hold()};
}

static inline void wtl_locale_release(const wtl_locale *found)
{
  wtl_x87_release(&found->x87);
  uselocale(found->locale);
}

/* As a declaration at the beginning of a function. */
#define WTL_LOCALE_APART                                                                                               \
  __attribute__((cleanup(wtl_locale_release), unused)) const wtl_locale wtl_locale_found = wtl_locale_hold()

#endif
