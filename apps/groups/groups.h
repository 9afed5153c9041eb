/*
 * groups.h - PEs that wait for some of the others, by OpenSHMEM (groups_shmem.c) and by MPI (groups_mpi.c).
 *
 * In an instance each second PE computes CR times as much as the others. Then it waits as its pattern says.
 */
#ifndef APPS_GROUPS_H
#define APPS_GROUPS_H

#include <stdbool.h>

extern const char *const groups_names[]; /* of the patterns, ended by NULL */

/* Makes the groups of PEs. Collective. */
void groups_make(void);

/* Runs an instance of a pattern. `at`: its number since the start, from 0. */
void groups_run(int pattern, long at);

/* Whether all signals and sums of `instances` instances since the start were right on this PE. */
bool groups_right(int pattern, long instances);

/* Computes (main.c). `much`: CR times as much. */
void groups_compute(bool much);

#endif
