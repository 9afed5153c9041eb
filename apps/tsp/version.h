/*
 * version.h - the interface of a version of the travelling salesman: how work and results move between PEs. main.c
 * does the rest.
 */
#ifndef APPS_TSP_VERSION_H
#define APPS_TSP_VERSION_H

#include "tsp.h"

/* The input of a solver, equal on all PEs. */
typedef struct tsp_task {
  const tsp_graph *g;
  int split;        /* partial tours of fewer cities are split into separate jobs */
  double hold_s;    /* seconds for which PE 0 holds back the first partial tour, which shows the cost of waiting */
  bool idle_master; /* PE 0 does no jobs, in versions where it otherwise would */
} tsp_task;

/* The result and work of this PE. On PE 0 `best` is the result of all. */
typedef struct tsp_share {
  tsp_path best;
  uint64_t jobs, visited;
  /* waiting for work: time, and the part of it on a core; 0 on PE 0 where there is a master */
  double wait_s, wait_cpu_s;
} tsp_share;

extern const char tsp_version[];  /* "am", "bucket", "mpi" or "steal" */
extern const bool tsp_has_master; /* PE 0 distributes the work, so there must be 2 PEs */

/* Called before the first and after the last tsp_solve. Collective. ahead: jobs that a worker holds or has requested
 * at a time. */
void tsp_start(int me, int n_pes, int ahead);
void tsp_end(void);

/* Solves one instance. Collective. */
void tsp_solve(const tsp_task *task, tsp_share *share);

#endif
