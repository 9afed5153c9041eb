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
} wtl_ucx_devices;

void wtl_ucx_devices_find(wtl_ucx_devices *d);

#endif
