/*
 * pe_governor.h - the governor of a PE: whether the PEs of a node agree to have one, and where it is hung in.
 */
#ifndef WTL_JOB_PE_GOVERNOR_H
#define WTL_JOB_PE_GOVERNOR_H

#include "pgas/pe.h"

/* Says whether this PE wants a governor. Before the first barrier. */
void wtl_governed_wish(wtl_pe *self);

/* Collective over the node, once all have said so. Also how transfers are waited for, where the settings say. */
void wtl_governed_start(wtl_pe *self);

/* The program is over: this PE changes no clock any more. */
void wtl_governed_close(wtl_pe *self);

/* All PEs of the node have closed. */
void wtl_governed_stop(wtl_pe *self);

#endif
