/*
 * groups_mpi.c - groups by MPI, see groups.h.
 *
 *   communicators  two communicators, each of which reduces
 *   grid           communicators of rows and of columns of a square reduce alternately; before the columns, each second
 *                  row computes much
 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>

#include "groups.h"

const char *const groups_names[] = {"communicators", "grid", NULL};

static MPI_Comm half, row, column;
static int me, n, side;
static bool is_sum_right = true;

static void reduce(MPI_Comm comm, int size)
{
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  is_sum_right &= sum == size;
}

void groups_make(void)
{
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  side = (int)sqrt(n);
  MPI_Comm_split(MPI_COMM_WORLD, me / (n / 2), me, &half);
  MPI_Comm_split(MPI_COMM_WORLD, me / side, me, &row);
  MPI_Comm_split(MPI_COMM_WORLD, me % side, me, &column);
}

void groups_run(int pattern, long at)
{
  (void)at;
  groups_compute(me % 2);
  reduce(pattern == 0 ? half : row, pattern == 0 ? n / 2 : side);
  if (pattern == 0) return;
  groups_compute(me / side % 2);
  reduce(column, side);
}

bool groups_right(int pattern, long instances)
{
  (void)pattern;
  (void)instances;
  return is_sum_right;
}
