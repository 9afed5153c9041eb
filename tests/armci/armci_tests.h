/* armci_tests.h - for test programs of ARMCI: as pes.h, without MPI, so that PEs may be threads. */
#ifndef WTL_TESTS_ARMCI_H
#define WTL_TESTS_ARMCI_H

#define WTL_ARMCI_WITHOUT_MPI
#include <armci.h>
#include <armcix.h>
#include <shmem.h>

#include "pes.h"

#define REQUIRE(pointer)                                                                                               \
  do {                                                                                                                 \
    if (!(pointer)) {                                                                                                  \
      fprintf(stderr, "%s:%d: no memory for the test\n", __FILE__, __LINE__);                                          \
      exit(70);                                                                                                        \
    }                                                                                                                  \
  } while (0)

#endif
