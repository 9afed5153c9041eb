/*
 * barrier.c - what waiting at a barrier costs: the last PE arrives T late, the others wait for it. Cases: T in
 * milliseconds.
 *
 * The late PE sleeps in the kernel, so that what is counted is the others' waiting, and so that it takes no core from
 * them. A sample is as many such rounds as last `--least`; times and joules are a round's.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#include "../common/clocks.h"
#include "../common/job.h"
#include "../common/options.h"
#include "counters.h"
#include "sample.h"

enum { EX_USAGE = 64 };
enum { REPEAT, LEAST, N_OPTIONS };

static bool any_wrong; /* on PE 0 */
static option options[N_OPTIONS] = {
    [REPEAT] = {"repeat", 1, 1, 10000, "how often each case is measured", NULL},
    [LEAST] = {"least", 0, 0, 60, "seconds that a sample lasts at least", NULL},
};

static long arrived; /* symmetric; on PE 0: rounds in which the late one has come */

/* The number of rounds in which PE 0 left before the last had come. */
static long wait_at_barriers(double late_s, long rounds)
{
  long early = 0;
  bool is_late = job_me() == job_n_pes() - 1;
  for (long r = 0; r < rounds; r++) {
    if (is_late) {
      sleep_seconds(late_s);
      shmem_long_p(&arrived, r + 1, 0);
    }
    job_barrier();
    early += job_me() == 0 && arrived < r + 1;
  }
  return early;
}

static void measure(sample_case c, int repeat, const counters *counts)
{
  measured m;
  double late_s = 1e-3 * c.x, counted[COUNTERS];
  long rounds = sample_rounds(late_s, options[LEAST].value);
  if (job_me() == 0) arrived = 0;
  measure_begin();
  counters_begin(counts);
  long early = wait_at_barriers(late_s, rounds);
  counters_end(counts, counted);
  measure_end(&m);
  measure_divide(&m, (double)rounds);
  for (int i = 0; i < COUNTERS; i++) counted[i] /= (double)rounds;
  if (job_me() != 0) return;
  any_wrong |= early != 0;
  sample_print("barrier", "all", c, repeat, &m, early == 0);
  sample_print_list("counted", counted, COUNTERS);
  printf("}\n");
  fflush(stdout);
}

int main(int argc, char **argv)
{
  int words, n = 0;
  sample_case cases[SAMPLE_MOST_CASES];
  counters counts;
  job_begin(&argc, &argv);
  int code = options_parse(argc, argv, "MS...", "waiting at a barrier; cases: milliseconds that the last PE is late",
                           options, N_OPTIONS, job_me() == 0, &words);
  if (code == OPTIONS_GO && (n = sample_cases(argc, argv, words, 60000, 0, job_me() == 0, cases)) < 0)
    code = OPTIONS_WRONG;
  if (code == OPTIONS_GO) {
    counters_open(&counts);
    if (job_me() == 0) {
      sample_print_setup("barrier");
      printf("}\n");
    }
    for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
      for (int i = 0; i < n; i++) measure(cases[i], repeat, &counts);
    counters_close(&counts);
  }
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
