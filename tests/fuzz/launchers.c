/*
 * launchers.c - fuzzes the output of a launcher with lines of programs. Only the exit code of a process may count as
 * one.
 */
#include "fuzz.h"
#include "launch/launcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const wtl_launcher *const launchers[] = {&wtl_launcher_mpich, &wtl_launcher_srun};
  fuzz_input in = {data, data + size};
  const wtl_launcher *launcher = launchers[fuzz_below(&in, 2)];
  char *line = fuzz_line(&in, 511);
  int code = launcher->reported_code(line);
  FUZZ_MUST(code >= -1 && code < 256);
  free(line);
  return 0;
}
