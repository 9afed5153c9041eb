/* The partition of the multi-zone programs: nothing is lost, zones differ as their authors say, and no process has more
 * than bin packing leaves it. */
#include "../../apps/slack/zones.h"

#include <math.h>

#include "power/check.h"

static double loads[ZONES_MOST];

static void check(zones_program program, int n, double *least, double *most)
{
  double sum = 0;
  zones_loads(program, n, loads);
  *least = INFINITY;
  *most = 0;
  for (int p = 0; p < n; p++) {
    sum += loads[p];
    *least = fmin(*least, loads[p]);
    *most = fmax(*most, loads[p]);
  }
  CHECK(fabs(sum - n) < 1e-9 * n);
}

static void every_process_has_the_time_that_bin_packing_leaves(void)
{
  double least, most;
  check(ZONES_BT_MZ, 1, &least, &most);
  CHECK(fabs(most - 1) < 1e-12);
  check(ZONES_BT_MZ, zones_of(ZONES_BT_MZ), &least, &most); /* a zone each */
  CHECK(most / least > 18 && most / least < 23);
  check(ZONES_BT_MZ, 64, &least, &most);
  CHECK(most < 1.01); /* enough zones to make all alike */
  check(ZONES_BT_MZ, 360, &least, &most);
  CHECK(most > 1.2 && most < 1.5); /* the largest zone alone is more than a process's part */
  CHECK(least < 1);
}

static void equal_zones_leave_only_whole_zones_of_difference(void)
{
  double least, most;
  check(ZONES_SP_MZ, 512, &least, &most); /* two zones each */
  CHECK(fabs(least - 1) < 1e-12 && fabs(most - 1) < 1e-12);
  check(ZONES_SP_MZ, 360, &least, &most); /* two or three of 1024 */
  CHECK(fabs(least - 2 * 360 / 1024.0) < 1e-9 && fabs(most - 3 * 360 / 1024.0) < 1e-9);
  CHECK(zones_of(ZONES_LU_MZ) == 16);
  check(ZONES_LU_MZ, 16, &least, &most);
  CHECK(fabs(least - 1) < 1e-12 && fabs(most - 1) < 1e-12);
  check(ZONES_LU_MZ, 12, &least, &most);
  CHECK(fabs(most / least - 2) < 1e-9);
}

TESTS(TEST(every_process_has_the_time_that_bin_packing_leaves), TEST(equal_zones_leave_only_whole_zones_of_difference))
