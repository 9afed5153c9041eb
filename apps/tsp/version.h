/*
 * version.h - what a version of the travelling salesman is: how work and results go between PEs. main.c does the rest.
 */
#ifndef APPS_TSP_VERSION_H
#define APPS_TSP_VERSION_H

#include "tsp.h"

/* What a solver is told, alike on all PEs. */
typedef struct tsp_task {
  const tsp_graph *g;
  int split;        /* partial tours of fewer cities are split into jobs of their own */
  double hold_s;    /* seconds that PE 0 keeps the first partial tour to itself, so that one sees what waiting costs */
  bool idle_master; /* PE 0 does no jobs, where it else would */
} tsp_task;

/* What this PE found and did. On PE 0 `best` is the answer of all. */
typedef struct tsp_share {
  tsp_path best;
  uint64_t jobs, visited;
  double wait_s, wait_cpu_s; /* waiting for work: time, and what of it this process was on a core; nothing on PE 0 where
                                there is a master */
} tsp_share;

extern const char tsp_version[];  /* "am", "bucket", "mpi" or "steal" */
extern const bool tsp_has_master; /* PE 0 hands out the work, so there must be 2 PEs */

/* Before the first and after the last tsp_solve; every PE together. ahead: jobs that a worker has, or has asked for, at
 * a time. */
void tsp_start(int me, int n_pes, int ahead);
void tsp_end(void);

/* Solves one instance; every PE together. */
void tsp_solve(const tsp_task *task, tsp_share *share);

#endif
