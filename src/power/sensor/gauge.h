/*
 * gauge.h - meters made of gauges. A gauge is a number that a kind can read: the joules or the watts of one domain. The
 * sums, gaps, uncertainty and the reader thread are common to all such kinds.
 *
 * DESIGN. The uncertainty of a figure (half-width) has these parts:
 *   5 % of the joules    the sensor's own error, which is systematic (assumed, because few makers state one)
 *   step x mean watts    readings fall between two updates of the sensor, at both ends
 *   resolution           of a counter: one of its units at each end
 *   changes and gaps     of watts: half of each change between two readings, for the time between them; and the highest
 *                        watts seen, for the time in which the sensor could not be read. Of a counter: that of
 *                        counter.h
 * A reading beyond limit_w is impossible. It is a gap like a reading that fails, and it is counted.
 */
#ifndef WTL_POWER_GAUGE_H
#define WTL_POWER_GAUGE_H

#include "power/sensor/counter.h"
#include "power/meter.h"

typedef struct wtl_gauge {
  wtl_domain domain;
  char source[80];
  char path[320]; /* for the kind */
  void *handle;   /* for the kind */
  int fd;         /* for the kind; closed at the end unless it is -1 */
  bool is_watts;  /* false: joules, a counter that only grows */
  double unit;    /* J or W of one count */
  double step_s;  /* s, longest time between two updates of the sensor */
  double limit_w; /* W, more than the domain can ever draw; wtl_gauge_add sets the usual limit of its scope */
  double watts;   /* for joules: W of the domain at the last reading if the kind can read them, too; else 0 */
  double stamp;   /* s on the sensor's clock, when it took the last reading; NaN: unknown */
  /* The results. */
  bool have;
  int error;           /* errno of the last reading, or 0 */
  double value, at;    /* the last good reading in J or W, and its moment */
  wtl_counter counter; /* of joules */
  unsigned refused;    /* readings beyond the limit that the counter did not receive: of watts */
  double first_at, joules, uncertainty_j, covered_s, most_w;
  wtl_use_account use; /* of an accelerator whose users are known */
} wtl_gauge;

typedef struct wtl_gauges wtl_gauges;

typedef struct wtl_gauge_kind {
  const char *name;
  /* Adds the gauges of this machine with wtl_gauge_add. Sets `why` and `grant` if there are none. */
  void (*find)(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size);
  /*
   * Takes one reading, in counts, and sets the stamp. Returns 0 or an errno; EAGAIN: no new value since the last
   * reading.
   */
  int (*read)(wtl_gauges *set, wtl_gauge *g, double *counts);
  /* Writes the PIDs of up to `max` processes that use an accelerator now. Returns their number. NULL: not known. */
  size_t (*users)(wtl_gauges *set, wtl_gauge *g, int64_t *pid, size_t max);
  void (*drop)(wtl_gauges *set); /* frees the kind's resources; NULL: there are none */
  const char *grant;             /* how to give access to a file that may not be read; NULL: `find` says it */
} wtl_gauge_kind;

struct wtl_gauges {
  const wtl_gauge_kind *kind;
  const wtl_sys *sys;
  void *library;      /* for the kind */
  char mark[64];      /* for the kind: identifies a round of readings */
  size_t n, left_out; /* left_out: gauges beyond WTL_MAX_DOMAINS */
  wtl_gauge gauge[WTL_MAX_DOMAINS];
  struct wtl_gauge_reader *reader; /* NULL: not needed */
};

/* Adds a gauge. Returns NULL if there are too many. */
wtl_gauge *wtl_gauge_add(wtl_gauges *set, const wtl_domain *domain);

/*
 * Samples the counters of each pair for which may_mirror is true, and removes the second one if both show the same
 * counter. Takes about 10 ms for each such pair. For use in `find`.
 */
void wtl_gauges_drop_mirrors(wtl_gauges *set, bool (*may_mirror)(const wtl_gauge *a, const wtl_gauge *b));

/* The functions of a meter made of gauges. WTL_GAUGE_METER makes its table; only `open` differs between kinds. */
void *wtl_gauges_open(const wtl_gauge_kind *kind, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size);
void wtl_gauges_close(void *state);
size_t wtl_gauges_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS]);
void wtl_gauges_read(void *state, wtl_mark *mark);
void wtl_gauges_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                        wattle_joules_t *out, double *random);
void wtl_gauges_remark(void *state, char *text, size_t size);
void wtl_gauges_start_use(void *state);
size_t wtl_gauges_used(void *state, size_t d, wtl_used *out, size_t max);

#define WTL_GAUGE_METER(kind, open_fn)                                                                                 \
  {                                                                                                                    \
    .name = kind, .open = open_fn, .close = wtl_gauges_close, .domains = wtl_gauges_domains, .read = wtl_gauges_read,  \
    .between = wtl_gauges_between, .remark = wtl_gauges_remark, .start_use = wtl_gauges_start_use,                     \
    .used = wtl_gauges_used, .measures = true                                                                          \
  }

/* Reads the number in a file. Returns 0 or an errno; EBADMSG: the file has no number. */
int wtl_gauge_number(const wtl_sys *sys, const char *path, double *number);

#endif
