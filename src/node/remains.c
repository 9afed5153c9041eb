#include "node/remains.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

bool wtl_remains_remove(const char *session)
{
  const char *name = session ? strrchr(session, '/') : NULL;
  int pid = name && strncmp(name, "/pid.", 5) == 0 ? atoi(name + 5) : 0;
  char parent[4096];
  if (pid <= 1 || access(session, F_OK) != 0) return true;
  if (kill(pid, 0) == 0 || errno != ESRCH) return false;
  nftw(session, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  snprintf(parent, sizeof parent, "%.*s", (int)(name - session), session);
  if (strstr(parent, "/ompi.")) rmdir(parent);
  return access(session, F_OK) != 0;
}
