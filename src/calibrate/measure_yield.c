/* measure_yield.c - measures the cost of sched_yield, alone and with another process on the core. */
#include <sched.h>

#include "calibrate/measure.h"
#include "os/os.h"

static void yield_for_ever(const bench *b, void *arg)
{
  for (;;) sched_yield();
}

/* Each sample is the mean of `batch` calls. */
static void sample_yields(const bench *b, int batch, samples *out)
{
  samples_start(b, out);
  while (samples_more(out)) {
    uint64_t start = wtl_ticks();
    for (int i = 0; i < batch; i++) sched_yield();
    samples_add(out, (double)(wtl_ticks() - start) * b->ns_per_tick * 1e-9 / batch);
  }
}

static void sample_yields_to(const bench *b, void (*work)(const bench *, void *), int batch, samples *out)
{
  pid_t rival = bench_help(b, b->core, work, NULL);
  sample_yields(b, batch, out);
  bench_end(rival);
}

void measure_yield_alone(const bench *b, enum wtl_price_beside beside, samples *out)
{
  sample_yields(b, 100, out);
}

void measure_yield_to_yielding(const bench *b, enum wtl_price_beside beside, samples *out)
{
  sample_yields_to(b, yield_for_ever, 20, out);
}

void measure_yield_to_computing(const bench *b, enum wtl_price_beside beside, samples *out)
{
  sample_yields_to(b, bench_compute, 1, out); /* each call takes a time slice of the scheduler */
}
