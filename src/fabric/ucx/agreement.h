/*
 * agreement.h - the nodes of a job agree whether hardware moves their bytes.
 *
 * If one node has RDMA devices and another has none, or none with an active port, the first would offer only these and
 * the second only TCP, and they could not connect. So hardware is used if all nodes have it.
 */
#ifndef WTL_FABRIC_UCX_AGREEMENT_H
#define WTL_FABRIC_UCX_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "node/boot.h"

/* Publishes whether this node has such a device. One PE of each node does so. The caller then runs a fence. Returns 0,
 * or -1 if the boot fails. */
int wtl_agreement_publish(wtl_boot *boot, bool has_hardware);

/* Reads the answers of all nodes into *all. If they differ, writes one line for the user to `note`, which names a node
 * of each kind; else "". Returns 0, or -1 if the boot fails. */
int wtl_agreement_read(wtl_boot *boot, bool *all, char *note, size_t size);

#endif
