/* call_name_sim.c - the name of a call, for the simulator, which finds this function in the program by its name. */
#include "shmem/shmem_front.h"

const char *wtl_sim_call_name(unsigned call)
{
  return wtl_shmem_call_name(call);
}
