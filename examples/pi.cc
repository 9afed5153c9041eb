// pi.cc - the area under 4 / (1 + x^2) from 0 to 1, in C++: computation, and one sum over all PEs at the end.
#include <shmem.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "options.h"

static double share, area; // symmetric: a PE's part of the area, and the sum of all

// The area of every n-th strip, this PE's share.
static double sum_strips(long strips)
{
  const double width = 1.0 / static_cast<double>(strips);
  double sum = 0;
  for (long i = shmem_my_pe(); i < strips; i += shmem_n_pes()) {
    const double x = (static_cast<double>(i) + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  return sum * width;
}

static int run(long strips)
{
  const auto start = std::chrono::steady_clock::now();
  share = sum_strips(strips);
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &area, &share, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  // The midpoint rule is off by less than width^2 / 6 here; rounding adds a little for each strip.
  const double off = std::fabs(area - std::acos(-1.0)), w = 1.0 / static_cast<double>(strips);
  const bool bad = !(off <= w * w / 6 + 1e-10);
  if (shmem_my_pe() == 0)
    std::printf("pi: %ld strips on %d PEs: %.3f s, %.12f, off by %.1e: %s\n", strips, shmem_n_pes(), took.count(), area,
                off, bad ? "WRONG" : "correct");
  return bad;
}

int main(int argc, char **argv)
{
  option options[] = {{"strips", 2e7, 1, 1e9, "strips of the area"}};
  shmem_init();
  const int code = options_parse(argc, argv, "pi by the area under 4 / (1 + x^2); checks its own result", options, 1,
                                 shmem_my_pe() == 0);
  int result = code == OPTIONS_WRONG ? 64 : 0;
  if (code == OPTIONS_GO) result = run(static_cast<long>(options[0].value));
  shmem_finalize();
  return result;
}
