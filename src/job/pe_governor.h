/* pe_governor.h - the governor of a PE: the PEs of a node agree on it, and the PE's waits and transfers use it. */
#ifndef WTL_JOB_PE_GOVERNOR_H
#define WTL_JOB_PE_GOVERNOR_H

#include "pgas/pe.h"

/* Publishes whether this PE wants a governor. Must be called before the first barrier. */
void wtl_governed_request(wtl_pe *self);

/* Collective over the node, after all its PEs have called wtl_governed_request and a barrier. Also starts the governor
 * of transfers, if the settings ask for it. */
void wtl_governed_start(wtl_pe *self);

/* Adds up the watts of all PEs (govern/power_budget.h). Collective over all PEs, at the end of another collective. */
void wtl_governed_exchange_watts(wtl_pe *self, wtl_site *site);

/* Called at the end of the program. After it this PE changes no clock. */
void wtl_governed_close(wtl_pe *self);

/* Frees the governor. All PEs of the node must have called wtl_governed_close. */
void wtl_governed_stop(wtl_pe *self);

#endif
