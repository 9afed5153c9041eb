// The same sum by a collective, from C++.
#include <shmem.h>

#include <iostream>

static long mine, sum;

int main()
{
  shmem_init();
  mine = shmem_my_pe();
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
  if (mine == 0) std::cout << "the PEs' numbers add up to " << sum << std::endl;
  shmem_finalize();
}
