/* program.c - the ring, with the header's older path. */
#include <mpp/shmem.h>

#include "ring.h"

int main(void)
{
  return ring();
}
