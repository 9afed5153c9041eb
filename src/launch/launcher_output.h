/* launcher_output.h - forwards the launcher's output and finds the lines that report how PEs ended. */
#ifndef WTL_LAUNCH_LAUNCHER_OUTPUT_H
#define WTL_LAUNCH_LAUNCHER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_launcher_output {
  int from, to; /* the launcher's pipe (-1 after its end), and the descriptor that receives its output */
  int (*reported_code)(const char *line); /* as in launcher.h */
  int reported;                           /* first exit code found; -1: none */
  char line[512];                         /* the current line so far, cut to the size of the buffer */
  size_t length;
} wtl_launcher_output;

/*
 * Forwards output that has arrived, at most one buffer. Returns false and closes `from` at the end of the output, and
 * if `to` no longer accepts it.
 */
bool wtl_launcher_output_forward(wtl_launcher_output *h);

/* Forwards the output that is still in the pipe without waiting, then closes the pipe. */
void wtl_launcher_output_drain(wtl_launcher_output *h);

#endif
