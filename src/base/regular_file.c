/* regular_file.c - opens and reads a regular file with a limit. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int wtl_regular_file_open(const char *path, const char **why)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                          O_NOCTTY); /* non-blocking, so that the open of a FIFO returns at once */
  if (fd < 0) return *why = strerror(errno), -1;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
  *why = "is not a regular file";
  close(fd);
  return -1;
}

/* Reads until the end or until `size` bytes. Returns the number of bytes, or -1 and errno. */
static ssize_t read_up_to(int fd, char *text, size_t size)
{
  size_t have = 0;
  while (have < size) {
    ssize_t n = read(fd, text + have, size - have);
    if (n == 0) break;
    if (n < 0 && errno != EINTR) return -1;
    if (n > 0) have += (size_t)n;
  }
  return (ssize_t)have;
}

char *wtl_regular_file_read(const char *path, size_t most, size_t *length, const char **why)
{
  int fd = wtl_regular_file_open(path, why);
  if (fd < 0) return NULL;
  char *text = malloc(most + 1); /* stat's length is no limit: it is 0 for files of /proc, and others grow */
  ssize_t n = text ? read_up_to(fd, text, most + 1) : -1;
  if (n < 0)
    *why = strerror(text ? errno : ENOMEM);
  else if ((size_t)n > most)
    *why = "is too large";
  close(fd);
  if (n < 0 || (size_t)n > most) return free(text), NULL;
  text[n] = '\0';
  *length = (size_t)n;
  return text;
}
