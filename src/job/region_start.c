/* region_start.c - observes the regions that an OpenSHMEM or ARMCI program marks, from the start of the process on. */
#include <stdlib.h>

#include "base/region_mark.h"
#include "os/os.h"
#include "profile/user_region.h"

/* The program may mark regions before it initializes the library. Only a run that writes a profile has a use for
 * regions. */
__attribute__((constructor)) static void at_load(void)
{
  const char *folder = getenv("WATTLE_PROFILE_DIR");
  if (WTL_OS_IS_SIMULATED || !folder || !*folder) return;
  wtl_mark_observe(wtl_user_region_mark);
  wtl_mark_offer_nvtx();
}
