/*
 * open_ports.h - the TCP ports on which this process listens, and the guard of those that UCX opens.
 */
#ifndef WTL_FABRIC_UCX_OPEN_PORTS_H
#define WTL_FABRIC_UCX_OPEN_PORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/ucx/port_filter.h"

typedef struct wtl_open_ports {
  int *sockets; /* n listening TCP sockets; owned */
  size_t n;
  bool known; /* false: /proc/self/fd cannot be read */
} wtl_open_ports;

/* Finds those of now. Whatever it finds, wtl_open_ports_free gives back. */
void wtl_open_ports_find(wtl_open_ports *p);
void wtl_open_ports_free(wtl_open_ports *p);

/*
 * Of the ports opened since `before`: refuses those at public addresses, unless they are allowed, and attaches the
 * filter to the others (NULL: none). 0, or an exit code with the reason in `error`.
 */
int wtl_open_ports_guard(const wtl_open_ports *before, bool may_be_public, const wtl_port_filter *filter, char *error,
                         size_t size);

#endif
