/*
 * hops.c - the time of TCP from one process to another, without any library.
 *
 *   hops listen PORT                    serves one client, then ends
 *   hops call ADDRESS PORT              half of a round trip of eight bytes: prints one JSON line for polling sockets
 *                                       and one for sockets that sleep in the kernel
 *   hops puts ADDRESS PORT BYTES...     BYTES in one direction and eight back, by sockets that sleep in the kernel,
 *                                       for about half a second: seconds each, and CPU seconds of both processes each
 *
 * The first byte of the client selects the mode, and the server follows it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clocks.h"

enum { BATCHES = 25, TRIPS = 40, MESSAGE = 8, POLLING = 'p', SLEEPING = 's', BYTES = 'b', OVER = 'o' };
enum { AT_A_TIME = 1 << 20 };
static const double PATIENCE = 10, PUTS_SECONDS = 0.5;

/* Announces the number of bytes that follow. */
typedef struct announcement {
  char how, unused[3];
  uint32_t bytes;
} announcement;

static void fail(const char *what)
{
  fprintf(stderr, "hops: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Returns false at the end of the connection. */
static bool receive(int fd, char *message, bool poll)
{
  for (size_t have = 0; have < MESSAGE;) {
    ssize_t n = recv(fd, message + have, MESSAGE - have, poll ? MSG_DONTWAIT : 0);
    if (n == 0) return false;
    if (n < 0 && errno != EAGAIN && errno != EINTR) fail("recv");
    if (n > 0) have += (size_t)n;
  }
  return true;
}

static void post(int fd, const char *message)
{
  if (send(fd, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE) fail("send");
}

/* Receives the announced bytes and answers with the CPU seconds of this process so far. */
static void take_bytes(int fd, const char *message)
{
  static char bytes[AT_A_TIME];
  announcement a;
  memcpy(&a, message, sizeof a);
  for (size_t left = a.bytes; left > 0;) {
    ssize_t n = recv(fd, bytes, left < sizeof bytes ? left : sizeof bytes, 0);
    if (n <= 0) fail("recv");
    left -= (size_t)n;
  }
  double cpu = cpu_seconds();
  post(fd, (const char *)&cpu);
}

static void listen_at(int port)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int one = 1, door = socket(AF_INET, SOCK_STREAM, 0);
  char message[MESSAGE];
  if (door < 0 || setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) fail("socket");
  if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 1)) fail("listen");
  int fd = accept(door, NULL, NULL);
  if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) fail("accept");
  bool poll = false;
  while (receive(fd, message, poll) && message[0] != OVER) {
    poll = message[0] == POLLING;
    if (message[0] == BYTES)
      take_bytes(fd, message);
    else
      post(fd, message);
  }
}

/* Retries, because the server may start later. */
static int call_at(const char *address, int port)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int one = 1;
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1) fail(address);
  for (double give_up = now() + PATIENCE; now() < give_up; sleep_for(0.01)) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof at)) {
      if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) fail("TCP_NODELAY");
      return fd;
    }
    close(fd);
  }
  fail("connect");
  return -1;
}

static void measure(int fd, const char *row, char how)
{
  double seconds[BATCHES];
  char message[MESSAGE] = {how};
  for (int i = -1; i < BATCHES; i++) { /* the first batch warms up */
    double start = now();
    for (int k = 0; k < TRIPS; k++) {
      post(fd, message);
      if (!receive(fd, message, how == POLLING)) fail("connection lost");
    }
    if (i >= 0) seconds[i] = (now() - start) / (2 * TRIPS);
  }
  tell_samples(row, seconds, BATCHES);
}

/* Returns the other process's CPU seconds so far. */
static double put(int fd, const char *bytes, uint32_t n)
{
  announcement a = {.how = BYTES, .bytes = n};
  double cpu;
  post(fd, (const char *)&a);
  if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n) fail("send");
  if (!receive(fd, (char *)&cpu, false)) fail("connection lost");
  return cpu;
}

static void measure_puts(int fd, uint32_t bytes)
{
  char *from = calloc(1, bytes), row[64];
  if (!from) fail("calloc");
  double others = put(fd, from, bytes), mine = cpu_seconds(), start = now(), others_now = others;
  int n = 0;
  for (; now() - start < PUTS_SECONDS; n++) others_now = put(fd, from, bytes);
  snprintf(row, sizeof row, "puts/%u", bytes);
  tell(row, (now() - start) / n);
  snprintf(row, sizeof row, "puts_cpu/%u", bytes);
  tell(row, (cpu_seconds() - mine + others_now - others) / n);
  free(from);
}

int main(int argc, char **argv)
{
  if (argc == 3 && !strcmp(argv[1], "listen")) {
    listen_at(atoi(argv[2]));
    return 0;
  }
  bool calls = argc == 4 && !strcmp(argv[1], "call"), puts = argc > 4 && !strcmp(argv[1], "puts");
  if (!calls && !puts) {
    fprintf(stderr, "usage: hops listen PORT | hops call ADDRESS PORT | hops puts ADDRESS PORT BYTES...\n");
    return 64;
  }
  int fd = call_at(argv[2], atoi(argv[3]));
  if (calls) {
    measure(fd, "tcp_polling", POLLING);
    measure(fd, "tcp_sleeping", SLEEPING);
  }
  for (int i = 4; puts && i < argc; i++) measure_puts(fd, (uint32_t)atol(argv[i]));
  post(fd, (char[MESSAGE]){OVER});
  close(fd);
  return 0;
}
