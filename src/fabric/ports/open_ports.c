/* open_ports.c - finds this process's listening sockets and guards those that a network has opened. */
#include "fabric/ports/open_ports.h"

#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "fabric/ports/port_filter.h"
#include "fabric/ports/public_address.h"

typedef struct open_ports {
  int *sockets; /* n listening TCP sockets; owned */
  size_t n;
  bool known; /* false: /proc/self/fd cannot be read */
} open_ports;

static bool is_option(int fd, int option, int wanted)
{
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 && value == wanted;
}

static bool add(open_ports *p, int fd)
{
  int *larger = realloc(p->sockets, (p->n + 1) * sizeof *larger);
  if (!larger) return false;
  p->sockets = larger;
  p->sockets[p->n++] = fd;
  return true;
}

/* Finds the present ports. In all cases the caller frees p->sockets. */
static void find(open_ports *p)
{
  DIR *all = opendir("/proc/self/fd");
  *p = (open_ports){.known = all != NULL};
  for (struct dirent *e; all && (e = readdir(all)) != NULL;) {
    int fd = atoi(e->d_name); /* 0 for "." and ".."; descriptor 0 is then tested again, which does no harm */
    if (is_option(fd, SO_ACCEPTCONN, 1) && is_option(fd, SO_PROTOCOL, IPPROTO_TCP)) p->known &= add(p, fd);
  }
  if (all) closedir(all);
}

static bool is_among(const open_ports *p, int fd)
{
  for (size_t i = 0; i < p->n; i++)
    if (p->sockets[i] == fd) return true;
  return false;
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr_storage *b)
{
  if (!a || a->sa_family != b->ss_family) return false;
  return a->sa_family == AF_INET
             ? ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
                   ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr
             : a->sa_family == AF_INET6 &&
                   memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                          &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

static int refuse_public(const struct sockaddr_storage *address, socklen_t length, char *error, size_t size)
{
  char number[NI_MAXHOST] = "?", interface[64] = "an interface";
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) != 0) all = NULL;
  for (const struct ifaddrs *i = all; i; i = i->ifa_next)
    if (is_same_host(i->ifa_addr, address)) snprintf(interface, sizeof interface, "%s", i->ifa_name);
  if (all) freeifaddrs(all);
  getnameinfo((const struct sockaddr *)(const void *)address, length, number, sizeof number, NULL, 0, NI_NUMERICHOST);
  snprintf(error, size,
           "the network between nodes would listen on %s, whose address %s is public; name a private interface with "
           "UCX_NET_DEVICES=NAME (libfabric: FI_TCP_IFACE=NAME), or allow this one with WATTLE_PUBLIC_NETWORK=on "
           "(docs/security.md)",
           interface, number);
  return WTL_EXIT_CONFIG;
}

static int guard(int fd, bool may_be_public, const wtl_port_filter *filter, char *error, size_t size)
{
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  if (!may_be_public && getsockname(fd, (struct sockaddr *)(void *)&address, &length) == 0 &&
      wtl_address_is_public((const struct sockaddr *)(const void *)&address))
    return refuse_public(&address, length, error, size);
  if (!filter || wtl_port_filter_attach(filter, fd) == 0) return 0;
  snprintf(error, size,
           "other hosts cannot be kept from this PE's ports (SO_ATTACH_FILTER: %s); to start without that, set "
           "WATTLE_PORT_FILTER=off (docs/security.md)",
           strerror(errno));
  return WTL_EXIT_OSERR;
}

/* Guards the ports that were opened after `before`. filter: NULL for none. */
static int guard_new(const open_ports *before, bool may_be_public, const wtl_port_filter *filter, char *error,
                     size_t size)
{
  open_ports now;
  int rc = 0;
  find(&now);
  if (filter && !(before->known && now.known)) {
    snprintf(error, size,
             "other hosts cannot be kept from this PE's ports, because /proc/self/fd does not list them; to "
             "start without that, set WATTLE_PORT_FILTER=off (docs/security.md)");
    rc = WTL_EXIT_OSERR;
  }
  for (size_t i = 0; i < now.n && rc == 0; i++)
    if (!is_among(before, now.sockets[i])) rc = guard(now.sockets[i], may_be_public, filter, error, size);
  free(now.sockets);
  return rc;
}

int wtl_open_guarded(const wtl_settings *settings, wtl_boot *boot, int (*open)(void *arg, char *error, size_t size),
                     void *arg, char *error, size_t size)
{
  wtl_port_filter *filter = NULL;
  open_ports before;
  int rc = settings->port_filter.number ? wtl_port_filter_make(&filter, boot, error, size) : 0;
  if (rc) return rc;
  find(&before);
  if ((rc = open(arg, error, size)) == 0) rc = guard_new(&before, settings->public_network.number, filter, error, size);
  free(before.sockets);
  wtl_port_filter_free(filter);
  return rc;
}
