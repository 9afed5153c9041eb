/* network.h - starts and ends the network of a job whose PEs are on several nodes, with its progress agent. */
#ifndef WTL_JOB_NETWORK_H
#define WTL_JOB_NETWORK_H

#include "pgas/pe.h"

/* Collective. Does nothing if all PEs are on one node. Returns 0, or an exit code with the reason in `error`. */
int wtl_network_start(wtl_pe *self, char *error, size_t size);

/* Collective. The operations of all PEs must be complete. */
void wtl_network_stop(wtl_pe *self);

#endif
