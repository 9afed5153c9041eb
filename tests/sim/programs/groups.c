/*
 * groups.c - PEs that wait for some of the others. Words: pattern, instances, seed. Each second PE computes for 3 ms in
 * an instance, and the others for 1 ms. With a seed above 0, each time differs by up to 10 %.
 *
 *   world      all meet in a barrier
 *   teams      two teams, each of which meets
 *   reduce     two teams, each of which reduces
 *   crossing   rows and columns of a square meet alternately
 *   nested     halves meet in each instance, and all in each fourth
 *   pairs      PEs 2i and 2i+1 signal each other
 *   halo       the four neighbours on a torus signal each other; one row computes for 3 ms
 *   wavefront  the left and the upper neighbour signal, instance after instance
 *   token      PE i starts when PE i-1 has finished, and PE 0 when the last PE has
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wattle_sim.h>

static uint64_t arrived[4];
static long in[4], out[4];
static int me, n, side;
static uint64_t seed;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of the seed, the PE and the instance. */
static double varied(int instance)
{
  uint64_t z = (seed << 40 | (uint64_t)me << 20 | (uint64_t)instance) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return seed ? 0.9 + 0.2 * (double)((z ^ z >> 31) >> 11) / 9007199254740992.0 : 1;
}

static void compute(double ms, int instance)
{
  wattle_sim_compute(1e-3 * ms * varied(instance));
}

static double load(void)
{
  return me % 2 ? 3 : 1;
}

static int at(int x, int y)
{
  return (y + side) % side * side + (x + side) % side;
}

static void tell(int pe, int way)
{
  shmem_uint64_atomic_inc(&arrived[way], pe);
}

static void hear(int way, int instance)
{
  shmem_uint64_wait_until(&arrived[way], SHMEM_CMP_GE, (uint64_t)instance + 1);
}

static void world(int i)
{
  compute(load(), i);
  shmem_barrier_all();
}

static shmem_team_t halves, row, column;

static void teams(int i)
{
  compute(load(), i);
  shmem_team_sync(halves);
}

static void reduce(int i)
{
  compute(load(), i);
  shmem_long_sum_reduce(halves, out, in, 1);
}

static void crossing(int i)
{
  compute(load(), i);
  shmem_team_sync(row);
  compute(me / side % 2 ? 3 : 1, i);
  shmem_team_sync(column);
}

static void nested(int i)
{
  compute(load(), i);
  shmem_team_sync(halves);
  if (i % 4 == 3) shmem_barrier_all();
}

static void pairs(int i)
{
  compute(load(), i);
  tell(me ^ 1, 0);
  hear(0, i);
}

static void halo(int i)
{
  int x = me % side, y = me / side;
  compute(y == 1 ? 3 : 1, i);
  tell(at(x + 1, y), 0);
  tell(at(x - 1, y), 1);
  tell(at(x, y + 1), 2);
  tell(at(x, y - 1), 3);
  for (int way = 0; way < 4; way++) hear(way, i);
}

static void wavefront(int i)
{
  int x = me % side, y = me / side;
  if (x > 0) hear(0, i);
  if (y > 0) hear(1, i);
  compute(load(), i);
  if (x < side - 1) tell(at(x + 1, y), 0);
  if (y < side - 1) tell(at(x, y + 1), 1);
}

static void token(int i)
{
  if (me > 0 || i > 0) hear(0, me > 0 ? i : i - 1);
  compute(load(), i);
  tell((me + 1) % n, 0);
}

static const struct {
  const char *name;
  void (*run)(int);
} patterns[] = {{"world", world},       {"teams", teams},         {"reduce", reduce},
                {"crossing", crossing}, {"nested", nested},       {"pairs", pairs},
                {"halo", halo},         {"wavefront", wavefront}, {"token", token}};

static void split(void)
{
  for (int half = 0; half < 2; half++) {
    shmem_team_t made;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, half * (n / 2), 1, n / 2, NULL, 0, &made);
    if (made != SHMEM_TEAM_INVALID) halves = made;
  }
  shmem_team_split_2d(SHMEM_TEAM_WORLD, side, NULL, 0, &row, NULL, 0, &column);
}

int main(int argc, char **argv)
{
  shmem_init();
  me = shmem_my_pe(), n = shmem_n_pes(), seed = argc > 3 ? (uint64_t)atoi(argv[3]) : 0;
  while ((side + 1) * (side + 1) <= n) side++;
  split();
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    if (argc < 3 || strcmp(argv[1], patterns[p].name)) continue;
    for (int i = 0; i < atoi(argv[2]); i++) patterns[p].run(i);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
