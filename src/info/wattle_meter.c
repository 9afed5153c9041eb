/*
 * wattle_meter.c - the program wattle-meter, which meters other programs for `wattle energy` and for `--stream`.
 *
 * It opens the node's meter, begins an interval and prints a line with the name of the meter. When it then reads a
 * line, it ends the interval and prints the joules as one line of JSON. energy/metered.h describes both lines.
 *
 * With the argument `intervals` each line ends an interval and begins the next. Without it there is one. If standard
 * input ends before the first line, it exits with code 1.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sigpipe.h"
#include "energy/metered.h"

/* Answers each line, or the first one. Returns the exit code. */
static int answer(wtl_metered *metered, bool intervals)
{
  char *line = NULL;
  size_t size = 0;
  bool more = true, good = false;
  wtl_metered_begin(metered);
  puts(wtl_metered_name(metered));
  fflush(stdout);
  while (more && getline(&line, &size, stdin) > 0) {
    good = wtl_metered_end(metered, line, stdout);
    fflush(stdout);
    more = good && intervals;
    wtl_metered_next(metered);
  }
  free(line);
  return good ? 0 : 1;
}

int main(int argc, char **argv)
{
  char error[4096];
  bool intervals = argc == 2 && strcmp(argv[1], "intervals") == 0;
  wtl_sigpipe_outlive();
  if (argc > 1 + intervals) {
    fprintf(stderr, "wattle-meter: %s: expected intervals or nothing\n", argv[1 + intervals]);
    return WTL_EXIT_CONFIG;
  }
  wtl_metered *metered = wtl_metered_open(error, sizeof error);
  if (!metered) {
    fprintf(stderr, "%s\n", error);
    return WTL_EXIT_CONFIG;
  }
  int code = answer(metered, intervals);
  wtl_metered_close(metered);
  return code;
}
