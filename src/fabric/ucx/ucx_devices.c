/* ucx_devices.c - asks UCX's lower layer for the network devices of this machine. */
#include "fabric/ucx/ucx_devices.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uct/api/uct.h>

#include "fabric/ports/public_address.h"

/* From the last choice to the first. */
enum sort { LOOPBACK, PUBLIC, PRIVATE, N_SORTS };

typedef struct search {
  struct ifaddrs *addresses; /* of this machine's interfaces */
  char *names[N_SORTS];      /* the devices of each sort, separated by commas */
  bool hardware;
} search;

/* UCX's TCP listens on the first IPv4 address of an interface, or on an IPv6 address if it has no IPv4 address. */
static enum sort sort_of(const search *s, const char *interface)
{
  bool is_public[2] = {false, false}, has_4 = false;
  for (const struct ifaddrs *i = s->addresses; i; i = i->ifa_next) {
    if (!i->ifa_addr || strcmp(i->ifa_name, interface) != 0) continue;
    if (i->ifa_flags & IFF_LOOPBACK) return LOOPBACK;
    has_4 |= i->ifa_addr->sa_family == AF_INET;
    is_public[i->ifa_addr->sa_family == AF_INET6] |= wtl_address_is_public(i->ifa_addr);
  }
  return is_public[!has_4] ? PUBLIC : PRIVATE; /* InfiniBand's devices have no address and count as private */
}

static bool is_listed(const char *names, const char *name)
{
  size_t n = strlen(name);
  for (const char *at = names; at && (at = strstr(at, name)) != NULL; at += n)
    if ((at == names || at[-1] == ',') && (at[n] == ',' || at[n] == '\0')) return true;
  return false;
}

static void add(char **names, const char *more)
{
  char *all;
  if (!more || is_listed(*names, more)) return;
  if (asprintf(&all, "%s%s%s", *names ? *names : "", *names ? "," : "", more) < 0) return;
  free(*names);
  *names = all;
}

bool wtl_ucx_is_hardware(const char *transport)
{
  static const char *const names[] = {"rc_", "dc_", "ugni_rdma", "srd"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strncmp(transport, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static void note(search *s, const uct_tl_resource_desc_t *found)
{
  s->hardware |= wtl_ucx_is_hardware(found->tl_name);
  if (found->dev_type == UCT_DEVICE_TYPE_NET) add(&s->names[sort_of(s, found->dev_name)], found->dev_name);
}

static void search_domain(search *s, uct_component_h component, const char *memory_domain)
{
  uct_md_config_t *config;
  uct_md_h md;
  uct_tl_resource_desc_t *found;
  unsigned n = 0;
  if (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK) return;
  if (uct_md_open(component, memory_domain, config, &md) == UCS_OK) {
    if (uct_md_query_tl_resources(md, &found, &n) == UCS_OK) {
      for (unsigned i = 0; i < n; i++) note(s, &found[i]);
      uct_release_tl_resource_list(found);
    }
    uct_md_close(md);
  }
  uct_config_release(config);
}

static void search_component(search *s, uct_component_h component)
{
  uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};
  if (uct_component_query(component, &attr) != UCS_OK || !attr.md_resource_count) return;
  uct_md_resource_desc_t domains[attr.md_resource_count];
  attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attr.md_resources = domains;
  if (uct_component_query(component, &attr) != UCS_OK) return;
  for (unsigned i = 0; i < attr.md_resource_count; i++) search_domain(s, component, domains[i].md_name);
}

static void search_all(search *s)
{
  uct_component_h *components;
  unsigned n;
  if (uct_query_components(&components, &n) != UCS_OK) return;
  for (unsigned i = 0; i < n; i++) search_component(s, components[i]);
  uct_release_component_list(components);
}

void wtl_ucx_devices_find(wtl_ucx_devices *d)
{
  search s = {0};
  if (getifaddrs(&s.addresses) != 0) s.addresses = NULL;
  search_all(&s);
  *d = (wtl_ucx_devices){.hardware = s.hardware};
  for (int sort = PRIVATE; sort >= LOOPBACK && !d->names; sort--) add(&d->names, s.names[sort]);
  for (int i = 0; i < N_SORTS; i++) {
    add(&d->all, s.names[i]);
    free(s.names[i]);
  }
  if (s.addresses) freeifaddrs(s.addresses);
}

/* Is the device on this machine? The name may leave out the port at the end of an InfiniBand device ("mlx5_0:1"). */
static bool is_here(const wtl_ucx_devices *d, const char *name, size_t length)
{
  for (const char *at = d->all; at && *at; at += strspn(at, ",")) {
    size_t whole = strcspn(at, ","), device = strcspn(at, ":,");
    if ((length == whole || length == device) && strncmp(at, name, length) == 0) return true;
    at += whole;
  }
  return false;
}

bool wtl_ucx_devices_lack(const wtl_ucx_devices *d, const char *list)
{
  if (!list || !*list || !d->all || strpbrk(list, "^*?[") || is_listed(list, "all")) return false;
  for (const char *at = list; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    if (is_here(d, at, n)) return false;
    at += n;
  }
  return true;
}

void wtl_ucx_devices_free(wtl_ucx_devices *d)
{
  free(d->names);
  free(d->all);
}
