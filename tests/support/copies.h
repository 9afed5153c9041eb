/*
 * Mistakes that must end a process, many of them in one job: each is made in a copy of a PE's process. The program takes
 * the place of the function by which the copy would end the job. Needs _GNU_SOURCE, and a link with exported symbols.
 */
#ifndef WTL_TESTS_COPIES_H
#define WTL_TESTS_COPIES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int PMIx_Abort(int status, const char *message, void *processes, size_t n);
int PMIx_Abort(int status, const char *message, void *processes, size_t n)
{
  (void)status, (void)message, (void)processes, (void)n;
  return 0;
}

/* Returns 1 in the copy, which makes the mistake and then calls copy_went_on. Returns 0 in the process itself, after the
 * copy has ended and its exit code is printed. Not fork, which would tell the library that the copy is no PE; so
 * variables that PEs share are shared with the copy, too. */
static int copy_makes(const char *mistake)
{
  int status = 0;
  fprintf(stderr, "mistake %s\n", mistake);
  fflush(NULL);
  pid_t copy = _Fork();
  if (copy == 0) return 1;
  if (copy < 0 || waitpid(copy, &status, 0) != copy) exit(99);
  printf("%s: %d\n", mistake, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}

static void copy_went_on(void)
{
  puts("went on");
  fflush(NULL);
  _exit(0);
}

#endif
