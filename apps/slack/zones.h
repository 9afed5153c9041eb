/*
 * zones.h - the relative work of each process of BT-MZ, SP-MZ and LU-MZ: the loads of real programs, from their
 * authors' publication.
 *
 * NAS technical report NAS-03-010 (van der Wijngaart, Jin: NAS Parallel Benchmarks, Multi-Zone Versions, 2003): class D
 * has 1632 x 1216 x 34 points, in 32 x 32 zones in BT-MZ and SP-MZ and in 4 x 4 zones in LU-MZ. All zones of SP-MZ are
 * alike, and those of LU-MZ, too. In BT-MZ their widths grow along x and along y as a geometric progression whose last
 * is 4.5 times its first, so that the largest zone has about 20 times the points of the smallest. Processes get zones by
 * bin packing: the largest zone first, each to the process with the fewest points so far. Time is assumed to be
 * proportional to points.
 */
#ifndef APPS_ZONES_H
#define APPS_ZONES_H

typedef enum zones_program { ZONES_BT_MZ, ZONES_SP_MZ, ZONES_LU_MZ } zones_program;

enum { ZONES_MOST = 32 * 32 };

/* The number of zones of a program. */
int zones_of(zones_program program);

/* The points of each of n processes, 1 to zones_of(program), divided by their mean. */
void zones_loads(zones_program program, int n, double *loads);

#endif
