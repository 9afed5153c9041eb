/* helper_program.c - starts a program of this installation that works beside the process. */
#include "base/helper_program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/library_module.h"

void wtl_helper_path(const char *name, char path[WTL_HELPER_PATH])
{
  wtl_library_path("../bin/", name, "", path, WTL_HELPER_PATH);
}

static char **environment_without_preload(void)
{
  size_t n = 0, kept = 0;
  while (environ[n]) n++;
  char **out = malloc((n + 1) * sizeof *out);
  for (size_t i = 0; out && i < n; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LD_AUDIT=", 9) != 0)
      out[kept++] = environ[i];
  if (out) out[kept] = NULL;
  return out;
}

int wtl_helper_start(char *const *words, char *const *environment, const int *kept, size_t n)
{
  pid_t pid;
  int status;
  posix_spawn_file_actions_t files;
  char **own = environment ? NULL : environment_without_preload();
  if (!environment && !own) return ENOMEM;
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  for (size_t i = 0; i < n; i++) /* dup2 onto itself keeps it open */
    posix_spawn_file_actions_adddup2(&files, kept[i], kept[i]);
  int error = posix_spawnp(&pid, words[0], &files, NULL, words, own ? own : environment);
  while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  posix_spawn_file_actions_destroy(&files);
  free(own);
  return error;
}
