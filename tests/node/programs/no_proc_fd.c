/*
 * Preloaded: what a kernel does that keeps processes out of each other's /proc/PID/fd, or a /proc that shows another
 * process there. NO_PROC_FD=deny: opening is refused. =file: one gets a plain file of the right size. =unsealed: one
 * gets a memfd that is not sealed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int impostor(const char *path, const char *kind)
{
  struct stat st;
  int fd =
      strcmp(kind, "file") == 0 ? open("/tmp", O_TMPFILE | O_RDWR, 0600) : memfd_create("impostor", MFD_ALLOW_SEALING);
  if (stat(path, &st) != 0 || ftruncate(fd, st.st_size) != 0) return -1;
  return fd;
}

int open(const char *path, int flags, ...)
{
  static int (*next)(const char *, int, ...);
  const char *kind = getenv("NO_PROC_FD");
  int pid, fd, mode;
  va_list args;
  va_start(args, flags);
  mode = va_arg(args, int);
  va_end(args);
  if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  if (!kind || sscanf(path, "/proc/%d/fd/%d", &pid, &fd) != 2) return next(path, flags, mode);
  fprintf(stderr, "open of %s: %s\n", path, kind);
  if (strcmp(kind, "deny") != 0) return impostor(path, kind);
  errno = EACCES;
  return -1;
}
