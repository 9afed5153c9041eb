/*
 * gauge.h - meters made of gauges: numbers that a kind can read, each the joules or the watts of one domain. What
 * becomes of them (sums, gaps, uncertainty, the thread that reads watts often enough) is the same for all such kinds.
 *
 * Uncertainty of a figure, half-width:
 *   5 % of the joules    the sensor's own error, which repeats alike (assumed: few makers state one)
 *   step x mean watts    readings fall between two updates of the sensor, at both ends
 *   resolution           of a counter: one of its units at each end
 *   doubt                of watts: half of each change from one reading to the next, for as long as lies between them; and
 *                        the highest watts seen, for as long as it could not be read
 */
#ifndef WTL_POWER_GAUGE_H
#define WTL_POWER_GAUGE_H

#include "power/meter.h"

typedef struct wtl_gauge {
  wtl_domain domain;
  char source[80];
  char path[320]; /* the kind's own */
  void *handle;   /* the kind's own */
  int fd;         /* the kind's own; closed at the end where it is not -1 */
  bool is_watts;  /* else joules, which only grow */
  double unit;    /* J or W of one count */
  double step_s;  /* between two updates of the sensor, at most */
  double watts;   /* of joules: the domain's W at the last reading, where the kind can tell them too; else 0 */
  double stamp;   /* s, of the last reading: when the sensor took it, by its own clock; NaN where it does not say */
  /* What came of it. */
  bool have;
  int error;        /* errno of the last reading; 0 */
  double value, at; /* the last good reading: J or W, and its moment */
  double first_at, joules, doubt_j, covered_s, most_w;
} wtl_gauge;

typedef struct wtl_gauges wtl_gauges;

typedef struct wtl_gauge_kind {
  const char *name;
  /* Adds what there is with wtl_gauge_add. Leaves the reason in why and grant where there is nothing. */
  void (*find)(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size);
  /* One reading, in counts, and its stamp. 0 or an errno; EAGAIN: nothing new since the last. */
  int (*read)(wtl_gauges *set, wtl_gauge *g, double *counts);
  void (*drop)(wtl_gauges *set); /* NULL: nothing to give back */
} wtl_gauge_kind;

struct wtl_gauges {
  const wtl_gauge_kind *kind;
  const wtl_sys *sys;
  void *library; /* the kind's own */
  char mark[64]; /* the kind's own: what tells one round of readings from the next */
  size_t n;
  wtl_gauge gauge[WTL_MAX_DOMAINS];
  struct wtl_gauge_reader *reader; /* NULL where none is needed */
};

/* A new gauge; NULL where there are too many already. */
wtl_gauge *wtl_gauge_add(wtl_gauges *set, const wtl_domain *domain);

/* For the kinds' tables of functions: all but open are these. */
void *wtl_gauges_open(const wtl_gauge_kind *kind, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size);
void wtl_gauges_close(void *state);
size_t wtl_gauges_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS]);
void wtl_gauges_read(void *state, wtl_mark *mark);
void wtl_gauges_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                        wattle_joules_t *out, double *random);

#define WTL_GAUGE_METER(kind, open_fn)                                                                                 \
  {                                                                                                                    \
    .name = kind, .open = open_fn, .close = wtl_gauges_close, .domains = wtl_gauges_domains, .read = wtl_gauges_read,  \
    .between = wtl_gauges_between, .measures = true                                                                    \
  }

/* A file's number; an errno, EBADMSG where it has none. */
int wtl_gauge_number(const wtl_sys *sys, const char *path, double *number);

#endif
