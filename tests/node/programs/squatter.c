/* Another user's process that sits on the socket address of every process to come, and hands out a memory of its own.
 * usage: squatter LAST_PID COUNT */
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
  long most = 32768, pid = atol(argv[1]);
  FILE *f = fopen("/proc/sys/kernel/pid_max", "r");
  if (!f || fscanf(f, "%ld", &most) != 1) perror("pid_max");
  for (long left = atol(argv[2]); left > 0; left--) {
    pid = pid + 1 < most ? pid + 1 : 300; /* where the kernel begins again */
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
