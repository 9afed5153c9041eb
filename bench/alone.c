/* alone.c - the smallest program that PMIx can start: init, one fence, finalize. See empty.h. */
#include <pmix.h>

#include "empty.h"

static void must(pmix_status_t rc, const char *call)
{
  char line[200];
  if (rc == PMIX_SUCCESS) return;
  snprintf(line, sizeof line, "alone: %s failed: %s\n", call, PMIx_Error_string(rc));
  if (write(STDERR_FILENO, line, strlen(line)) < 0) _exit(74);
  _exit(70);
}

int main(int argc, char **argv)
{
  double began = now(), ready, leaving;
  pmix_proc_t self;
  must(PMIx_Init(&self, NULL, 0), "PMIx_Init");
  must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
  ready = now();
  if (argc == 3 && strcmp(argv[1], "hold") == 0) hold((int)self.rank, argv[2]);
  leaving = now();
  must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  if (argc == 1) tell_times((int)self.rank, began, ready, leaving, now());
  return 0;
}
