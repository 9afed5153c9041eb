/* http_test.c - tests that a wait for a page that does not come ends. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "power/sensor/http.h"

/* A port of this machine that takes connections and never answers; its descriptor. */
static int listen_and_say_nothing(char *url, size_t size)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, length) != 0 || listen(fd, 4) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &length) != 0)
    exit(2);
  snprintf(url, size, "http://127.0.0.1:%d/", ntohs(at.sin_port));
  return fd;
}

static wtl_http *opened(void)
{
  char why[256];
  wtl_http *h = wtl_http_open(NULL, NULL, why, sizeof why);
  if (h) return h;
  fprintf(stderr, "%s\n", why);
  exit(77);
}

static void *stop(void *h)
{
  usleep(100000); /* the other thread waits by then, or soon; either will do */
  wtl_http_stop(h);
  return NULL;
}

static void a_page_that_is_stopped_is_waited_for_no_more(void)
{
  char url[64], body[64], why[256] = "";
  int fd = listen_and_say_nothing(url, sizeof url);
  wtl_http *h = opened();
  pthread_t other;
  wtl_http_allow(h, 1e4);
  if (pthread_create(&other, NULL, stop, h) != 0) exit(2);
  CHECK(wtl_http_get(h, url, body, sizeof body, why, sizeof why) == 0 && *why);
  pthread_join(other, NULL);
  CHECK(wtl_http_get(h, url, body, sizeof body, why, sizeof why) == 0);
  CHECK_CONTAINS(why, "no time is left");
  wtl_http_close(h);
  close(fd);
}

static void all_pages_have_one_deadline(void)
{
  char url[64], body[64], why[256] = "";
  int fd = listen_and_say_nothing(url, sizeof url);
  wtl_http *h = opened();
  CHECK(wtl_http_get(h, url, body, sizeof body, why, sizeof why) == 0);
  CHECK_CONTAINS(why, "no time is left"); /* none was given */
  wtl_http_allow(h, 0.05);
  CHECK(wtl_http_get(h, url, body, sizeof body, why, sizeof why) == 0);
  CHECK(wtl_http_get(h, url, body, sizeof body, why, sizeof why) == 0);
  CHECK_CONTAINS(why, "no time is left");
  wtl_http_close(h);
  close(fd);
}

TESTS(TEST(a_page_that_is_stopped_is_waited_for_no_more), TEST(all_pages_have_one_deadline))
