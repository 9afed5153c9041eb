/* collective.c - chooses the algorithm of a collective: the first of its table that serves the call. */
#include "collective/collective.h"

#include "collective/algorithms.h"

static void run(wtl_algorithm *const *algorithm, const wtl_collective *c)
{
  while (!(*algorithm)(c)) algorithm++;
}

/* A collective in which PEs wait for each other. */
static void meet(wtl_algorithm *const *algorithm, const wtl_collective *c)
{
  bool entered = wtl_team_enter(c->self, c->team);
  run(algorithm, c);
  wtl_team_leave(c->self, c->site, entered);
}

void wtl_reduce(const wtl_collective *c)
{
  static wtl_algorithm *const algorithms[] = {wtl_reduce_flat, wtl_reduce_staged, wtl_reduce_two_level, wtl_reduce_push,
                                              wtl_reduce_direct};
  meet(algorithms, c);
}

void wtl_scan(const wtl_collective *c)
{
  static wtl_algorithm *const algorithms[] = {wtl_scan_staged, wtl_scan_two_level, wtl_scan_direct};
  meet(algorithms, c);
}

void wtl_broadcast(const wtl_collective *c)
{
  static wtl_algorithm *const algorithms[] = {wtl_broadcast_flat, wtl_broadcast_staged, wtl_broadcast_binomial,
                                              wtl_broadcast_push, wtl_broadcast_direct};
  run(algorithms, c);
}

void wtl_fcollect(const wtl_collective *c)
{
  static wtl_algorithm *const algorithms[] = {wtl_gather_flat, wtl_gather_staged,   wtl_gather_two_level,
                                              wtl_gather_push, wtl_gather_doubling, wtl_gather_direct};
  meet(algorithms, c);
}

void wtl_alltoall(const wtl_collective *c)
{
  static wtl_algorithm *const algorithms[] = {wtl_alltoall_staged, wtl_alltoall_two_level, wtl_alltoall_push,
                                              wtl_alltoall_direct};
  meet(algorithms, c);
}
