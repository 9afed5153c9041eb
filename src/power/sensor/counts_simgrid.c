/* counts_simgrid.c - in simulation: the counts of this PE's core and of the program's copies. */
#include "power/sensor/counts.h"

#include "sim/libc_calls.h"
#include "sim/simulator.h"

bool wtl_counters_open(wtl_counters *c, const wtl_counters_sys *sys)
{
  *c = (wtl_counters){.sys = sys, .fd = {-1, -1, -1}};
  return true;
}

bool wtl_counters_read(wtl_counters *c, wtl_counts *now)
{
  (void)c;
  wtl_sim_catch_up(); /* cycles are counted as time passes */
  now->cycles = wtl_sim_cycles();
  now->instructions = wtl_sim_instructions();
  now->misses = wtl_sim_misses();
  return true;
}

void wtl_counters_close(wtl_counters *c)
{
  (void)c;
}
