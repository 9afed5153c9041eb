/*
 * groups_shmem.c - groups by OpenSHMEM, see groups.h.
 *
 *   world      all meet in a barrier
 *   teams      two teams, each of which meets
 *   reduce     two teams, each of which reduces
 *   crossing   rows and columns of a square meet alternately; before the columns, each second row computes much
 *   nested     halves meet in each instance, and all in each fourth
 *   pairs      PEs 2i and 2i+1 signal each other
 *   halo       the four neighbours on a torus signal each other; one row computes much
 *   wavefront  the left and the upper neighbour signal, instance after instance
 *   ring       PE i starts when PE i-1 has finished, and PE 0 when the last PE has
 */
#include <math.h>
#include <shmem.h>
#include <stdint.h>

#include "groups.h"

static uint64_t arrived[4]; /* symmetric: signals, by the way on which they come */
static long in[1] = {1}, out[1];
static bool is_sum_right = true;
static int me, n, side;
static shmem_team_t half, row, column;

static int at_place(int x, int y)
{
  return (y + side) % side * side + (x + side) % side;
}

static void tell(int pe, int way)
{
  shmem_uint64_atomic_inc(&arrived[way], pe);
}

static void hear(int way, long signals)
{
  shmem_uint64_wait_until(&arrived[way], SHMEM_CMP_GE, (uint64_t)signals);
}

static void world(long at)
{
  (void)at;
  groups_compute(me % 2);
  shmem_barrier_all();
}

static void teams(long at)
{
  (void)at;
  groups_compute(me % 2);
  shmem_team_sync(half);
}

static void reduce(long at)
{
  (void)at;
  groups_compute(me % 2);
  shmem_long_sum_reduce(half, out, in, 1);
  is_sum_right &= out[0] == n / 2;
}

static void crossing(long at)
{
  (void)at;
  groups_compute(me % 2);
  shmem_team_sync(row);
  groups_compute(me / side % 2);
  shmem_team_sync(column);
}

static void nested(long at)
{
  groups_compute(me % 2);
  shmem_team_sync(half);
  if (at % 4 == 3) shmem_barrier_all();
}

static void pairs(long at)
{
  groups_compute(me % 2);
  tell(me ^ 1, 0);
  hear(0, at + 1);
}

static void halo(long at)
{
  int x = me % side, y = me / side;
  groups_compute(y == 1);
  tell(at_place(x + 1, y), 0);
  tell(at_place(x - 1, y), 1);
  tell(at_place(x, y + 1), 2);
  tell(at_place(x, y - 1), 3);
  for (int way = 0; way < 4; way++) hear(way, at + 1);
}

static void wavefront(long at)
{
  int x = me % side, y = me / side;
  if (x > 0) hear(0, at + 1);
  if (y > 0) hear(1, at + 1);
  groups_compute(me % 2);
  if (x < side - 1) tell(at_place(x + 1, y), 0);
  if (y < side - 1) tell(at_place(x, y + 1), 1);
}

static void ring(long at)
{
  if (me > 0 || at > 0) hear(0, me > 0 ? at + 1 : at);
  groups_compute(me % 2);
  tell((me + 1) % n, 0);
}

const char *const groups_names[] = {"world", "teams", "reduce",    "crossing", "nested",
                                    "pairs", "halo",  "wavefront", "ring",     NULL};
static void (*const patterns[])(long) = {world, teams, reduce, crossing, nested, pairs, halo, wavefront, ring};
static const int ways[] = {0, 0, 0, 0, 0, 1, 4, 2, 1}; /* on which signals come */

void groups_make(void)
{
  me = shmem_my_pe(), n = shmem_n_pes(), side = (int)sqrt(n);
  for (int i = 0; i < 2; i++) {
    shmem_team_t made;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, i * (n / 2), 1, n / 2, NULL, 0, &made);
    if (made != SHMEM_TEAM_INVALID) half = made;
  }
  shmem_team_split_2d(SHMEM_TEAM_WORLD, side, NULL, 0, &row, NULL, 0, &column);
}

void groups_run(int pattern, long at)
{
  patterns[pattern](at);
}

bool groups_right(int pattern, long instances)
{
  uint64_t wrong = 0;
  for (int way = 0; way < ways[pattern]; way++)
    if (arrived[way]) wrong |= arrived[way] ^ (uint64_t)instances; /* at an edge of the wavefront none comes */
  return is_sum_right && !wrong;
}
