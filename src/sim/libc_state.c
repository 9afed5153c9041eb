/*
 * libc_state.c - gives each simulated PE its own state of getopt, strtok and the random number generators, which the C
 * library keeps once for a process. All PEs share the C library, but each PE's copy of the program contains this file.
 * The program is linked with --wrap for these functions and variables (libc_calls.c).
 */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- getopt ------------------------------------------------------------------------------------------------------- */

extern int __real_optind, __real_opterr, __real_optopt;
extern char *__real_optarg;

int __wrap_optind = 1, __wrap_opterr = 1, __wrap_optopt = '?';
char *__wrap_optarg;

static bool begun;

/* Loads the PE's state into the C library. A PE's first call resets getopt, which may hold another PE's state. */
static void give(void)
{
  __real_optind = begun || __wrap_optind != 1 ? __wrap_optind : 0;
  __real_opterr = __wrap_opterr;
  begun = true;
}

static int take(int found)
{
  __wrap_optind = __real_optind;
  __wrap_optopt = __real_optopt;
  __wrap_optarg = __real_optarg;
  return found;
}

int __real_getopt(int argc, char *const *argv, const char *options);
int __wrap_getopt(int argc, char *const *argv, const char *options)
{
  give();
  return take(__real_getopt(argc, argv, options));
}

#define GETOPT_LONG(name)                                                                                              \
  int __real_##name(int argc, char *const *argv, const char *options, const struct option *all, int *index);           \
  int __wrap_##name(int argc, char *const *argv, const char *options, const struct option *all, int *index);           \
  int __wrap_##name(int argc, char *const *argv, const char *options, const struct option *all, int *index)            \
  {                                                                                                                    \
    give();                                                                                                            \
    return take(__real_##name(argc, argv, options, all, index));                                                       \
  }
GETOPT_LONG(getopt_long)
GETOPT_LONG(getopt_long_only)

/* --- strtok ------------------------------------------------------------------------------------------------------- */

char *__wrap_strtok(char *text, const char *delimiters)
{
  static char *rest;
  return strtok_r(text, delimiters, &rest);
}

/* --- random numbers ----------------------------------------------------------------------------------------------- */

static struct random_data random_now;
static char *random_state;

/* Starts as the C library does: with seed 1 and 128 bytes of state. */
static struct random_data *numbers(void)
{
  static char first[128];
  if (!random_state) initstate_r(1, random_state = first, sizeof first, &random_now);
  return &random_now;
}

long __wrap_random(void)
{
  int32_t number;
  random_r(numbers(), &number);
  return number;
}

int __wrap_rand(void)
{
  return (int)__wrap_random();
}

void __wrap_srandom(unsigned seed)
{
  srandom_r(seed, numbers());
}

void __wrap_srand(unsigned seed)
{
  __wrap_srandom(seed);
}

char *__wrap_initstate(unsigned seed, char *state, size_t n)
{
  char *before = (numbers(), random_state);
  if (initstate_r(seed, state, n, &random_now) != 0) return NULL;
  random_state = state;
  return before;
}

char *__wrap_setstate(char *state)
{
  char *before = (numbers(), random_state);
  if (setstate_r(state, &random_now) != 0) return NULL;
  random_state = state;
  return before;
}

static struct drand48_data number48;

double __wrap_drand48(void)
{
  double number;
  drand48_r(&number48, &number);
  return number;
}

long __wrap_lrand48(void)
{
  long number;
  lrand48_r(&number48, &number);
  return number;
}

long __wrap_mrand48(void)
{
  long number;
  mrand48_r(&number48, &number);
  return number;
}

void __wrap_srand48(long seed)
{
  srand48_r(seed, &number48);
}
