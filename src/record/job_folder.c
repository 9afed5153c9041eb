/* job_folder.c - takes the folder of a job's profiles. */
#include "record/job_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/process.h"
#include "os/os.h"

enum { MOST = 100000, PATH_SIZE = 4096, NAME_SIZE = 32, OWNER = 320 };

static const char mark_name[] = ".job", first_profile[] = "pe-00000.json";

static void name_folder(char path[PATH_SIZE], const char *dir, int number)
{
  if (number > 1)
    snprintf(path, PATH_SIZE, "%s/job-%d", dir, number);
  else
    snprintf(path, PATH_SIZE, "%s", dir);
}

/* Whether this process has made the mark, by its other front end. */
static bool is_ours(const char *mark, const char *owner)
{
  char found[OWNER];
  ssize_t n = readlink(mark, found, sizeof found);
  return n == (ssize_t)strlen(owner) && memcmp(found, owner, (size_t)n) == 0;
}

/* Returns 1 if the folder is now this job's, 0 if it is another one's, and -1 if it cannot be written to. */
static int take(const char *folder, const char *owner)
{
  char mark[PATH_SIZE + NAME_SIZE], profile[PATH_SIZE + NAME_SIZE];
  snprintf(mark, sizeof mark, "%s/%s", folder, mark_name);
  snprintf(profile, sizeof profile, "%s/%s", folder, first_profile);
  if (symlink(owner, mark) != 0) return errno != EEXIST ? -1 : is_ours(mark, owner);
  if (access(profile, F_OK) != 0) return 1;
  unlink(mark); /* a job has ended here */
  return 0;
}

/* Makes a folder that its owner can use, which the program's umask may forbid. */
static void make(const char *folder)
{
  struct stat st;
  if (mkdir(folder, 0777) == 0 && stat(folder, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
    chmod(folder, (st.st_mode & ACCESSPERMS) | S_IRWXU);
}

int wtl_record_take_folder(const char *dir)
{
  char folder[PATH_SIZE], owner[OWNER], host[256] = "";
  if (!*dir || !WTL_OS_PES_ARE_PROCESSES) return 1;
  gethostname(host, sizeof host - 1);
  snprintf(owner, sizeof owner, "%s %ld %llu", host, (long)getpid(),
           (unsigned long long)wtl_process_start_of(getpid()));
  for (int number = 1; number < MOST; number++) {
    name_folder(folder, dir, number);
    if (number > 1) make(folder);
    int taken = take(folder, owner);
    if (taken) return taken > 0 ? number : 1;
  }
  return 1;
}

void wtl_record_use_folder(wtl_settings *settings, int number)
{
  static char path[PATH_SIZE]; /* a process belongs to one job */
  if (number <= 1 || !*settings->profile_dir.text) return;
  name_folder(path, settings->profile_dir.text, number);
  settings->profile_dir.text = path;
}

void wtl_record_folder_is_written(const char *dir)
{
  char mark[PATH_SIZE + NAME_SIZE];
  snprintf(mark, sizeof mark, "%s/%s", dir, mark_name);
  unlink(mark);
}
