/* ancestor.c - finds the launcher of this process by the environment of its ancestors. */
#include "node/ancestor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t parent_of(pid_t pid)
{
  char path[64], line[512], *rest;
  int parent = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *f = fopen(path, "re");
  if (f && fgets(line, sizeof line, f) && (rest = strrchr(line, ')')) != NULL) sscanf(rest, ") %*c %d", &parent);
  if (f) fclose(f);
  return parent;
}

/* Returns whether process `pid` was started with the variable. A process whose environment this one may not read
 * does not belong to the job. */
static bool has_variable(pid_t pid, const char *name)
{
  char path[64], *line = NULL;
  size_t capacity = 0, length = strlen(name);
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
  FILE *f = fopen(path, "re");
  while (f && !found && getdelim(&line, &capacity, '\0', f) > 0)
    found = strncmp(line, name, length) == 0 && line[length] == '=';
  if (f) fclose(f);
  free(line);
  return found;
}

pid_t wtl_ancestor_launcher(void)
{
  static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
  pid_t pid = getppid();
  size_t i = 0;
  while (i < sizeof names / sizeof names[0] && !getenv(names[i])) i++;
  if (i == sizeof names / sizeof names[0]) return 0;
  while (pid > 1 && has_variable(pid, names[i])) pid = parent_of(pid);
  return pid > 1 ? pid : 0;
}
