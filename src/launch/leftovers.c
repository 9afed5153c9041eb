/* leftovers.c - removes files of this node's memory, and runs wattle-profiles if processes left counts there. */
#include "launch/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper_program.h"
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

void wtl_leftovers_collect(void)
{
  char tool[WTL_HELPER_PATH];
  const char *folder = getenv("WATTLE_PROFILE_DIR"), *run = getenv("OSHRUN_LEAVES_PROFILES");
  wtl_stale_files_of_members();
  if (!folder || !*folder || (run && !wtl_process_is_gone(atoi(run))) || !has_files()) return;
  wtl_helper_path("wattle-profiles", tool);
  if (access(tool, X_OK) != 0) return;
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(tool, tool, "collect", folder, "now", (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, NULL, 0);
}
