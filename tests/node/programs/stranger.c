/* Another user's process: tries to get a job's arena from its socket. usage: stranger NAME (of an abstract address);
 * says what came. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char byte, space[CMSG_SPACE(sizeof(int))];
  struct iovec io = {&byte, 1};
  struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", argv[1]);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(s, (struct sockaddr *)&address, length) == 0) printf("connected, ");
  ssize_t got = recvmsg(s, &m, 0);
  printf("got %zd bytes, %s\n", got, got > 0 && CMSG_FIRSTHDR(&m) ? "THE ARENA" : "nothing");
  return 0;
}
