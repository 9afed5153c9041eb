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
enum { REPEAT, LEAST, LEARN, N_OPTIONS };

static bool any_wrong; /* on PE 0 */
static option options[N_OPTIONS] = {
    [REPEAT] = {"repeat", 1, 1, 10000, "how often each case is measured", NULL},
    [LEAST] = {"least", 0, 0, 60, "seconds that a sample lasts at least", NULL},
    [LEARN] = {"learn", 0, 0, 1000,
               "samples of a case that are not told, before the first, for a governor to learn from", NULL},
};

static long arrived; /* symmetric; on PE 0: the round in which the late one came last */

/* The number of rounds in which PE 0 left before the last had come. `*round`: counts them since the start. */
static long wait_at_barriers(double late_s, long rounds, long *round)
{
  long early = 0;
  bool is_late = job_me() == job_n_pes() - 1;
  for (long last = *round + rounds; *round < last;) {
    ++*round;
    if (is_late) {
      sleep_seconds(late_s);
      shmem_long_p(&arrived, *round, 0);
    }
    job_barrier();
    early += job_me() == 0 && arrived < *round;
  }
  return early;
}

/* repeat < 0: it is not told. */
static void measure(sample_case c, int repeat, const counters *counts, long *round)
{
  measured m;
  double late_s = 1e-3 * c.x, counted[COUNTERS];
  long rounds = sample_rounds(late_s, options[LEAST].value);
  measure_begin();
  counters_begin(counts);
  long early = wait_at_barriers(late_s, rounds, round);
  counters_end(counts, counted);
  measure_end(&m);
  measure_divide(&m, (double)rounds);
  for (int i = 0; i < COUNTERS; i++) counted[i] /= (double)rounds;
  if (job_me() != 0) return;
  any_wrong |= early != 0;
  if (repeat < 0) return;
  sample_print("barrier", "all", c, repeat, &m, early == 0);
  sample_print_list("counted", counted, COUNTERS);
  printf("}\n");
  fflush(stdout);
}

int main(int argc, char **argv)
{
  int words, n = 0;
  long round = 0;
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
    for (int i = 0; i < n; i++) /* one after the other: a governor's past is that of waits as long as these */
      for (int repeat = -(int)options[LEARN].value; repeat < (int)options[REPEAT].value; repeat++)
        measure(cases[i], repeat, &counts, &round);
    counters_close(&counts);
  }
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
