/* The two-stage pattern of LSMS: each PE has one role, and a wrong parameter anywhere changes the result. */
#include "../../apps/lsms/lsms.h"

#include <stdlib.h>

#include "power/check.h"

static lsms_job job(int me, int n_pes, int groups)
{
  lsms_job j = {.n = 5, .bytes = 16, .stride = 128};
  lsms_roles(&j, me, n_pes, groups);
  return j;
}

static void every_pe_but_the_root_is_in_one_group(void)
{
  for (int n = 2; n <= 40; n++)
    for (int groups = 1; groups <= 50; groups += 7) {
      int masters = 0, last = 0;
      CHECK(job(0, n, groups).group == -1);
      for (int me = 1; me < n; me++) {
        lsms_job j = job(me, n, groups);
        CHECK(j.group == last || j.group == last + 1 || me == 1);
        CHECK(j.master <= me && me < j.end && j.end <= n);
        masters += j.master == me;
        last = j.group;
      }
      CHECK(masters == job(0, n, groups).groups && last == masters - 1);
      CHECK(masters == (groups < n - 1 ? groups : n - 1));
    }
}

static void members_of_groups_differ_by_one_at_most(void)
{
  int least = 100, most = 0;
  lsms_job j = job(0, 100, 7);
  for (int group = 0; group < j.groups; group++) {
    int members = lsms_first(&j, group + 1) - lsms_first(&j, group);
    least = members < least ? members : least;
    most = members > most ? members : most;
  }
  CHECK(least == 14 && most == 15);
}

/* Changes each bit of each word in turn. */
static void one_wrong_bit_changes_the_result(void)
{
  lsms_job j = job(0, 4, 1);
  void *parameters = calloc(j.n, j.stride);
  lsms_configure(&j, 7, 0, parameters);
  uint64_t right = lsms_result(&j, parameters);
  for (size_t i = 0; i < j.n; i++)
    for (size_t w = 0; w < j.bytes / 8; w++)
      for (int bit = 0; bit < 64; bit++) {
        lsms_parameter(&j, parameters, i)[w] ^= (uint64_t)1 << bit;
        CHECK(lsms_result(&j, parameters) != right);
        lsms_parameter(&j, parameters, i)[w] ^= (uint64_t)1 << bit;
      }
  CHECK(lsms_result(&j, parameters) == right);
  free(parameters);
}

static void parameters_differ_by_pe_group_and_seed(void)
{
  lsms_job j = job(0, 6, 2);
  void *a = calloc(j.n, j.stride), *b = calloc(j.n, j.stride);
  lsms_configure(&j, 7, 0, a);
  uint64_t first = lsms_result(&j, a);
  lsms_derive(&j, a, 2, b);
  uint64_t second = lsms_result(&j, b);
  lsms_derive(&j, a, 3, b);
  CHECK(first != second && lsms_result(&j, b) != second && lsms_result(&j, b) != first);
  lsms_configure(&j, 7, 1, b);
  CHECK(lsms_result(&j, b) != first);
  lsms_configure(&j, 8, 0, b);
  CHECK(lsms_result(&j, b) != first);
  free(a);
  free(b);
}

static void the_expected_sum_depends_on_every_step(void)
{
  uint64_t sums[4];
  lsms_job j = job(0, 6, 2);
  for (long steps = 1; steps <= 3; steps++) CHECK(lsms_expected(&j, 7, steps, &sums[steps]));
  CHECK(sums[1] != sums[2] && sums[2] != sums[3] && sums[1] != sums[3]);
  CHECK(lsms_expected(&j, 7, 3, &sums[0]) && sums[0] == sums[3]);
  CHECK(lsms_expected(&j, lsms_next(sums[1]), 2, &sums[0]) && sums[0] == sums[3]);
}

TESTS(TEST(every_pe_but_the_root_is_in_one_group), TEST(members_of_groups_differ_by_one_at_most),
      TEST(one_wrong_bit_changes_the_result), TEST(parameters_differ_by_pe_group_and_seed),
      TEST(the_expected_sum_depends_on_every_step))
