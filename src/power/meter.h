/*
 * meter.h - what every kind of meter must be able to do, and the table of kinds.
 *
 * A kind reads a mark (cumulative, since it was opened) and says what lies between two marks. Everything else - which
 * kind to take, the process's own account, the split among PEs - is meter.c's and the same for all of them.
 */
#ifndef WTL_POWER_METER_H
#define WTL_POWER_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/activity.h"
#include "power/power.h"
#include "power/sys.h"

/* One counter at one moment. */
typedef struct wtl_point {
  uint64_t uj;      /* microjoules counted since the meter was opened, through all wraps; the least that can be shown */
  double excess_j;  /* J that may have been missed on top of it, in gaps */
  bool ok;          /* this very reading was good */
  double good_at;   /* s, moment of the last good reading; NaN if there never was one */
  double covered_s; /* s counted without doubt up to good_at */
  double watts;     /* W, mean since the meter was opened; NaN if not known yet */
} wtl_point;

/* A moment: when, what the counters said, what the process had done. */
typedef struct wtl_mark {
  double at; /* s, the meter's clock */
  wtl_account account;
  wtl_point point[WTL_MAX_DOMAINS];
} wtl_mark;

enum wtl_part {
  WTL_PART_CPU = 0,
  WTL_PART_DRAM = 1,
  WTL_PART_NODE = 2
}; /* which modelled joules split a domain; NODE: both */

typedef struct wtl_domain {
  char name[32];
  wattle_scope_t scope;
  enum wtl_part part;
  bool nested;    /* another domain contains it */
  bool available; /* it can be read now */
} wtl_domain;

/* What a kind is given when it opens. The strings and the profile outlive the meter. */
typedef struct wtl_meter_env {
  const char *sysfs;
  const wtl_sys *sys;
  const wtl_machine *machine;   /* NULL where the caller loaded none */
  const wtl_settings *settings; /* NULL: none of theirs */
} wtl_meter_env;

typedef struct wtl_meter_ops {
  const char *name;
  /*
   * Opens. Returns the kind's own state, or NULL with `why` (what is missing) and `grant` (how access is given safely:
   * a command, or a remark after '#', a line; "" if no permission would help). A kind that opens leaves both empty, or
   * says what it has to do without.
   */
  void *(*open)(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size);
  void (*close)(void *state);
  /* The domains, top-level ones first. Returns their number, at most WTL_MAX_DOMAINS. */
  size_t (*domains)(void *state, wtl_domain out[WTL_MAX_DOMAINS]);
  /* Fills the mark's points (the caller fills the rest). */
  void (*read)(void *state, wtl_mark *mark);
  /*
   * One figure for each domain; `did` is what this process did in between. random[d] receives that part of the
   * uncertainty, in J, which differs from interval to interval (where a sensor's updates happened to fall); the rest
   * repeats alike.
   */
  void (*between)(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did, wattle_joules_t *out,
                  double *random);
  /* Its top-level figures are the node's, read from sensors; otherwise finish adds the PEs up by the model. */
  bool measures;
} wtl_meter_ops;

extern const wtl_meter_ops wtl_meter_powercap, wtl_meter_perf, wtl_meter_cray, wtl_meter_hwmon, wtl_meter_redfish,
    wtl_meter_nvml, wtl_meter_model, wtl_meter_simgrid, wtl_meter_none;

/* All kinds, best first, ended by NULL. */
extern const wtl_meter_ops *const wtl_meter_kinds[];

/* wtl_meter_open with another clock and file reader, which outlive the meter. */
wtl_meter *wtl_meter_open_with(const wtl_settings *settings, const wtl_sys *sys, char *error, size_t size);

/* The domains of an open meter, in the order of its figures. */
size_t wtl_meter_domains(const wtl_meter *m, wtl_domain out[WTL_MAX_DOMAINS]);

/*
 * Takes a mark, and says what lies between two of them: one figure for each domain, arrays of WTL_MAX_DOMAINS.
 * extra_bytes are added to what the process is known to have moved; random as in wtl_meter_ops. For wattle.h. Returns
 * the number of domains.
 */
void wtl_meter_mark(wtl_meter *m, wtl_mark *mark);
size_t wtl_meter_between(wtl_meter *m, const wtl_mark *a, const wtl_mark *b, double extra_bytes, wattle_joules_t *out,
                         double *random);

#endif
