/*
 * barrier.c - the cost of waiting at a barrier: the last PE arrives T late, and the others wait for it. Cases: T in
 * milliseconds.
 *
 * The late PE sleeps in the kernel, so that it takes no core from the others and only their waiting counts. A sample
 * has rounds for at least `--least` seconds; times and joules are those of a round. It also has counts of this
 * process, NaN where the processor does not count them or access is not permitted: instructions, branches, and
 * branches that were not taken.
 */
#include <shmem.h>

#include "../../bench/counts.h"
#include "sample.h"

enum { REPEAT, LEAST, LEARN, N_OPTIONS };
enum { COUNTERS = 3 };

static option options[N_OPTIONS] = {
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [LEAST] = OPTION_NUMBER("least", 0, 0, 60, "shortest time of a sample, in seconds"),
    [LEARN] = OPTION_NUMBER("learn", 0, 0, 1000,
                            "samples of a case before the first that is printed, from which a governor learns"),
};

static int counter[COUNTERS];
static long arrived; /* symmetric; on PE 0: the last round in which the late PE has arrived */
static long round_;  /* since the start */

/* BR_INST_RETIRED.NOT_TAKEN of Intel's cores since Sandy Bridge (SDM volume 3, chapter 20: event 0xc4, mask 0x10).
 * Other processors have no common number for this event. */
static const uint64_t intel_not_taken = 0x10c4;

static bool is_intel(void)
{
#if defined(__x86_64__)
  uint32_t a = 0, b, c, d;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  return b == 0x756e6547 && d == 0x49656e69 && c == 0x6c65746e; /* GenuineIntel */
#else
  return false;
#endif
}

static void open_counters(const sample_case *cases, int n)
{
  counter[0] = counts_open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  counter[1] = counts_open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  counter[2] = is_intel() ? counts_open_event(PERF_TYPE_RAW, intel_not_taken) : -1;
}

/* Returns the number of rounds in which PE 0 left before the last PE had arrived. */
static long wait_at_barriers(double late_s, long rounds)
{
  long early = 0;
  bool is_late = job_me() == job_n_pes() - 1;
  for (long last = round_ + rounds; round_ < last;) {
    ++round_;
    if (is_late) {
      sleep_for(late_s);
      shmem_long_p(&arrived, round_, 0);
    }
    job_barrier();
    early += job_me() == 0 && arrived < round_;
  }
  return early;
}

/* repeat < 0: not printed. */
static void measure(sample_case c, int repeat)
{
  measured m;
  double late_s = 1e-3 * c.x, counted[COUNTERS];
  long rounds = sample_rounds(late_s, options[LEAST].value);
  measure_begin();
  for (int i = 0; i < COUNTERS; i++) counted[i] = -counts_read_event(counter[i]);
  long early = wait_at_barriers(late_s, rounds);
  for (int i = 0; i < COUNTERS; i++) counted[i] = (counted[i] + counts_read_event(counter[i])) / (double)rounds;
  measure_end(&m);
  measure_divide(&m, (double)rounds);
  if (job_me() != 0 || repeat < 0) return;
  sample_print("barrier", "all", c, repeat, &m, early == 0);
  print_list("counted", counted, COUNTERS);
  end_line();
}

/* One case after the other, so that a governor has seen waits of the same length before. */
static void run(const sample_case *cases, int n)
{
  for (int i = 0; i < n; i++)
    for (int repeat = -(int)options[LEARN].value; repeat < (int)options[REPEAT].value; repeat++)
      measure(cases[i], repeat);
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "barrier",
                                       .words = "MS...",
                                       .purpose = "waiting at a barrier; cases: milliseconds that the last PE is late",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = 60000,
                                       .begin = open_counters,
                                       .run = run});
}
