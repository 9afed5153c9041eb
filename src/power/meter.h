/*
 * meter.h - the interface of a kind of meter, and the table of kinds.
 *
 * DESIGN. A kind reads marks, whose counters run since it was opened, and computes the figures between two marks.
 * Everything else is in meter.c and the same for all kinds: the choice of the kind, the account of the process, and the
 * split among PEs.
 */
#ifndef WTL_POWER_METER_H
#define WTL_POWER_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/activity.h"
#include "power/power.h"
#include "power/sys.h"
#include "power/use_account.h"

/* One counter at one moment. */
typedef struct wtl_point {
  uint64_t uj;      /* microjoules counted since the meter was opened, across wraps: a lower bound */
  double excess_j;  /* J that may be missing from it because of gaps */
  bool ok;          /* the reading of this mark was good */
  double good_at;   /* s, moment of the last good reading; NaN: there was none */
  double covered_s; /* s counted with certainty up to good_at */
  double watts;     /* W, mean since the meter was opened; NaN if not known yet */
} wtl_point;

/* A moment: its time, the counters, and the account of the process. */
typedef struct wtl_mark {
  double at; /* s on the meter's clock */
  wtl_account account;
  /* CPU seconds of all programs of this machine at the moment machine_at; NaN: not read, because the profile has no use
   * for them. */
  double machine_cpu_s, machine_at;
  wtl_point point[WTL_MAX_DOMAINS];
} wtl_mark;

enum wtl_part {
  WTL_PART_CPU = 0,
  WTL_PART_DRAM = 1,
  WTL_PART_NODE = 2
}; /* the modelled joules by which a domain is split; NODE: both */

typedef struct wtl_domain {
  char name[32];
  wattle_scope_t scope;
  enum wtl_part part;
  bool nested;    /* another domain contains it */
  bool available; /* it can be read now */
} wtl_domain;

/* The arguments of open. The strings and the profile outlive the meter. */
typedef struct wtl_meter_env {
  const char *sysfs;
  const wtl_sys *sys;
  const wtl_machine *machine;   /* NULL if the caller loaded none */
  const wtl_settings *settings; /* NULL: defaults */
} wtl_meter_env;

typedef struct wtl_meter_ops {
  const char *name;
  /*
   * Opens the meter. Returns the state of the kind, or NULL with `why` (what is missing) and `grant` (how to give
   * access safely: one command or remark after '#' a line; "" if no permission would help). A kind that opens leaves
   * both empty, or says what it cannot read.
   */
  void *(*open)(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size);
  void (*close)(void *state);
  /* Writes the domains, top-level ones first. Returns their number, at most WTL_MAX_DOMAINS. */
  size_t (*domains)(void *state, wtl_domain out[WTL_MAX_DOMAINS]);
  /* Fills the points of the mark. The caller fills the rest. */
  void (*read)(void *state, wtl_mark *mark);
  /*
   * Computes one figure for each domain. `did` is the activity of this process in between. random[d] receives the part
   * of the uncertainty, in J, that differs between intervals, because it depends on when the sensor updates. The rest
   * is systematic.
   */
  void (*between)(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did, wattle_joules_t *out,
                  double *random);
  /*
   * Writes how many readings were left out as impossible so far: "package-0: 3 readings beyond 1000 W left out"; "" if
   * none were. NULL: the kind reads no sensor.
   */
  void (*remark)(void *state, char *text, size_t size);
  /*
   * used: writes what up to `max` processes drew in domain d, an accelerator, since start_use. Returns their number; or
   * WTL_USE_UNKNOWN if the driver has no list of processes. NULL: no accelerator's driver has one.
   */
  void (*start_use)(void *state);
  size_t (*used)(void *state, size_t d, wtl_used *out, size_t max);
  /*
   * Its top-level figures are those of the node, read from sensors. Otherwise wtl_meter_finish adds the PEs up by the
   * model.
   */
  bool measures;
} wtl_meter_ops;

extern const wtl_meter_ops wtl_meter_powercap, wtl_meter_perf, wtl_meter_cray, wtl_meter_hwmon, wtl_meter_redfish,
    wtl_meter_nvml, wtl_meter_model, wtl_meter_none;

/* All kinds, best first, ended by NULL. */
extern const wtl_meter_ops *const wtl_meter_kinds[];

/* wtl_meter_open with another clock and file reader, which must outlive the meter. */
wtl_meter *wtl_meter_open_with(const wtl_settings *settings, const wtl_sys *sys, char *error, size_t size);

/*
 * Opens a kind and checks it: `why` says so if fewer packages can be read than the machine has. The arguments are as in
 * wtl_meter_ops.
 */
void *wtl_meter_open_kind(const wtl_meter_ops *kind, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                          size_t grant_size);

/* The domains of an open meter, in the order of its figures. */
size_t wtl_meter_domains(const wtl_meter *m, wtl_domain out[WTL_MAX_DOMAINS]);

/*
 * wtl_meter_mark takes a mark. wtl_meter_between computes the figures between two marks, one for each domain, in arrays
 * of WTL_MAX_DOMAINS, and returns the number of domains. extra_bytes are added to the bytes that the process moved.
 * `random` is as in wtl_meter_ops. Used by wattle.h.
 */
void wtl_meter_mark(wtl_meter *m, wtl_mark *mark);
size_t wtl_meter_between(wtl_meter *m, const wtl_mark *a, const wtl_mark *b, double extra_bytes, wattle_joules_t *out,
                         double *random);

#endif
