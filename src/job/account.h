/*
 * account.h - the beginning and the end of a PE's record (record.h): joules are split between two barriers.
 */
#ifndef WTL_JOB_ACCOUNT_H
#define WTL_JOB_ACCOUNT_H

#include "pgas/pe.h"
#include "record/record.h"

/* Of a PE of the node at its end: what it did, the model's rates for that (cpu, dram), and its joules by domain. */
typedef struct wtl_account {
  wtl_activity activity;
  wtl_rates rate[2];
  wattle_joules_t joules[WTL_MAX_DOMAINS];
} wtl_account;

/* Counts from now on, and lets wattle.h in the same process see it. */
void wtl_account_start(wtl_pe *self);

/* Collective: splits the node's joules and writes this PE's profile where WATTLE_PROFILE_DIR says. */
void wtl_account_close(wtl_pe *self, wtl_site *site);

/* Alone: writes the profile without joules, for a job that is being ended. */
void wtl_account_abandon(wtl_pe *self);

#endif
