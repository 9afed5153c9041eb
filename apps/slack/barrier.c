/*
 * barrier.c - the cost of waiting at a barrier: the last PE arrives T late, and the others wait for it. Cases: T in
 * milliseconds.
 *
 * The late PE sleeps in the kernel, so that it takes no core from the others and only their waiting counts. A sample
 * has rounds for at least `--least` seconds; times and joules are those of a round.
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
    [REPEAT] = {"repeat", 1, 1, 10000, "number of measurements of each case", NULL},
    [LEAST] = {"least", 0, 0, 60, "shortest time of a sample, in seconds", NULL},
    [LEARN] = {"learn", 0, 0, 1000, "samples of a case before the first that is printed, from which a governor learns",
               NULL},
};

static long arrived; /* symmetric; on PE 0: the last round in which the late PE has arrived */

/* Returns the number of rounds in which PE 0 left before the last PE had arrived. `*round` counts rounds since the
 * start. */
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

/* repeat < 0: not printed. */
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
    for (int i = 0; i < n; i++) /* one after the other, so that a governor has seen waits of the same length before */
      for (int repeat = -(int)options[LEARN].value; repeat < (int)options[REPEAT].value; repeat++)
        measure(cases[i], repeat, &counts, &round);
    counters_close(&counts);
  }
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
