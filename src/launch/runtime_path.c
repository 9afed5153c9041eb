/* runtime_path.c - LD_LIBRARY_PATH with the folder of this installation's libraries. */
#include "launch/runtime_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "LD_LIBRARY_PATH";
static char folder[PATH_MAX]; /* empty: not set */

static bool find_folder(void)
{
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return false;
  self[n] = '\0';
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = '\0';
  }
  int length = snprintf(folder, sizeof folder, "%s/lib/wattle/runtime", self);
  /* A colon would end the path in the middle. */
  if (length > 0 && (size_t)length < sizeof folder && !strchr(folder, ':') && access(folder, X_OK) == 0) return true;
  folder[0] = '\0';
  return false;
}

void wtl_runtime_path_set(wtl_words *variables)
{
  const char *old = getenv(name);
  if (!find_folder()) return;
  if (old && *old)
    wtl_arguments_format(variables, "%s=%s:%s", name, old, folder);
  else
    wtl_arguments_format(variables, "%s=%s", name, folder);
  setenv(name, strchr(variables->at[variables->n - 1], '=') + 1, 1);
}

bool wtl_runtime_path_is(const char *variable)
{
  return *folder && strncmp(variable, name, sizeof name - 1) == 0 && variable[sizeof name - 1] == '=';
}
