/* Which addresses are public, and whose connections a port's filter lets through: in this machine's own network, whose
 * loopback has some millions of addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric/ports/port_filter.h"
#include "fabric/ports/public_address.h"
#include "power/check.h"

#define EXPECT(condition, ...)                                                                                         \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      check_failures++;                                                                                                \
      fprintf(stderr, __VA_ARGS__);                                                                                    \
      fputc('\n', stderr);                                                                                             \
    }                                                                                                                  \
  } while (0)

static bool is_public(const char *text)
{
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
    return wtl_address_is_public((const struct sockaddr *)(const void *)&four);
  inet_pton(AF_INET6, text, &six.sin6_addr);
  return wtl_address_is_public((const struct sockaddr *)(const void *)&six);
}

static void private_shared_and_documentation_addresses_are_not_public(void)
{
  static const char *const closed[] = {
      "10.1.2.3",  "172.16.0.1", "172.31.255.254", "192.168.7.7",  "100.64.0.1",     "100.127.1.1",     "169.254.1.1",
      "127.0.0.1", "192.0.2.2",  "198.51.100.9",   "203.0.113.77", "198.19.0.1",     "255.255.255.255", "fe80::1",
      "fd00::2",   "::1",        "2001:db8::1",    "ff02::1",      "::ffff:10.0.0.1"};
  static const char *const open[] = {"8.8.4.4",  "172.32.0.1",  "172.15.0.1",    "100.63.0.1", "100.128.0.1",
                                     "11.0.0.1", "192.167.0.1", "198.20.0.1",    "1.1.1.1",    "223.255.255.254",
                                     "2600::1",  "2001:db9::1", "::ffff:8.8.8.8"};
  for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
    EXPECT(!is_public(closed[i]), "%s counts as public", closed[i]);
  for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
    EXPECT(is_public(open[i]), "%s does not count as public", open[i]);
}

/* --- a job of two nodes, of which the other one says `others` -------------------------------------------------------- */

static char ours[8192], others[8192];

static int publish(wtl_boot *b, const char *key, const char *value)
{
  (void)b, (void)key;
  snprintf(ours, sizeof ours, "%s", value);
  return 0;
}

static int fence(wtl_boot *b)
{
  (void)b;
  return 0;
}

/* The other node is this machine where `others` begins with '='. */
static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  (void)b, (void)pe, (void)key;
  if (others[0] == '=')
    snprintf(value, size, "%.*s%s", (int)strcspn(ours, " "), ours, others + 1);
  else
    snprintf(value, size, "%s", others);
  return 0;
}

static wtl_port_filter *filter_for(void)
{
  static const wtl_boot_ops ops = {.name = "test", .publish = publish, .fence = fence, .lookup = lookup};
  int local[] = {0}, leaders[] = {0, 1};
  wtl_boot boot = {
      .ops = &ops, .pe = 0, .n_pes = 2, .n_local = 1, .local_pe = local, .node = 0, .n_nodes = 2, .leader_pe = leaders};
  wtl_port_filter *f = NULL;
  char error[256] = "";
  EXPECT(wtl_port_filter_make(&f, &boot, error, sizeof error) == 0, "%s", error);
  return f;
}

