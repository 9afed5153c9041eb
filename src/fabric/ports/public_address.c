/* public_address.c - distinguishes public addresses from private ones. */
#include "fabric/ports/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The IPv4 ranges that are not globally reachable in the IANA registry of special-purpose addresses, and multicast. */
static const struct {
  const char *first;
  int bits;
} not_public[] = {{"0.0.0.0", 8},      {"10.0.0.0", 8},    {"100.64.0.0", 10},   {"127.0.0.0", 8},
                  {"169.254.0.0", 16}, {"172.16.0.0", 12}, {"192.0.0.0", 24},    {"192.0.2.0", 24},
                  {"192.168.0.0", 16}, {"198.18.0.0", 15}, {"198.51.100.0", 24}, {"203.0.113.0", 24},
                  {"224.0.0.0", 3}};

static bool is_public_4(uint32_t address)
{
  for (size_t i = 0; i < sizeof not_public / sizeof not_public[0]; i++) {
    uint32_t first = ntohl(inet_addr(not_public[i].first));
    if ((address ^ first) >> (32 - not_public[i].bits) == 0) return false;
  }
  return true;
}

/* Global unicast is 2000::/3. In it, 2001:db8::/32 and 3fff::/20 are for documentation. */
static bool is_public_6(const uint8_t *a)
{
  bool documented = (a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8) ||
                    (a[0] == 0x3f && a[1] == 0xff && a[2] >> 4 == 0);
  return a[0] >> 5 == 1 && !documented;
}

bool wtl_address_is_public(const struct sockaddr *address)
{
  if (address->sa_family == AF_INET)
    return is_public_4(ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
  if (address->sa_family != AF_INET6) return false;
  const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
  uint32_t four;
  memcpy(&four, &six->s6_addr[12], sizeof four);
  return IN6_IS_ADDR_V4MAPPED(six) ? is_public_4(ntohl(four)) : is_public_6(six->s6_addr);
}
