/*
 * floats.h - keeps the library's arithmetic apart from the floating-point environment of the program.
 *
 * DESIGN. A program may trap floating-point exceptions (gfortran -ffpe-trap, feenableexcept), read their flags, or set
 * a rounding mode or flush-to-zero. The library compares with NaN, for "not known", and rounds. In the program's
 * environment that ends the program by SIGFPE or leaves a flag set. A function that declares WTL_FLOATS_APART runs in
 * the default environment. At its end the program's environment is as it was, flags included.
 *
 * Such a function must run no code of the program (handlers, reductions), which belongs to the program's environment.
 * tools/check_floats.py finds arithmetic that no such function guards. It looks at the compiled code, where it also
 * sees that x86-64 needs MXCSR alone: no code of the library uses the x87 unit. Where the environment is already the
 * default one the guard takes a nanosecond. The functions of <fenv.h> take 0.2 us.
 */
#ifndef WTL_OS_FLOATS_H
#define WTL_OS_FLOATS_H

#include <fenv.h>

#if defined(__x86_64__)

typedef unsigned wtl_floats;

/* All exceptions masked, round to nearest, denormal numbers kept; and the flags. */
enum { WTL_MXCSR_DEFAULT = 0x1f80, WTL_MXCSR_FLAGS = 0x3f };

static inline wtl_floats wtl_floats_hold(void)
{
  unsigned found = __builtin_ia32_stmxcsr();
  if (__builtin_expect((found & ~(unsigned)WTL_MXCSR_FLAGS) != WTL_MXCSR_DEFAULT, 0))
    __builtin_ia32_ldmxcsr(WTL_MXCSR_DEFAULT);
  __asm__ volatile("" ::: "memory");
  return found;
}

static inline void wtl_floats_release(const wtl_floats *found)
{
  __asm__ volatile("" ::: "memory");
  if (__builtin_ia32_stmxcsr() != *found) __builtin_ia32_ldmxcsr(*found);
}

/* The environment of the x87 unit. glibc's printf and strtod round as its control word says, not as MXCSR does. */
typedef struct wtl_x87 {
  unsigned short control;
  unsigned environment[7]; /* if `control` is not the default */
} wtl_x87;

enum { WTL_X87_DEFAULT = 0x37f };

/* fnstenv also masks all exceptions. An unmasked one that is pending would trap in fldcw. */
static inline wtl_x87 wtl_x87_hold(void)
{
  wtl_x87 found;
  const unsigned short usual = WTL_X87_DEFAULT;
  __asm__ volatile("fnstcw %0" : "=m"(found.control));
  if (__builtin_expect(found.control == WTL_X87_DEFAULT, 1)) return found;
  __asm__ volatile("fnstenv %0\n\tfldcw %1" : "=m"(found.environment) : "m"(usual) : "memory");
  return found;
}

static inline void wtl_x87_release(const wtl_x87 *found)
{
  if (__builtin_expect(found->control == WTL_X87_DEFAULT, 1)) return;
  __asm__ volatile("fldenv %0" : : "m"(found->environment) : "memory");
}

#else

typedef fenv_t wtl_floats;
typedef fenv_t wtl_x87; /* there is one environment for everything */

static inline wtl_floats wtl_floats_hold(void)
{
  fenv_t found;
  fegetenv(&found);
  fesetenv(FE_DFL_ENV);
  return found;
}

static inline void wtl_floats_release(const wtl_floats *found)
{
  fesetenv(found);
}

static inline wtl_x87 wtl_x87_hold(void)
{
  return wtl_floats_hold();
}

static inline void wtl_x87_release(const wtl_x87 *found)
{
  wtl_floats_release(found);
}

#endif

/* As a declaration at the beginning of a function: the rest of it runs in the default environment. */
#define WTL_FLOATS_APART                                                                                               \
  __attribute__((cleanup(wtl_floats_release), unused)) const wtl_floats wtl_floats_found = wtl_floats_hold()

/* The same with the x87 unit, where code that is not the library's may use it. */
#define WTL_ENVIRONMENT_APART                                                                                          \
  WTL_FLOATS_APART;                                                                                                    \
  __attribute__((cleanup(wtl_x87_release), unused)) const wtl_x87 wtl_x87_found = wtl_x87_hold()

#endif
