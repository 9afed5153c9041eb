/*
 * ucx_devices.h - the network devices that UCX finds on this machine, and those of them that a job may listen on.
 *
 * UCX's TCP listens on each interface that it is given. One with a private address is preferred, and then those with
 * public ones are left out. Loopback leads to no other node: it is taken where there is nothing else.
 */
#ifndef WTL_FABRIC_UCX_DEVICES_H
#define WTL_FABRIC_UCX_DEVICES_H

#include <stdbool.h>

typedef struct wtl_ucx_devices {
  bool hardware; /* some of them moves bytes between memories by itself: InfiniBand, RoCE, Cray's, EFA */
  char *names;   /* those to listen on, with commas between them; owned. NULL: none is known, or no memory. */
  char *all;     /* all of them, likewise */
} wtl_ucx_devices;

void wtl_ucx_devices_find(wtl_ucx_devices *d);

/* Is none of the devices in this list (UCX_NET_DEVICES's value, or NULL) here? False for patterns, which UCX reads. */
bool wtl_ucx_devices_lack(const wtl_ucx_devices *d, const char *list);

void wtl_ucx_devices_free(wtl_ucx_devices *d);

#endif
