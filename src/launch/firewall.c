/* firewall.c - prints packet filter rules that protect the ports of a job. */
#include "launch/firewall.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/launcher.h"

/* The addresses of one family, as text. */
typedef struct addresses {
  int family;
  const char *name; /* the name of the family in nft's language */
  wtl_words all;
} addresses;

/* The ports of a job, and the settings that give it these. */
typedef struct ports {
  int first, last;
  char settings[120];
} ports;

static bool by_libfabric(void)
{
  const char *network = getenv("WATTLE_NETWORK");
  return network && strcmp(network, "ofi") == 0;
}

static bool is_range(int first, int last)
{
  return first >= 1024 && last <= 65535 && first <= last;
}

static ports ports_of_ucx(void)
{
  const char *text = getenv("UCX_TCP_PORT_RANGE");
  ports p = {0};
  char end;
  if (!text || sscanf(text, "%d-%d%c", &p.first, &p.last, &end) != 2 || !is_range(p.first, p.last))
    wtl_launcher_refuse(
        "--fence-network with UCX_TCP_PORT_RANGE=%s: the rules need a range of ports of 1024 to 65535 for the PEs of a "
        "node, as UCX_TCP_PORT_RANGE=20000-20999; set it for the job, too",
        text ? text : "");
  snprintf(p.settings, sizeof p.settings, "UCX_TCP_PORT_RANGE=%d-%d", p.first, p.last);
  return p;
}

static int number_in(const char *text)
{
  int n;
  char end;
  return text && sscanf(text, "%d%c", &n, &end) == 1 ? n : -1;
}

/* Of libfabric's provider tcp. Its providers for other networks open no ports, and sockets takes no range. */
static ports ports_of_libfabric(void)
{
  const char *low = getenv("FI_TCP_PORT_LOW_RANGE"), *high = getenv("FI_TCP_PORT_HIGH_RANGE");
  ports p = {.first = number_in(low), .last = number_in(high)};
  if (!is_range(p.first, p.last))
    wtl_launcher_refuse(
        "--fence-network with WATTLE_NETWORK=ofi, FI_TCP_PORT_LOW_RANGE=%s and FI_TCP_PORT_HIGH_RANGE=%s: the rules "
        "need a range of ports of 1024 to 65535 for the PEs of a node, as 20000 and 20999; set both for the job, too",
        low ? low : "", high ? high : "");
  snprintf(p.settings, sizeof p.settings, "WATTLE_NETWORK=ofi FI_TCP_PORT_LOW_RANGE=%d FI_TCP_PORT_HIGH_RANGE=%d",
           p.first, p.last);
  return p;
}

static bool has(const wtl_words *words, const char *word)
{
  for (size_t i = 0; i < words->n; i++)
    if (strcmp(words->at[i], word) == 0) return true;
  return false;
}

