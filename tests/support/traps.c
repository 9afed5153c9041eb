/* traps.c - linked with a test program: traps floating-point exceptions in it and checks at its end that nothing has
 * changed its floating-point environment. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept */
#endif
#include <fenv.h>
#include <stdio.h>
#include <unistd.h>

enum { TRAPPED = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
static int trapped; /* none under Valgrind, which has no traps */

__attribute__((constructor)) static void trap(void)
{
  feclearexcept(TRAPPED);
  feenableexcept(TRAPPED);
  trapped = fegetexcept();
}

__attribute__((destructor)) static void check(void)
{
  if (fegetexcept() == trapped && fetestexcept(TRAPPED) == 0 && fegetround() == FE_TONEAREST) return;
  fprintf(stderr, "the floating-point environment has changed: traps 0x%x, flags 0x%x, rounding 0x%x\n", fegetexcept(),
          fetestexcept(TRAPPED), fegetround());
  _exit(99);
}
