/*
 * ucx_devices.h - the network devices that UCX finds on this machine, and those on which a job may listen.
 *
 * UCX's TCP listens on each interface that it is given. If there are interfaces with private addresses, those with
 * public addresses are left out. Loopback leads to no other node, so it is used only if there is nothing else.
 */
#ifndef WTL_FABRIC_UCX_DEVICES_H
#define WTL_FABRIC_UCX_DEVICES_H

#include <stdbool.h>

typedef struct wtl_ucx_devices {
  bool hardware; /* a device moves bytes between memories by itself: InfiniBand, RoCE, Cray's, EFA */
  char *names;   /* the devices to listen on, separated by commas; owned. NULL: none is known, or no memory */
  char *all;     /* all devices, in the same form */
} wtl_ucx_devices;

void wtl_ucx_devices_find(wtl_ucx_devices *d);

/* True if one of UCX's low-level transports moves bytes between memories by hardware: InfiniBand and RoCE, Cray, EFA.
 * Its name may be followed by a device, as in "rc_mlx5/mlx5_0:1". */
bool wtl_ucx_is_hardware(const char *transport);

/* True if no device of this list (UCX_NET_DEVICES's value, or NULL) exists here. False for patterns, which
 * UCX expands. */
bool wtl_ucx_devices_lack(const wtl_ucx_devices *d, const char *list);

void wtl_ucx_devices_free(wtl_ucx_devices *d);

#endif
