/* measure_time.c - measures the cost of reading a clock, and the delay at the end of a low-power wait. */
#include "calibrate/measure.h"
#include "os/os.h"

enum { READS = 500 };

void measure_ticks(const bench *b, enum wtl_price_beside beside, samples *out)
{
  samples_start(b, out);
  while (samples_more(out)) {
    uint64_t start = wtl_ticks(), last = start;
    for (int i = 0; i < READS; i++) last = wtl_ticks();
    samples_add(out, (double)(last - start) * b->ns_per_tick * 1e-9 / READS);
  }
}

void measure_clock(const bench *b, enum wtl_price_beside beside, samples *out)
{
  samples_start(b, out);
  while (samples_more(out)) {
    uint64_t start = wtl_clock_ns(), last = start;
    for (int i = 0; i < READS; i++) last = wtl_clock_ns();
    samples_add(out, (double)(last - start) * 1e-9 / READS);
  }
}

/* Waits 5 us on a cache line to which no process writes. */
void measure_lowpower_late(const bench *b, enum wtl_price_beside beside, samples *out)
{
  samples_start(b, out);
  if (b->no_lowpower) samples_lack(out, b->no_lowpower);
  while (samples_more(out)) {
    uint64_t until = wtl_ticks() + bench_ticks(b, 5e-6), now;
    do {
      wtl_lowpower_arm(b->lowpower, &b->shared->word);
      wtl_lowpower_wait(b->lowpower, until);
    } while ((now = wtl_ticks()) < until);
    samples_add(out, (double)(now - until) * b->ns_per_tick * 1e-9);
  }
}
