/* load.h - the CPU time that other processes used while this program measured. */
#ifndef WTL_CALIBRATE_LOAD_H
#define WTL_CALIBRATE_LOAD_H

typedef struct load {
  double wall_s;
  double busy_s, stolen_s; /* of all cores: by all processes; by the host of a virtual machine. NaN: unknown */
  double own_s;            /* used by this process and its helpers that have ended */
} load;

/* Reads the accounts now. */
load load_now(void);

/*
 * Return the CPU seconds per second between two readings that other processes used, and that the host took. NaN:
 * unknown.
 */
double load_others(const load *before, const load *after);
double load_stolen(const load *before, const load *after);

#endif
