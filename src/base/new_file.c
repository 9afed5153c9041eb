/* new_file.c - writes a file under a random name and renames it. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"

/* O_EXCL alone protects an existing file. A random name keeps other users from blocking it. Without random bytes from
 * the kernel the clock replaces them. */
static uint64_t random_number(void)
{
  uint64_t number;
  return wtl_os_random(&number, sizeof number) ? number : wtl_clock_ns();
}

/* False with errno if the name leads to a folder, a FIFO or a device. */
static bool is_replaceable(const char *path)
{
  struct stat st;
  if (stat(path, &st) != 0 || S_ISREG(st.st_mode)) return true; /* also for a link to nothing, which is replaced */
  errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
  return false;
}

bool wtl_new_file_open(wtl_new_file *self, const char *path)
{
  const char *name = strrchr(path, '/');
  int folder = name ? (int)(name - path) + 1 : 0;
  if (snprintf(self->path, sizeof self->path, "%s", path) >= (int)sizeof self->path ||
      snprintf(self->part, sizeof self->part, "%.*s.wattle-%016" PRIx64 ".part", folder, path, random_number()) >=
          (int)sizeof self->part) {
    errno = ENAMETOOLONG;
    return false;
  }
  if (!is_replaceable(path)) return false;
  int fd = open(self->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  wtl_new_file_admit_owner(fd);
  self->out = fdopen(fd, "w");
  if (self->out) {
    self->signals = wtl_sigpipe_hold();
    return true;
  }
  int reason = errno;
  close(fd);
  unlink(self->part);
  errno = reason;
  return false;
}

bool wtl_new_file_close(wtl_new_file *self)
{
  bool good = !ferror(self->out);
  good = fclose(self->out) == 0 && good;
  wtl_sigpipe_release(&self->signals);
  if (good && is_replaceable(self->path) && rename(self->part, self->path) == 0) return true;
  int reason = errno;
  unlink(self->part);
  errno = reason;
  return false;
}
