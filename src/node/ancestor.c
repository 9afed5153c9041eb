/* ancestor.c - finds the launcher of this process, and its other processes, by the environments of processes. */
#include "node/ancestor.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/process.h"

static const char rank_of_pmix[] = "PMIX_RANK", namespace_of_pmix[] = "PMIX_NAMESPACE";

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

/* Returns the value of the variable with which process `pid` was started, to be freed; NULL if it has none. A process
 * whose environment this one may not read does not belong to the job. */
static char *variable_of(pid_t pid, const char *name)
{
  char path[64], *line = NULL;
  size_t capacity = 0, length = strlen(name);
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
  FILE *f = fopen(path, "re");
  while (f && !found && getdelim(&line, &capacity, '\0', f) > 0)
    found = strncmp(line, name, length) == 0 && line[length] == '=';
  if (f) fclose(f);
  char *value = found ? strdup(line + length + 1) : NULL;
  free(line);
  return value;
}

static bool has_variable(pid_t pid, const char *name)
{
  char *value = variable_of(pid, name);
  free(value);
  return value != NULL;
}

/* Returns the nearest ancestor of process `pid` that lacks the variable; 0 or 1 if there is none. */
static pid_t ancestor_without(pid_t pid, const char *name)
{
  do pid = parent_of(pid);
  while (pid > 1 && has_variable(pid, name));
  return pid;
}

pid_t wtl_ancestor_launcher(void)
{
  static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", rank_of_pmix};
  size_t i = 0;
  while (i < sizeof names / sizeof names[0] && !getenv(names[i])) i++;
  if (i == sizeof names / sizeof names[0]) return 0;
  pid_t pid = ancestor_without((pid_t)wtl_process_in_proc(), names[i]);
  return pid > 1 ? pid : 0;
}

/* Returns the number of process `pid` if it belongs to this namespace of PMIx and to this launcher, otherwise -1. */
static long rank_in(const char *name, pid_t launcher, pid_t pid)
{
  char *other = variable_of(pid, namespace_of_pmix), *rank = NULL;
  if (other && strcmp(other, name) == 0 && ancestor_without(pid, rank_of_pmix) == launcher)
    rank = variable_of(pid, rank_of_pmix);
  long number = rank ? atol(rank) : -1;
  free(other);
  free(rank);
  return number;
}

/* A process of the job and its children have one number. */
static size_t add_once(long **ranks, size_t n, long rank)
{
  for (size_t i = 0; i < n; i++)
    if ((*ranks)[i] == rank) return n;
  long *longer = realloc(*ranks, (n + 1) * sizeof *longer);
  if (!longer) return n;
  *ranks = longer;
  longer[n] = rank;
  return n + 1;
}

int wtl_ancestor_count_job(void)
{
  const char *name = getenv(namespace_of_pmix);
  pid_t launcher = ancestor_without((pid_t)wtl_process_in_proc(), rank_of_pmix);
  long *ranks = NULL, rank;
  size_t n = 0;
  DIR *all = name && getenv(rank_of_pmix) ? opendir("/proc") : NULL;
  for (struct dirent *entry; all && (entry = readdir(all)) != NULL;)
    if (atol(entry->d_name) > 0 && (rank = rank_in(name, launcher, (pid_t)atol(entry->d_name))) >= 0)
      n = add_once(&ranks, n, rank);
  if (all) closedir(all);
  free(ranks);
  return (int)n;
}
