/*
 * no_proc_fd.c - preloaded library that behaves as a kernel which restricts /proc/PID/fd, or as a /proc that shows
 * another process.
 *
 * NO_PROC_FD=deny: opening is refused. =file: the process gets a plain file of the right size. =unsealed: it gets a
 * memfd that is not sealed.
 *
 * NO_PROC_FD_UNTIL=FILE: opening waits until FILE exists. NO_PROC_FD_PEER=other: each local socket reports another user
 * as its peer. NO_MEMFD=N: no arena can be made, by error N; =exec: only one that cannot be executed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
  const char *until = getenv("NO_PROC_FD_UNTIL");
  while (until && access(until, F_OK) != 0) usleep(20000);
  if (strcmp(kind, "deny") != 0) return impostor(path, kind);
  errno = EACCES;
  return -1;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
  static int (*next)(int, int, int, void *, socklen_t *);
  if (!next) next = (int (*)(int, int, int, void *, socklen_t *))dlsym(RTLD_NEXT, "getsockopt");
  int rc = next(fd, level, option, value, length);
  if (rc == 0 && level == SOL_SOCKET && option == SO_PEERCRED && getenv("NO_PROC_FD_PEER"))
    ((struct ucred *)value)->uid++;
  return rc;
}

int memfd_create(const char *name, unsigned flags)
{
  static int (*next)(const char *, unsigned);
  const char *kind = getenv("NO_MEMFD");
  const unsigned no_exec = 8;
  if (!next) next = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
  if (!kind || strcmp(name, "wattle-arena") != 0) return next(name, flags);
  errno = strcmp(kind, "exec") == 0 ? EACCES : atoi(kind);
  return errno == EACCES && (flags & no_exec) ? next(name, flags) : -1;
}
