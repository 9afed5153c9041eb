/* launcher_output.c - forwards the launcher's output and finds the lines that report exit codes. */
#include "launch/launcher_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/sigpipe.h"

static void scan_lines(wtl_launcher_output *h, const char *text, size_t n)
{
  for (size_t i = 0; i < n && h->reported < 0; i++) {
    if (text[i] != '\n') {
      if (h->length < sizeof h->line - 1) h->line[h->length++] = text[i];
      continue;
    }
    h->line[h->length] = '\0';
    h->reported = h->reported_code(h->line);
    h->length = 0;
  }
}

static bool write_all(int fd, const char *text, size_t n)
{
  while (n > 0) {
    ssize_t done = wtl_write(fd, text, n);
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) text += done, n -= (size_t)done;
  }
  return true;
}

static bool stop(wtl_launcher_output *h)
{
  if (h->from >= 0) close(h->from); /* the launcher's next write fails, so it learns that its reader is gone */
  h->from = -1;
  return false;
}

bool wtl_launcher_output_forward(wtl_launcher_output *h)
{
  char text[65536];
  ssize_t n = h->from < 0 ? 0 : read(h->from, text, sizeof text);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return stop(h);
  scan_lines(h, text, (size_t)n);
  return write_all(h->to, text, (size_t)n) || stop(h);
}

void wtl_launcher_output_drain(wtl_launcher_output *h)
{
  if (h->from < 0) return;
  fcntl(h->from, F_SETFL, fcntl(h->from, F_GETFL) | O_NONBLOCK);
  while (wtl_launcher_output_forward(h)) continue;
}
