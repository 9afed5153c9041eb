/*
 * load.h - what else ran while this program measured, by the kernel's account of CPU time.
 */
#ifndef WTL_CALIBRATE_LOAD_H
#define WTL_CALIBRATE_LOAD_H

typedef struct load {
  double wall_s;
  double busy_s, stolen_s; /* of all cores: busy for anybody; taken by the virtual machine's host. NaN: not known */
  double own_s;            /* by this process and its helpers that have ended */
} load;

/* Reads the accounts. */
load load_now(void);

/* Cores' worth of time between two readings that others used, and that the host took. NaN where that is not known. */
double load_others(const load *before, const load *after);
double load_stolen(const load *before, const load *after);

#endif
