/* account.h - the beginning and the end of a PE's record (record.h). At the end the PEs of a node share its joules. */
#ifndef WTL_JOB_ACCOUNT_H
#define WTL_JOB_ACCOUNT_H

#include "pgas/pe.h"
#include "record/record.h"

/* The account of a PE at its end: its activity, the model's rates for it (cpu, dram), and its joules by domain. `idle`:
 * those of its share of the idle node, in simulation, where each PE has a meter. */
typedef struct wtl_account {
  wtl_activity activity;
  wtl_rates rate[2];
  wattle_joules_t joules[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS];
} wtl_account;

/* Starts counting, and registers the record so that wattle.h in the same process can read it. */
void wtl_account_start(wtl_pe *self);

/* Collective: splits the node's joules and writes this PE's profile to WATTLE_PROFILE_DIR, if that is set. */
void wtl_account_close(wtl_pe *self, wtl_site *site);

/* Not collective: writes the profile without joules, for a job that is ended early. */
void wtl_account_abandon(wtl_pe *self);

#endif
