/*
 * account.h - the end of a PE: what it did becomes joules and a file.
 *
 * Node joules come from the node's one reader and are split by what each PE did (src/power); a PE splits its share
 * among its call sites by the same model, which is linear in time by state and in bytes. docs/profile.md has the file's
 * fields.
 */
#ifndef WTL_PGAS_ACCOUNT_H
#define WTL_PGAS_ACCOUNT_H

#include "pgas/pe.h"

/* Lets wattle.h in the same process see this PE's time in state and bytes. */
void wtl_account_register(wtl_pe *self);

/* Where this PE's time went since it started, by the wall clock: the states add up to wall_s. */
void wtl_account_states(const wtl_pe *self, wtl_activity *out);

/*
 * The same as joules see it: time on a core, added up from one call of this to the next, so that it never falls. A PE
 * that is ready to run but has no core draws nothing, so where it used less CPU time than it was awake, the rest counts
 * as asleep; where threads of the program used more, it counts as active.
 */
void wtl_account_activity(wtl_pe *self, wtl_activity *out);

/* The node's joules by domain: all, and the share nobody caused. */
typedef struct wtl_node_joules {
  wattle_joules_t total[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS];
} wtl_node_joules;

/* What the model says of an activity of this node, joules; domain 0: cpu, 1: dram. NaN where there is no model. After
 * the split only. */
double wtl_account_modelled(const wtl_pe *self, int domain, const wtl_activity *a);

/* This PE's share of the node's joules, cpu or dram. After the split only. */
double wtl_account_share(const wtl_pe *self, int dram);

/* Collective: splits the node's joules and writes this PE's profile where WATTLE_PROFILE_DIR says. */
void wtl_account_close(wtl_pe *self, wtl_site *site);

/* Alone: writes the profile without joules, for a job that is being ended. */
void wtl_account_abandon(wtl_pe *self);

#endif
