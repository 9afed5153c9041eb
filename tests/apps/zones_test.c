/* The partition of BT-MZ's zones: nothing is lost, zones differ as its authors say, and no process has more than bin
 * packing leaves it. */
#include "../../apps/slack/zones.h"

#include <math.h>

#include "power/check.h"

static double loads[ZONES_X * ZONES_Y];

static void check(int n, double *least, double *most)
{
  double sum = 0;
  zones_loads(n, loads);
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
  check(1, &least, &most);
  CHECK(fabs(most - 1) < 1e-12);
  check(ZONES_X * ZONES_Y, &least, &most); /* a zone each */
  CHECK(most / least > 18 && most / least < 23);
  check(64, &least, &most);
  CHECK(most < 1.01); /* enough zones to make all alike */
  check(360, &least, &most);
  CHECK(most > 1.2 && most < 1.5); /* the largest zone alone is more than a process's part */
  CHECK(least < 1);
}

TESTS(TEST(every_process_has_the_time_that_bin_packing_leaves))
