/*
 * public_address.h - addresses that the whole internet may reach.
 */
#ifndef WTL_FABRIC_UCX_PUBLIC_ADDRESS_H
#define WTL_FABRIC_UCX_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Is this address globally routable? Private, shared (100.64/10), link-local, unique local and documentation ones are
 * not. */
bool wtl_address_is_public(const struct sockaddr *address);

#endif
