/* For the simulator, which finds it in the program by its name: what a call that waits is called. */
#include "shmem/shmem_front.h"

const char *wtl_sim_call_name(unsigned call);
const char *wtl_sim_call_name(unsigned call)
{
  return wtl_shmem_call_name(call);
}