static int listener(int family, struct sockaddr_storage *at, socklen_t *length)
{
  int s = socket(family, SOCK_STREAM, 0);
  *length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  *at = (struct sockaddr_storage){.ss_family = (sa_family_t)family};
  if (family == AF_INET) ((struct sockaddr_in *)(void *)at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (family == AF_INET6) ((struct sockaddr_in6 *)(void *)at)->sin6_addr = in6addr_loopback;
  if (bind(s, (struct sockaddr *)at, *length) != 0 || listen(s, 16) != 0) return close(s), -1;
  getsockname(s, (struct sockaddr *)at, length);
  return s;
}

/* Over loopback the first packet has usually been filtered when connect() returns. A busy kernel does it later, so a
 * connection that must come is waited for. */
static bool reaches(const char *from, const struct sockaddr_storage *at, socklen_t length, bool may)
{
  struct sockaddr_storage source = {.ss_family = at->ss_family};
  int s = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  inet_pton(at->ss_family, from,
            at->ss_family == AF_INET ? (void *)&((struct sockaddr_in *)(void *)&source)->sin_addr
                                     : (void *)&((struct sockaddr_in6 *)(void *)&source)->sin6_addr);
  EXPECT(bind(s, (struct sockaddr *)&source, length) == 0, "%s: %s", from, strerror(errno));
  (void)!connect(s, (const struct sockaddr *)at, length);
  poll(&(struct pollfd){.fd = s, .events = POLLOUT}, 1, may ? 60000 : 100);
  bool stands = getpeername(s, (struct sockaddr *)&source, &length) == 0;
  close(s);
  return stands;
}

static void expect_reach(const wtl_port_filter *f, const char *const *from, const bool *may)
{
  struct sockaddr_storage at;
  socklen_t length;
  int s = listener(AF_INET, &at, &length);
  EXPECT(wtl_port_filter_attach(f, s) == 0, "%s", strerror(errno));
  for (int i = 0; from[i]; i++)
    EXPECT(reaches(from[i], &at, length, may[i]) == may[i], "%s %s", from[i], may[i] ? "is kept out" : "is let in");
  close(s);
}

static void only_addresses_of_other_nodes_are_let_in(void)
{
  static const char *const from[] = {"127.0.0.5", "127.0.0.6", "127.9.0.1", "127.0.0.4",
                                     "127.0.0.7", "127.0.0.1", NULL};
  static const bool may[] = {true, true, true, false, false, false};
  snprintf(others, sizeof others, "= 127.9.0.1 fd00::77 127.0.0.6 127.0.0.5 fe80::1");
  wtl_port_filter *f = filter_for();
  expect_reach(f, from, may);
  wtl_port_filter_free(f);
}

static void no_process_of_this_machine_is_admitted_without_another_node_on_it(void)
{
  static const char *const from[] = {"127.0.0.1", "127.0.0.5", NULL};
  static const bool may[] = {false, false};
  snprintf(others, sizeof others, "elsewhere/1 127.0.0.1 127.0.0.5");
  wtl_port_filter *f = filter_for();
  expect_reach(f, from, may);
  wtl_port_filter_free(f);
}

/* More of them than the kernel takes one by one, so that some become ranges. */
static void nodes_of_many_addresses_are_let_in(void)
{
  static const char *const from[] = {"127.0.0.5", "127.40.0.5", "127.79.0.5", "127.200.0.1", NULL};
  static const bool may[] = {true, true, true, false};
  size_t n = (size_t)snprintf(others, sizeof others, "=");
  for (int i = 0; i < 80; i++)
    for (int k = 0; k < 3; k++)
      n += (size_t)snprintf(others + n, sizeof others - n, " 127.%d.%d.5 fd00:%x:%x::7", i, k * 20, i, k);
  wtl_port_filter *f = filter_for();
  expect_reach(f, from, may);
  wtl_port_filter_free(f);
}

static void ipv6_addresses_are_distinguished(void)
{
  struct sockaddr_storage at;
  socklen_t length;
  int s = listener(AF_INET6, &at, &length);
  if (s < 0) return; /* this machine has none */
  static const char *const said[] = {"= 127.0.0.1 fd00::1 ::1 fe80::1", "= 127.0.0.1 ::2 fd00::1 0:0:0:1::1"};
  for (int i = 0; i < 2; i++) {
    snprintf(others, sizeof others, "%s", said[i]);
    wtl_port_filter *f = filter_for();
    EXPECT(wtl_port_filter_attach(f, s) == 0, "%s", strerror(errno));
    EXPECT(reaches("::1", &at, length, i == 0) == (i == 0), "::1 is %s by \"%s\"", i ? "let in" : "kept out", said[i]);
    wtl_port_filter_free(f);
  }
  close(s);
}

TESTS(TEST(private_shared_and_documentation_addresses_are_not_public), TEST(only_addresses_of_other_nodes_are_let_in),
      TEST(no_process_of_this_machine_is_admitted_without_another_node_on_it), TEST(nodes_of_many_addresses_are_let_in),
      TEST(ipv6_addresses_are_distinguished))
