/* marking_tools.c - a library with the functions of Caliper and TAU that mark regions. It notes each call, in order. */
#include <stdio.h>
#include <string.h>

static char noted[4096];

static void note(const char *call, const char *name)
{
  size_t n = strlen(noted);
  snprintf(noted + n, sizeof noted - n, " %s(%s)", call, name);
}

const char *noted_calls(void)
{
  return noted;
}

#define NOTED(call)            \
  void call(const char *name)  \
  {                            \
    note(#call, name);         \
  }
NOTED(cali_begin_region)
NOTED(cali_end_region)
NOTED(cali_begin_phase)
NOTED(cali_end_phase)
NOTED(Tau_start)
NOTED(Tau_stop)

/* cali::Function::Function(const char *) and its destructor, which are called by their mangled names. */
void cali_function(void *self, const char *name) __asm__("_ZN4cali8FunctionC1EPKc");
void cali_function(void *self, const char *name)
{
  *(const char **)self = name;
  note("Function", name);
}

void cali_function_end(void *self) __asm__("_ZN4cali8FunctionD1Ev");
void cali_function_end(void *self)
{
  note("~Function", *(const char **)self);
}
