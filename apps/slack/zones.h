/*
 * zones.h - the relative work of each process of BT-MZ: the load of a real program, from its authors' publication.
 *
 * NAS technical report NAS-03-010 (van der Wijngaart, Jin: NAS Parallel Benchmarks, Multi-Zone Versions, 2003):
 * class D has 32 x 32 zones over 1632 x 1216 x 34 points. In BT-MZ their widths grow along x and along y as a
 * geometric progression whose last is 4.5 times its first, so that the largest zone has about 20 times the points of
 * the smallest. Processes get zones by bin packing: the largest zone first, each to the process with the fewest
 * points so far. Time is assumed to be proportional to points.
 */
#ifndef APPS_ZONES_H
#define APPS_ZONES_H

enum { ZONES_X = 32, ZONES_Y = 32 };

/* The points of each of n processes, 1 to ZONES_X * ZONES_Y, divided by their mean. */
void zones_loads(int n, double *loads);

#endif
