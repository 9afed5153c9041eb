/* Another user's process that sits on the socket address of every process to come, and hands out a memory of its own. usage: squatter FROM TO */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  int held = 0;
  struct rlimit many = {60000, 60000};
  setrlimit(RLIMIT_NOFILE, &many);
  for (long pid = atol(argv[1]); pid < atol(argv[2]); pid++) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "wattle-arena-%ld", pid);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    held += s >= 0 &&
            bind(s, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ==
                0 &&
            listen(s, 16) == 0;
  }
  printf("holding %d\n", held);
  fflush(stdout);
  pause();
  return 0;
}
