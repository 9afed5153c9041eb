/* memory_file.c - makes memfds on all supported kernels, and the pages of files in memory. */
#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sigpipe.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3: not executable. With the sysctl vm.memfd_noexec=2 other memfds are refused. */
#define MFD_NOEXEC_SEAL 8U
#endif

static int set_length(int fd, size_t length)
{
  wtl_sigpipe signals = wtl_sigpipe_hold();
  int rc = ftruncate(fd, (off_t)length);
  wtl_sigpipe_release(&signals);
  return rc;
}

int wtl_memory_file_make(const char *name, size_t length, int seals)
{
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); /* an older kernel */
  if (fd < 0) return -1;
  if (set_length(fd, length) == 0 && (seals == 0 || fcntl(fd, F_ADD_SEALS, seals) == 0)) return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

static bool write_zeros(int fd, size_t from, size_t bytes)
{
  static const char zeros[4096];
  for (size_t done = 0; done < bytes;) {
    size_t left = bytes - done;
    ssize_t n = pwrite(fd, zeros, left < sizeof zeros ? left : sizeof zeros, (off_t)(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

bool wtl_memory_file_reserve(int fd, size_t from, size_t bytes)
{
  struct rlimit limit; /* above it the kernel would send SIGXFSZ */
  int rc;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && from + bytes > limit.rlim_cur)
    return false;
  do rc = fallocate(fd, 0, (off_t)from, (off_t)bytes);
  while (rc != 0 && errno == EINTR);
  /* A kernel, a file system or a filter of system calls may refuse fallocate. */
  return rc == 0 || (errno != ENOSPC && write_zeros(fd, from, bytes));
}

const char *wtl_memory_file_advice(int why)
{
  switch (why) {
  case EFBIG: return "raise the limit on the size of files, ulimit -f";
  case EMFILE: return "raise the limit on open files, ulimit -n";
  case ENFILE: return "the system has as many open files as it may have: raise fs.file-max";
  case ENOSYS:
  case EPERM:
  case EACCES:
    return "this system or container refuses memfd_create, without which PEs share no memory: allow that call in its "
           "seccomp profile; the kernel must be Linux 3.17 or later";
  default: return NULL;
  }
}
