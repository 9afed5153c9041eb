/* stale_files.c - removes the files of a launcher that has ended. */
#include "node/stale_files.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/process.h"

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

/* A launcher's session directory. */
typedef struct {
  char top[4096]; /* the directory with a predictable name: the session or its parent */
  int pid;        /* the launcher */
} session_name;

static bool begins(const char *name, const char *prefix)
{
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Finds the last component of the path before `end`; "" if there is none. */
static const char *component(const char *path, const char *end)
{
  while (end > path && end[-1] != '/') end--;
  return end;
}

/* Reads NAME.HOST.PID.UID. */
static int owner_of_prrte(const char *name)
{
  const char *uid = strrchr(name, '.'), *pid = uid;
  while (pid && pid > name && pid[-1] != '.') pid--;
  return uid && pid > name ? atoi(pid) : 0;
}

/* Returns false if the name has neither form, Open MPI 4's or that of Open MPI 5's PRRTE. */
static bool read_name(session_name *s, const char *session)
{
  if (!session) return false;
  size_t length = strlen(session);
  const char *name = component(session, session + length);
  if (begins(name, "pid.") && name > session && begins(component(session, name - 1), "ompi.")) {
    s->pid = atoi(name + 4);
    length = (size_t)(name - 1 - session);
  } else {
    s->pid = begins(name, "prte") ? owner_of_prrte(name) : 0;
  }
  return s->pid > 1 && snprintf(s->top, sizeof s->top, "%.*s", (int)length, session) < (int)sizeof s->top;
}

/* Other users may write to the temporary directory. So only directories of this user are removed, and only if no
 * other user can change them meanwhile. */
static bool is_ours(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool wtl_stale_files_orphaned(const char *session)
{
  session_name s;
  return read_name(&s, session) && wtl_process_is_gone(s.pid) && wtl_process_sees_all();
}

bool wtl_stale_files_foreign(const char *session)
{
  session_name s;
  struct stat st;
  if (!read_name(&s, session) || lstat(s.top, &st) != 0) return false;
  return (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH));
}

bool wtl_stale_files_remove(const char *session)
{
  session_name s;
  if (!read_name(&s, session) || access(session, F_OK) != 0) return true;
  if (!wtl_process_is_gone(s.pid)) return false;
  if (!is_ours(s.top) || !is_ours(session)) return true;
  nftw(session, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  rmdir(s.top);
  char *end = strrchr(s.top, '/');
  if (end && begins(component(s.top, end), "wattle-")) {
    *end = '\0';
    rmdir(s.top); /* oshrun made it, and the process that removes it may have been killed */
  }
  return access(session, F_OK) != 0;
}

void wtl_stale_files_of_members(void)
{
  char prefix[64], path[sizeof(struct dirent) + sizeof WTL_STALE_FOLDER];
  int length = snprintf(prefix, sizeof prefix, WTL_STALE_MEMBERS "%ld.", (long)geteuid());
  DIR *all = wtl_process_sees_all() ? opendir(WTL_STALE_FOLDER) : NULL;
  for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
    int launcher = strncmp(entry->d_name, prefix, (size_t)length) == 0 ? atoi(entry->d_name + length) : 0;
    if (launcher <= 0 || !wtl_process_is_gone(launcher)) continue;
    snprintf(path, sizeof path, WTL_STALE_FOLDER "%s", entry->d_name);
    unlink(path);
  }
  if (all) closedir(all);
}
