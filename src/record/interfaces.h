/*
 * interfaces.h - counts packets and bytes of the node's network interfaces while a job runs.
 *
 * The kernel counts them for each interface: SYSFS/class/net/NAME/statistics (packets and bytes that the kernel's
 * network stack sent and received) and SYSFS/class/infiniband/DEVICE/ports/N/counters (those of an InfiniBand or RoCE
 * port, with RDMA; its data counters count units of 4 bytes). An interface counts all programs of its network
 * namespace. A packet may pass several interfaces (a bond and its ports, IP over an InfiniBand port), so figures of
 * different interfaces are not added up.
 */
#ifndef WTL_RECORD_INTERFACES_H
#define WTL_RECORD_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { WTL_PACKETS_SENT, WTL_PACKETS_RECEIVED, WTL_BYTES_SENT, WTL_BYTES_RECEIVED, WTL_N_INTERFACE_COUNTS };
enum { WTL_MOST_INTERFACES = 64 };

/* An interface or a port. count: its counters at the start; NaN if one could not be read. */
typedef struct wtl_interface {
  char name[80];    /* eth0; mlx5_0/1 for port 1 of an InfiniBand device */
  char folder[400]; /* of its counters */
  bool is_port;     /* of InfiniBand or RoCE */
  double count[WTL_N_INTERFACE_COUNTS];
} wtl_interface;

typedef struct wtl_interfaces {
  const char *sysfs; /* NULL: not counted */
  size_t n, left_out;
  wtl_interface *at_start; /* NULL: no memory, or none was found */
} wtl_interfaces;

/* Reads all counters. `sysfs`: the root of the kernel's tree, /sys; it must stay valid. At most WTL_MOST_INTERFACES
 * interfaces are counted. */
void wtl_interfaces_start(wtl_interfaces *i, const char *sysfs);

/* Reads the counters again, writes their differences as the JSON object `interfaces` (docs/profile.md) and frees the
 * memory. A counter that disappeared, went backwards or stands at the largest value of 32 bits gives null. */
void wtl_interfaces_write(wtl_interfaces *i, FILE *f);

/* Frees the memory; does nothing if it was never started. */
void wtl_interfaces_stop(wtl_interfaces *i);

#endif
