/* scratch.c - allocates the memory of a team that its collectives use. */
#include <stdlib.h>

#include "base/error.h"
#include "collective/algorithms.h"

char *wtl_collective_scratch(wtl_team *t)
{
  if (!t->scratch && !(t->scratch = malloc(wtl_scratch_bytes(t))))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the collectives' %zu bytes", wtl_scratch_bytes(t));
  return t->scratch;
}

/* An active set exists for one call, and its scratch memory with it. */
void wtl_scratch_back(wtl_team *t)
{
  if (!t->sync) return;
  free(t->scratch);
  t->scratch = NULL;
}
