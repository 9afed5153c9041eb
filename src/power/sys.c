/* sys.c - the clock, the sleep and the file reader of the real machine. */
#include "power/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double real_now(void *arg)
{
  (void)arg;
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void real_sleep(void *arg, double seconds)
{
  (void)arg;
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&t, &t) < 0 && errno == EINTR) {}
}

/* Opens the file each time, so that a sensor that was removed, or whose permission was taken away, is noticed. */
static int real_read_file(void *arg, const char *path, char *buf, size_t size)
{
  (void)arg;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -errno;
  size_t have = 0;
  int error = 0;
  while (have + 1 < size) {
    ssize_t n = read(fd, buf + have, size - 1 - have);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error = errno;
      break;
    }
    have += (size_t)n;
  }
  close(fd);
  buf[have] = '\0';
  return error ? -error : (int)have;
}

const char *wtl_sys_error_text(int error)
{
  switch (error) {
  case EBADMSG: return "not a number";
  case EOVERFLOW: return "above its own max_energy_range_uj";
  case ERANGE: return "beyond the watts that it can draw";
  case ETIME: return "it has stopped";
  default: return strerror(error);
  }
}

const wtl_sys wtl_sys_real = {.now = real_now, .sleep = real_sleep, .read_file = real_read_file, .background = true};
