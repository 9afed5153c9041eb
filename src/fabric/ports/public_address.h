/* public_address.h - recognizes addresses that the whole internet can reach. */
#ifndef WTL_FABRIC_PORTS_PUBLIC_ADDRESS_H
#define WTL_FABRIC_PORTS_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* True if the address is globally routable. Private, shared (100.64/10), link-local, unique local and documentation
 * addresses are not. */
bool wtl_address_is_public(const struct sockaddr *address);

#endif
