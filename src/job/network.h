/* network.h - the network of a job whose PEs are on several nodes, and the progress agent that serves it. */
#ifndef WTL_JOB_NETWORK_H
#define WTL_JOB_NETWORK_H

#include "pgas/pe.h"

/* Collective; does nothing where all PEs are on one node. 0, or an exit code with the reason in `error`. */
int wtl_network_start(wtl_pe *self, char *error, size_t size);

/* Collective: all PEs' operations are done. */
void wtl_network_stop(wtl_pe *self);

#endif
