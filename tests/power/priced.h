/* priced.h - what the model says of a machine profile, for tests of what rests on it. */
#ifndef WTL_TESTS_PRICED_H
#define WTL_TESTS_PRICED_H

#include <stdio.h>
#include <stdlib.h>

#include "power/machine/machine.h"

/* The caller frees it. Ends the test where it cannot be had. */
static inline wtl_machine *priced_load(const char *name)
{
  char error[512] = "";
  wtl_machine *m = wtl_machine_load(name, "/sys", error, sizeof error);
  if (!m) {
    fprintf(stderr, "%s\n", error);
    exit(2);
  }
  return m;
}

/* A process's CPU joules. */
static inline double priced_joules(const wtl_machine *m, wtl_activity a)
{
  wattle_joules_t f[2];
  wtl_model_pe(m, &a, f);
  return f[0].joules;
}

#endif