static bool is_loopback(const struct sockaddr *address)
{
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
  return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/*
 * Writes the address as text. Returns false for another family, and for a link-local address, which is valid on one
 * interface only.
 */
static bool text_of(const struct sockaddr *address, int family, char *text, socklen_t size)
{
  socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  return address && address->sa_family == family &&
         getnameinfo(address, length, text, size, NULL, 0, NI_NUMERICHOST) == 0 && !strchr(text, '%');
}

static bool add(addresses *to, const struct sockaddr *address)
{
  char number[NI_MAXHOST];
  if (!text_of(address, to->family, number, sizeof number)) return false;
  if (!has(&to->all, number)) wtl_arguments_add(&to->all, number);
  return true;
}

/* The setting that names the network's interfaces. */
static const char *interfaces_setting(void)
{
  return by_libfabric() ? "FI_TCP_IFACE" : "UCX_NET_DEVICES";
}

/* May the network use the interface? Without the setting it may use any. */
static bool is_used(const char *interface)
{
  const char *names = getenv(interfaces_setting());
  if (!names || !*names || strcmp(names, "all") == 0) return true;
  size_t n = strlen(interface);
  for (const char *at = names; (at = strstr(at, interface)) != NULL; at += n)
    if ((at == names || at[-1] == ',') && (at[n] == ',' || at[n] == '\0')) return true;
  return false;
}

/* Adds the addresses by which other machines reach this one. */
static bool add_own(addresses *to)
{
  struct ifaddrs *all;
  bool added = false;
  if (getifaddrs(&all) != 0) return false;
  for (const struct ifaddrs *i = all; i; i = i->ifa_next)
    if ((i->ifa_flags & IFF_UP) && !(i->ifa_flags & IFF_LOOPBACK) && is_used(i->ifa_name) && add(to, i->ifa_addr))
      added = true;
  freeifaddrs(all);
  return added;
}

/*
 * Adds the addresses of a host. A name may resolve to a loopback address: localhost, or on Debian the machine's own
 * name in /etc/hosts. Such a name means this machine, and other hosts see its packets come from the addresses of its
 * interfaces.
 */
static void resolve(const char *host, bool alone, addresses *families, size_t n)
{
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  char loopback[NI_MAXHOST] = "";
  bool added = false;
  int rc = getaddrinfo(host, NULL, &hints, &found);
  if (rc != 0) wtl_launcher_refuse("--fence-network: host %s: %s", host, gai_strerror(rc));
  for (const struct addrinfo *a = found; a; a = a->ai_next)
    for (size_t i = 0; i < n; i++)
      if (a->ai_family == families[i].family && !alone && is_loopback(a->ai_addr)) {
        text_of(a->ai_addr, a->ai_family, loopback, sizeof loopback);
        added |= add_own(&families[i]);
      } else {
        added |= add(&families[i], a->ai_addr);
      }
  freeaddrinfo(found);
  if (!added && *loopback)
    wtl_launcher_refuse(
        "--fence-network: host %s: the other hosts do not reach its address %s, and no interface that the "
        "network may use here (%s) has another one: give the address by which they reach it",
        host, loopback, interfaces_setting());
}

static void resolve_all(const wtl_command *c, addresses *families, size_t n)
{
  wtl_hosts h;
  char error[512];
  int hosts = wtl_launcher_hosts(&h, c, error, sizeof error);
  if (hosts < 0) wtl_launcher_refuse("%s", error);
  if (hosts == 0) wtl_launcher_refuse("--fence-network: name the job's hosts with --host or --hostfile");
  if (h.ranges) wtl_launcher_refuse("--fence-network: name the hosts one by one, not as NAME[FIRST-LAST]");
  for (int i = 0; i < h.n; i++) resolve(h.at[i].name, h.n == 1, families, n);
  wtl_hosts_free(&h);
}

static void print_set(const wtl_words *words)
{
  fputs("{ ", stdout);
  for (size_t i = 0; i < words->n; i++) printf("%s%s", i ? ", " : "", words->at[i]);
  fputs(" }", stdout);
}

/* Matches the first packet of a connection to the job's ports. */
static void print_match(const ports *p)
{
  printf("tcp dport %d-%d tcp flags & (syn | ack) == syn ", p->first, p->last);
}

/* Drops packets from machines that are no hosts of the job. */
static void print_input(const ports *p, const addresses *a)
{
  fputs("    iif != lo ", stdout);
  print_match(p);
  if (a->all.n > 0) {
    printf("%s saddr != ", a->name);
    print_set(&a->all);
    puts(" drop");
  } else {
    printf("meta nfproto %s drop\n", a->family == AF_INET ? "ipv4" : "ipv6");
  }
}

/* Drops packets from other users of the job's hosts, because these come from permitted addresses. */
static void print_output(const ports *p, const addresses *a)
{
  if (a->all.n == 0) return;
  fputs("    ", stdout);
  print_match(p);
  printf("%s daddr ", a->name);
  print_set(&a->all);
  printf(" meta skuid != %u drop\n", (unsigned)geteuid());
}

void wtl_firewall_print(const wtl_command *c)
{
  addresses families[] = {{AF_INET, "ip", {0}}, {AF_INET6, "ip6", {0}}};
  ports p = by_libfabric() ? ports_of_libfabric() : ports_of_ucx();
  unsigned user = (unsigned)geteuid();
  resolve_all(c, families, 2);
  printf("# Load on every host of the job, as root: nft -f FILE. Remove: nft delete table inet wattle_%u\n"
         "# Start the job as user %u with %s.\n"
         "table inet wattle_%u\ndelete table inet wattle_%u\n" /* so that the rules may be loaded again */
         "table inet wattle_%u {\n"
         "  chain input {\n    type filter hook input priority filter; policy accept;\n",
         user, user, p.settings, user, user, user);
  for (int i = 0; i < 2; i++) print_input(&p, &families[i]);
  puts("  }\n  chain output {\n    type filter hook output priority filter; policy accept;");
  for (int i = 0; i < 2; i++) print_output(&p, &families[i]);
  puts("  }\n}");
  for (int i = 0; i < 2; i++) wtl_arguments_free(&families[i].all);
}
