/*
 * meter_set.h - the meters of a node that are read together: one for its processors, and others beside it for
 * accelerators and for the whole node.
 *
 * DESIGN. The first member is the main one, and all its domains are in the set. Of a member beside it, the set has the
 * domains of accelerators and of the node. The domains of all members form one list. A domain is nested, and left out
 * of sums, if another one contains its joules:
 *   the node at its supply, beside a sensor of the processors     it contains the processors
 *   an accelerator, where the main member measures the node       the node contains it
 * A name that is taken receives the name of its meter as suffix: "node-redfish".
 */
#ifndef WTL_POWER_METER_SET_H
#define WTL_POWER_METER_SET_H

#include "power/meter.h"

enum { WTL_METER_SET_MOST = 6 };

/* An open meter. at[d]: the place of its domain d in the set; SIZE_MAX: not in the set. */
typedef struct wtl_meter_member {
  const wtl_meter_ops *kind;
  void *state;
  size_t n, at[WTL_MAX_DOMAINS];
} wtl_meter_member;

typedef struct wtl_meter_set {
  wtl_meter_member member[WTL_METER_SET_MOST];
  size_t n, n_domains;
  wtl_domain domain[WTL_MAX_DOMAINS];
  size_t member_of[WTL_MAX_DOMAINS];
  char name[64]; /* "powercap", "powercap+nvml" */
} wtl_meter_set;

/*
 * Adds an open meter, which the set closes. The first one is the main one. Returns false, and closes the meter, if none
 * of its domains is for the set.
 */
bool wtl_meter_set_add(wtl_meter_set *set, const wtl_meter_ops *kind, void *state);

void wtl_meter_set_close(wtl_meter_set *set);

/* The functions of wtl_meter_ops for all members. wtl_meter_set_read sets mark->at to the moment of the main one. */
void wtl_meter_set_read(wtl_meter_set *set, wtl_mark *mark);
void wtl_meter_set_between(wtl_meter_set *set, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                           wattle_joules_t *out, double *random);
void wtl_meter_set_remark(wtl_meter_set *set, char *text, size_t size);
void wtl_meter_set_start_use(wtl_meter_set *set);
size_t wtl_meter_set_used(wtl_meter_set *set, size_t domain, wtl_used *out, size_t max);

/* Is this domain read from a sensor? */
bool wtl_meter_set_measures(const wtl_meter_set *set, size_t domain);

#endif
