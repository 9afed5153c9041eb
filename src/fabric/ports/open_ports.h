/* open_ports.h - the TCP ports on which this process listens, and the guard of those that a network opens. */
#ifndef WTL_FABRIC_PORTS_OPEN_PORTS_H
#define WTL_FABRIC_PORTS_OPEN_PORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/ports/port_filter.h"

typedef struct wtl_open_ports {
  int *sockets; /* n listening TCP sockets; owned */
  size_t n;
  bool known; /* false: /proc/self/fd cannot be read */
} wtl_open_ports;

/* Finds the present ports. In all cases wtl_open_ports_free frees the result. */
void wtl_open_ports_find(wtl_open_ports *p);
void wtl_open_ports_free(wtl_open_ports *p);

/* Checks the ports that were opened after `before`. Refuses those at public addresses, unless they are allowed, and
 * attaches `filter` (NULL: none) to the others. Returns 0, or an exit code with the reason in `error`. */
int wtl_open_ports_guard(const wtl_open_ports *before, bool may_be_public, const wtl_port_filter *filter, char *error,
                         size_t size);

#endif
