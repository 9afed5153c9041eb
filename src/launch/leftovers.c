/* leftovers.c - removes files of this node's memory, and runs wattle-profiles, which lies beside oshrun, if processes
 * left counts there. */
#include "launch/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/process.h"
#include "node/stale_files.h"

static const char prefix[] = "wattle-profile."; /* as in src/profile/kept.h */

static bool has_files(void)
{
  bool found = false;
  DIR *all = opendir("/dev/shm");
  for (struct dirent *entry; all && !found && (entry = readdir(all)) != NULL;)
    found = strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0;
  if (all) closedir(all);
  return found;
}

static bool find_tool(char *path, size_t size)
{
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  if (n <= 0) return false;
  path[n] = '\0';
  char *slash = strrchr(path, '/');
  size_t left = slash ? size - (size_t)(slash + 1 - path) : 0;
  return slash && snprintf(slash + 1, left, "wattle-profiles") < (int)left && access(path, X_OK) == 0;
}

void wtl_leftovers_collect(void)
{
  char tool[PATH_MAX];
  const char *folder = getenv("WATTLE_PROFILE_DIR"), *run = getenv("OSHRUN_LEAVES_PROFILES");
  wtl_stale_files_of_members();
  if (!folder || !*folder || (run && !wtl_process_is_gone(atoi(run))) || !has_files()) return;
  if (!find_tool(tool, sizeof tool)) return;
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(tool, tool, "collect", folder, "now", (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, NULL, 0);
}
