/* transfers.c - measures transfers and changes the clock around them. */
#include "govern/transfers.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "os/floats.h"
#include "os/os.h"

static double now_ns(void)
{
  return (double)wtl_clock_ns();
}

static double process_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The difference of the wall clock to now_ns. In simulation all PEs have one clock. */
static double wall_ns(void)
{
  struct timespec t;
  if (WTL_OS_IS_SIMULATED) return 0;
  clock_gettime(CLOCK_REALTIME, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec - now_ns();
}

/* The time to read both clocks before and after a transfer, and again for its fence. */
static double price_of_measuring(void)
{
  enum { READS = 4, TRIES = 4 };
  double began = now_ns();
  for (int i = 0; i < TRIES * READS; i++) process_ns(), now_ns();
  return (now_ns() - began) / TRIES;
}

void wtl_transfers_start(wtl_transfers *t, const wtl_settings *settings, wtl_governor *governor, double wake_s)
{
  memset(t, 0, sizeof *t);
  t->mode = (enum wtl_transfers_mode)settings->transfers.number;
  t->governor = governor;
  t->cpu_clock = process_ns;
  wtl_thresholds_start(&t->thresholds, settings->thresholds.text, (double)settings->slowdown.number / 100, 1e9 * wake_s,
                       price_of_measuring(), now_ns, wall_ns());
}

/* ---- the clock ---- */

static void lower(wtl_transfers *t, wtl_transfer *x)
{
  if (!x->scales || !t->governor || t->governor->holds) return;
  t->scaled++;
  wtl_governor_hold(t->governor, wtl_ticks());
}

static void raise_again(wtl_transfers *t)
{
  if (t->governor && t->governor->holds) wtl_governor_release(t->governor, wtl_ticks());
}

/* True if a transfer that will sleep is worth two changes of clock. As in the paper, one of unknown length is. */
static bool is_worth_it(const wtl_transfers *t, const wtl_transfer *x)
{
  if (!t->governor) return false;
  double usual = wtl_thresholds_usual(&t->thresholds, x->kind, x->bytes);
  return isnan(usual) || usual > (double)wtl_governor_worth(t->governor) * wtl_clock_ns_per_tick();
}

/* ---- a transfer ---- */

static void decide(wtl_transfers *t, wtl_transfer *x)
{
  if (t->mode == WTL_TRANSFERS_SCALE) {
    x->scales = true;
    return;
  }
  x->way = x->how.sleeps ? WTL_WAY_SLEEP : WTL_WAY_POLL;
  x->scales = x->how.sleeps && is_worth_it(t, x);
}

static void count(wtl_transfers *t, const wtl_transfer *x)
{
  t->slept += x->way == WTL_WAY_SLEEP;
  t->polled += x->way == WTL_WAY_POLL;
}

static void begin_measuring(const wtl_transfers *t, wtl_transfer *x)
{
  if (!x->how.measured) return;
  x->ns = t->thresholds.clock();
  x->cpu_ns = t->cpu_clock();
}

void wtl_transfer_request(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes, bool at_once,
                          bool fenced_later)
{
  WTL_FLOATS_APART;
  *x = (wtl_transfer){.kind = kind, .bytes = bytes, .fenced_later = fenced_later};
  if (t->mode == WTL_TRANSFERS_AWARE) x->how = wtl_thresholds_choose(&t->thresholds, kind, bytes);
  decide(t, x);
  count(t, x);
  begin_measuring(t, x);
  if (at_once) lower(t, x);
}

void wtl_transfer_posted(wtl_transfers *t, wtl_transfer *x)
{
  lower(t, x);
}

static void leave(wtl_transfers *t, enum wtl_transfer_kind kind, uint64_t bytes, const wtl_transfer *x, double ns,
                  double cpu_ns)
{
  wtl_unfenced *u = &t->unfenced;
  if (bytes >= u->bytes) u->kind = kind;
  u->bytes += bytes;
  u->transfers++;
  u->how = x ? x->how : (wtl_choice){0};
  u->ns = ns;
  u->cpu_ns = cpu_ns;
}

void wtl_transfer_done(wtl_transfers *t, wtl_transfer *x)
{
  WTL_FLOATS_APART;
  double ns = 0, cpu_ns = 0;
  raise_again(t);
  if (x->how.measured) {
    cpu_ns = t->cpu_clock() - x->cpu_ns;
    ns = t->thresholds.clock() - x->ns;
  }
  if (x->fenced_later)
    leave(t, x->kind, x->bytes, x, ns, cpu_ns);
  else if (x->how.measured)
    wtl_thresholds_learn(&t->thresholds, x->kind, x->bytes, x->how, ns, cpu_ns);
}

void wtl_transfer_left(wtl_transfers *t, enum wtl_transfer_kind kind, uint64_t bytes)
{
  leave(t, kind, bytes, NULL, 0, 0);
}

/* The program may have computed beside these transfers, so nothing is learned from them. */
void wtl_transfer_await(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes)
{
  WTL_FLOATS_APART;
  *x = (wtl_transfer){.kind = kind, .bytes = bytes};
  x->how.sleeps = bytes >= t->thresholds.bytes[kind];
  decide(t, x);
  count(t, x);
  lower(t, x);
}

/* A single transfer and its fence are one transfer, which goes on as it began. Of several only the sum is known. */
bool wtl_transfer_fence(wtl_transfers *t, wtl_transfer *x)
{
  WTL_FLOATS_APART;
  wtl_unfenced *u = &t->unfenced;
  if (u->transfers == 0) return false;
  *x = (wtl_transfer){.kind = u->kind, .bytes = u->bytes};
  x->how = u->transfers == 1 ? u->how : (wtl_choice){0};
  if (!x->how.measured) x->how.sleeps = x->bytes >= t->thresholds.bytes[x->kind];
  decide(t, x);
  begin_measuring(t, x);
  lower(t, x);
  return true;
}

void wtl_transfer_fenced(wtl_transfers *t, wtl_transfer *x)
{
  WTL_FLOATS_APART;
  x->ns -= t->unfenced.ns;
  x->cpu_ns -= t->unfenced.cpu_ns;
  t->unfenced = (wtl_unfenced){0};
  wtl_transfer_done(t, x);
}

/* ---- the server ---- */

void wtl_transfers_serve(void *transfers, bool serves)
{
  WTL_FLOATS_APART;
  wtl_transfers *t = transfers;
  uint64_t now = wtl_ticks();
  wtl_vote_serve(&t->governor->vote, serves ? WTL_CLOCK_NORMAL : WTL_CLOCK_LOWEST, now);
  if (t->governor->uncore.n_domains) wtl_vote_follow(&t->governor->uncore, now);
}

/* ---- in the profile ---- */

void wtl_transfers_write(FILE *f, const void *transfers)
{
  static const char *const mode[] = {"off", "scale", "aware"};
  const wtl_transfers *t = transfers;
  putc('{', f);
  wtl_json_text_field(f, "mode", mode[t->mode], 1);
  fprintf(f, ",\"learns\":%s", t->thresholds.learns ? "true" : "false");
  for (int k = 0; k < WTL_TRANSFER_KINDS; k++)
    wtl_json_number_field(f, wtl_transfer_name((enum wtl_transfer_kind)k), (double)t->thresholds.bytes[k], 0);
  wtl_json_number_field(f, "polled", (double)t->polled, 0);
  wtl_json_number_field(f, "slept", (double)t->slept, 0);
  wtl_json_number_field(f, "scaled", (double)t->scaled, 0);
  wtl_json_number_field(f, "trials", (double)t->thresholds.trials, 0);
  putc('}', f);
}
