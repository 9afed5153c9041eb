/*
 * port_filter.h - lets only the job's nodes connect to the ports that its processes open.
 *
 * DESIGN. UCX trusts all data that reach its ports (docs/security.md). So each listening socket gets a packet filter of
 * the kernel (SO_ATTACH_FILTER, which needs no privilege). It drops the first packet of a connection unless that comes
 * from an address of another node of the job, so UCX never sees the connection. The filter also drops connections from
 * this machine, because near PEs use the arena. It admits them only if two nodes of the job are one machine. Packets of
 * connections that exist already pass.
 *
 * A filter is attached to a socket that listens already. A connection that arrives in the microseconds before passes.
 */
#ifndef WTL_FABRIC_PORTS_PORT_FILTER_H
#define WTL_FABRIC_PORTS_PORT_FILTER_H

#include <stddef.h>

#include "node/boot.h"

typedef struct wtl_port_filter wtl_port_filter;

/* Collective over the job: each node publishes its addresses and makes a filter that admits those of the other nodes.
 * Returns 0, or an exit code with the reason in `error`. The caller frees the filter (wtl_port_filter_free). */
int wtl_port_filter_make(wtl_port_filter **f, wtl_boot *boot, char *error, size_t size);

void wtl_port_filter_free(wtl_port_filter *f);

/* Attaches the filter to a listening socket. Returns 0, or -1 with errno. */
int wtl_port_filter_attach(const wtl_port_filter *f, int socket);

#endif
