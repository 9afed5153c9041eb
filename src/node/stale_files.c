/* stale_files.c - removes the session directory of a launcher that was killed. */
#include "node/stale_files.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

/* Returns the process number of the launcher in the directory's name; 0 if the name has another form. */
static int owner_of(const char *session)
{
  const char *name = session ? strrchr(session, '/') : NULL;
  int pid = name && strncmp(name, "/pid.", 5) == 0 ? atoi(name + 5) : 0;
  return pid > 1 ? pid : 0;
}

/* A dead process that its parent has not collected counts as gone. */
bool wtl_process_is_gone(int pid)
{
  char path[64], state = '?';
  FILE *f;
  if (kill(pid, 0) != 0) return errno == ESRCH;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if ((f = fopen(path, "re")) == NULL) return false;
  if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = '?';
  fclose(f);
  return state == 'Z' || state == 'X';
}

/* Other users may write to the temporary directory. So only directories of this user are removed, and only if no
 * other user can change them meanwhile. */
static bool is_ours(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* The launcher's number has no meaning in the process namespace of a container. The first namespace has a fixed
 * name. */
static bool sees_all_processes(void)
{
  char name[64] = "";
  return readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 && strcmp(name, "pid:[4026531836]") == 0;
}

bool wtl_stale_files_orphaned(const char *session)
{
  int pid = owner_of(session);
  return pid && wtl_process_is_gone(pid) && sees_all_processes();
}

bool wtl_stale_files_foreign(const char *session)
{
  char parent[4096];
  struct stat st;
  const char *end = session ? strrchr(session, '/') : NULL;
  if (!end) return false;
  snprintf(parent, sizeof parent, "%.*s", (int)(end - session), session);
  if (!strstr(parent, "/ompi.") || lstat(parent, &st) != 0) return false;
  return (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH));
}

bool wtl_stale_files_remove(const char *session)
{
  int pid = owner_of(session);
  char parent[4096];
  if (!pid || access(session, F_OK) != 0) return true;
  if (!wtl_process_is_gone(pid)) return false;
  snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(session, '/') - session), session);
  if (!strstr(parent, "/ompi.") || !is_ours(parent) || !is_ours(session)) return true;
  nftw(session, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  rmdir(parent);
  char *of_parent = strrchr(parent, '/');
  *of_parent = '\0';
  const char *made = strrchr(parent, '/');
  if (made && strncmp(made, "/wattle-", 8) == 0)
    rmdir(parent); /* oshrun made it, and the process that removes it may have been killed */
  return access(session, F_OK) != 0;
}
