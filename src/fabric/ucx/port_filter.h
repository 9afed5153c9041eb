/*
 * port_filter.h - which machines may connect to the ports that a process of the job opens.
 *
 * DESIGN. UCX believes whatever reaches its ports (docs/security.md). So each listening socket gets a packet filter of
 * the kernel's (SO_ATTACH_FILTER; no right is needed), which drops the first packet of a connection unless it comes
 * from an address of another node of the job. UCX then never learns of it. Connections from this machine itself are
 * dropped as well: neighbours talk through the arena. Only where two nodes of the job are one machine are they let in.
 * Packets of connections that stand are not looked at.
 *
 * A filter is attached to a socket that listens already. A connection in the microseconds between is let in.
 */
#ifndef WTL_FABRIC_UCX_PORT_FILTER_H
#define WTL_FABRIC_UCX_PORT_FILTER_H

#include <stddef.h>

#include "node/boot.h"

typedef struct wtl_port_filter wtl_port_filter;

/*
 * Collective over the job: each node says its addresses, and makes a filter that admits those of the others. 0, or an
 * exit code with the reason in `error`. The caller frees it (wtl_port_filter_free).
 */
int wtl_port_filter_make(wtl_port_filter **f, wtl_boot *boot, char *error, size_t size);

void wtl_port_filter_free(wtl_port_filter *f);

/* Attaches it to a listening socket. 0, or -1 with errno. */
int wtl_port_filter_attach(const wtl_port_filter *f, int socket);

#endif
