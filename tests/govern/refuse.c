/*
 * refuse.c - a library to preload: calls on the clocks' files fail as a test says.
 *
 *   WTL_TEST_REFUSE=CALL:NAME:ERRNO:AFTER   CALL: open, write, lock, unlink; NAME: the end of the file's path; AFTER: of how many calls of
 *                                           that kind on it that go well. unlink: the file vanishes, at an opening, and it goes well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int calls;

static int refuses(const char *call, const char *path)
{
  char kind[16], name[64];
  int error, after;
  const char *rule = getenv("WTL_TEST_REFUSE");
  if (!rule || sscanf(rule, "%15[^:]:%63[^:]:%d:%d", kind, name, &error, &after) != 4) return 0;
  size_t n = strlen(path), m = strlen(name);
  if (strcmp(kind, call) != 0 || n < m || strcmp(path + n - m, name) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) < after) return 0;
  errno = error;
  return 1;
}

static const char *path_of(int fd, char path[512])
{
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, 511);
  path[n > 0 ? n : 0] = '\0';
  return path;
}

static int open_for(const char *symbol, const char *path, int flags, mode_t mode)
{
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, symbol);
  if ((flags & O_ACCMODE) != O_RDONLY && refuses("open", path)) return -1;
  if ((flags & O_ACCMODE) != O_RDONLY && refuses("unlink", path)) unlink(path);
  return real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_for("open", path, flags, mode);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
  char path[512];
  ssize_t (*real)(int, const void *, size_t, off_t) =
      (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if (refuses("write", path_of(fd, path))) return -1;
  return real(fd, from, n, at);
}

int flock(int fd, int how)
{
  char path[512];
  int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
  if (refuses("lock", path_of(fd, path))) return -1;
  return real(fd, how);
}
