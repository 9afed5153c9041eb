/* line.c - asks elfutils' eu-addr2line for the line of an address. */
#include "profile/line.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"

enum { PATIENCE_MS = 10000 };

/* Runs the tool with its output in `out`. Libraries preloaded into the program must not be loaded into the tool. */
static pid_t start_tool(const char *path, const char *address, int out)
{
  static char tool[] = "eu-addr2line", short_names[] = "-s", file[] = "-e", locale[] = "LC_ALL=C";
  char name[4096], place[32], search[4096];
  char *words[] = {tool, short_names, file, name, place, NULL}, *environment[] = {locale, search, NULL};
  const char *folders = getenv("PATH");
  posix_spawn_file_actions_t files;
  pid_t pid;
  if (path)
    snprintf(name, sizeof name, "%s", path);
  else
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)getpid()); /* also if the file was replaced */
  snprintf(place, sizeof place, "%s", address);
  snprintf(search, sizeof search, "PATH=%s", folders ? folders : "/usr/bin:/bin");
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int rc = posix_spawnp(&pid, tool, &files, NULL, words, environment);
  posix_spawn_file_actions_destroy(&files);
  return rc == 0 ? pid : -1;
}

/* False if the tool did not finish a line in time. */
static bool read_line(int from, char *line, size_t size)
{
  struct pollfd ready = {from, POLLIN, 0};
  size_t n = 0;
  ssize_t more = 1;
  while (n + 1 < size && more > 0 && !memchr(line, '\n', n) && poll(&ready, 1, PATIENCE_MS) > 0)
    if ((more = read(from, line + n, size - 1 - n)) > 0) n += (size_t)more;
  line[n] = '\0';
  return more <= 0 || memchr(line, '\n', n);
}

const char *wtl_line_of(const char *path, uint64_t offset, char *text, size_t size)
{
  char address[32], line[512] = "";
  int ends[2];
  pid_t pid;
  text[0] = '\0';
  if (WTL_OS_IS_SIMULATED) return text; /* a simulated process starts no other process */
  snprintf(address, sizeof address, "0x%llx", (unsigned long long)offset);
  if (pipe2(ends, O_CLOEXEC) != 0) return text;
  pid = start_tool(path, address, ends[1]);
  close(ends[1]);
  if (pid > 0) {
    if (!read_line(ends[0], line, sizeof line)) kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
  close(ends[0]);
  /* "halo.c:112:5", "halo.c:112 (discriminator 3)", or "??:0" */
  char *number = strchr(line, ':');
  if (!number || number[1] < '1' || number[1] > '9') return text;
  number[1 + strspn(number + 1, "0123456789")] = '\0';
  snprintf(text, size, " (%s)", line);
  return text;
}
