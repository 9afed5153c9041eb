/*
 * power_budget_test.c - a job in which each second PE has more work, on a made-up processor: its time under a budget of
 * watts beside that of equal caps and that of an optimum, both computed from the true loads.
 */
#include "govern/power_budget.h"

#include "power/check.h"

enum { PES = 16, BEFORE = 20, INSTANCES = 200 };
static const double base_ghz = 2.6, always_w = 0.5, change_s = 50e-6, barrier_s = 15e-6;

enum pattern { STATIC, DRIFTING, ALTERNATING, VARYING };

/* `ratio`: of the work. `part`: of what the job draws at the highest clock. `follows`: of the second PEs' work. */
typedef struct job {
  enum pattern pattern;
  double ratio, part, work_s, follows, bias;
  bool has_turbo;
} job;

typedef struct outcome {
  double s, optimum_s, equal_s, highest_w, budget_w;
} outcome;

static wtl_power_clocks clocks_of(job j)
{
  wtl_power_clocks c = {.always_w = always_w};
  for (int i = 0; i <= 14; i++) {
    double ghz = 1.2 + 0.1 * i, w = 6 + 6.5 * (ghz - 1.2) / 1.4;
    c.at[c.n++] = (wtl_power_clock){(uint32_t)lround(1e6 * ghz / base_ghz), ghz / base_ghz, w, 0.97 * w, 0.97 * w, 0};
  }
  if (j.has_turbo) c.at[c.n++] = (wtl_power_clock){1000385, 1.25, 27, 26, 26, 0};
  return c;
}

/* Turbo clocks are faster than their names say. */
static double speed(const wtl_power_clocks *c, size_t k)
{
  return c->at[k].share > WTL_CLOCK_NORMAL ? 1.3 : c->at[k].speed;
}

static double load(job j, int pe, int at)
{
  bool is_second = pe % 2;
  int rise = (int)ceil(log(j.ratio) / log(1.01)), phase = rise ? at % (2 * rise) : 0;
  double drifted = fmin(pow(1.01, phase < rise ? phase : 2 * rise - phase), j.ratio);
  if (j.pattern == DRIFTING) return j.work_s * (is_second ? drifted : j.ratio / drifted);
  if (j.pattern == ALTERNATING) is_second = is_second == (at % 2 == 0);
  uint32_t random = (uint32_t)(at * PES + pe + 1) * 2654435761u;
  random = (random ^ random >> 15) * 2246822519u;
  double varied = j.pattern == VARYING ? 0.95 + 0.1 * (random >> 8) / (1 << 24) : 1;
  return varied * j.work_s * (is_second ? j.ratio : 1);
}

static double follows(job j, int pe)
{
  return pe % 2 ? j.follows : 1;
}

static double takes(job j, const wtl_power_clocks *c, int pe, int at, size_t k)
{
  return load(j, pe, at) * (follows(j, pe) / speed(c, k) + 1 - follows(j, pe));
}

/* ---- what is possible ---- */

/* The least watts of a core that computes until `t` without a pause, at two clocks in turn; NaN: it is too slow. */
static double least_watts(job j, const wtl_power_clocks *c, int pe, int at, double t)
{
  for (size_t k = 0; k < c->n; k++) {
    double now = takes(j, c, pe, at, k), before = k ? takes(j, c, pe, at, k - 1) : now;
    if (now > t) continue;
    double part = before > now ? fmin((before - t) / (before - now), 1) : 1; /* of the work at clock k */
    double joules = part * now * c->at[k].computes + (k ? (1 - part) * before * c->at[k - 1].computes : 0);
    return joules / t;
  }
  return NAN;
}

static double optimum(job j, const wtl_power_clocks *c, int at, double budget_w)
{
  double lo = 0, hi = 10 * j.ratio * j.work_s;
  for (int i = 0; i < 30; i++) {
    double t = (lo + hi) / 2, watts = PES * always_w;
    for (int pe = 0; pe < PES; pe++) watts += least_watts(j, c, pe, at, t);
    if (watts <= budget_w)
      hi = t;
    else
      lo = t;
  }
  return hi;
}

/* Each PE has the same watts, which it spends at two clocks in turn. */
static double equal(job j, const wtl_power_clocks *c, int at, double budget_w)
{
  double longest = 0;
  for (int pe = 0; pe < PES; pe++) {
    double lo = 0, hi = 10 * j.ratio * j.work_s;
    for (int i = 0; i < 30; i++) {
      double t = (lo + hi) / 2, watts = least_watts(j, c, pe, at, t);
      *(watts + always_w <= budget_w / PES ? &hi : &lo) = t;
    }
    longest = fmax(longest, hi);
  }
  return longest;
}

/* ---- a job ---- */

typedef struct pe {
  wtl_power_budget budget;
  wtl_power_call *call;
  size_t before; /* clock of the interval before */
  double takes_s;
} pe;

static double changed(const pe *p)
{
  return p->budget.level == p->before ? 0 : change_s;
}

static void end(job j, pe *p, int me, int at, double lasted, wtl_power_part *all)
{
  const wtl_power_clocks *c = &p->budget.clocks;
  double waits = lasted - p->takes_s;
  wtl_counts counts = {.instructions = 1e9 * load(j, me, at),
                       .cycles = 1e9 * base_ghz * speed(c, p->budget.level) * (p->takes_s - changed(p))};
  wtl_power_interval done = {.lasted = lasted,
                             .computed = p->takes_s,
                             .changed = changed(p),
                             .counts = &counts,
                             .spun = waits < 1e-3 ? waits : 0,
                             .slept = waits < 1e-3 ? 0 : waits};
  wtl_power_part mine;
  p->budget.change_s = change_s;
  wtl_budget_end(&p->budget, p->call, &done, &mine);
  mine.drew = (uint32_t)(mine.drew * j.bias);
  wtl_budget_part_add(all, &mine);
}

static outcome run(job j)
{
  static pe pes[PES];
  wtl_power_clocks c = clocks_of(j);
  outcome o = {.budget_w = j.part * PES * (c.at[c.n - 1].computes + always_w)};
  memset(pes, 0, sizeof pes);
  for (int i = 0; i < PES; i++) {
    pes[i].budget.clocks = c;
    pes[i].budget.normal_ghz = base_ghz;
    wtl_budget_power_start(&pes[i].budget, o.budget_w, o.budget_w / PES);
    pes[i].before = pes[i].budget.level;
    pes[i].call = wtl_budget_call_of(&pes[i].budget, 1);
  }
  for (int at = 0; at < INSTANCES; at++) {
    double lasted = 0;
    for (int i = 0; i < PES; i++) {
      pes[i].takes_s = takes(j, &c, i, at, pes[i].budget.level) + changed(&pes[i]);
      lasted = fmax(lasted, pes[i].takes_s + barrier_s);
    }
    wtl_power_part all = {0};
    for (int i = 0; i < PES; i++) end(j, &pes[i], i, at, lasted, &all);
    for (int i = 0; i < PES; i++) {
      wtl_budget_hear(&pes[i].budget, pes[i].call, &all);
      pes[i].before = pes[i].budget.level;
      pes[i].budget.level = wtl_budget_choose(&pes[i].budget, pes[i].call);
      CHECK(memcmp(&pes[i].budget.plan, &pes[0].budget.plan, sizeof pes[i].budget.plan) == 0);
    }
    if (at < BEFORE) continue;
    o.s += lasted;
    o.optimum_s += optimum(j, &c, at, o.budget_w);
    o.equal_s += equal(j, &c, at, o.budget_w);
  }
  o.highest_w = pes[0].budget.plan.highest_w;
  printf("ratio %g, %g %%, pattern %d: %.3f s, optimum %.3f s, equal %.3f s, highest second %.1f %%\n", j.ratio,
         100 * j.part, (int)j.pattern, o.s, o.optimum_s, o.equal_s, 100 * o.highest_w / o.budget_w);
  return o;
}

static const double ratios[] = {1, 1.1, 1.5, 2, 4}, budgets[] = {0.42, 0.55, 0.7, 0.85, 1};
enum { N = sizeof ratios / sizeof *ratios };

/* Checks all ratios and budgets: the time at most so much longer than the optimum, and than equal caps. */
static void check(job j, double of_optimum, double of_equal)
{
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      j.ratio = ratios[i];
      j.part = j.has_turbo ? budgets[k] : 0.5 + budgets[k] / 2; /* without turbo the lowest clock draws half */
      outcome o = run(j);
      CHECK(o.s <= of_optimum * o.optimum_s);
      CHECK(o.s <= of_equal * o.equal_s);
      CHECK(o.highest_w <= 1.02 * o.budget_w);
    }
}

static const job usual = {.work_s = 10e-3, .follows = 1, .bias = 1, .has_turbo = true};

static void static_imbalance_comes_close_to_the_optimum(void)
{
  for (int turbo = 0; turbo < 2; turbo++) {
    job j = usual;
    j.has_turbo = turbo;
    check(j, 1.05, 1.01);
  }
}

static void drifting_imbalance_comes_close_to_the_optimum(void)
{
  for (int turbo = 0; turbo < 2; turbo++) {
    job j = usual;
    j.has_turbo = turbo;
    j.pattern = DRIFTING;
    check(j, 1.1, 1.01);
  }
}

static void alternating_imbalance_is_no_slower_than_with_equal_caps(void)
{
  job j = usual;
  j.pattern = ALTERNATING;
  check(j, 2, 1.01);
}

/* The optimum knows each instance, which no governor does. */
static void work_that_varies_is_hardly_slower_than_with_equal_caps(void)
{
  job j = usual;
  j.pattern = VARYING;
  check(j, 1.1, 1.02);
}

static void work_bound_by_memory_gives_its_watts_away(void)
{
  job j = usual;
  j.follows = 0.2;
  j.ratio = 1.2;
  j.part = 0.55;
  j.has_turbo = false;
  outcome o = run(j);
  CHECK(o.s <= 1.05 * o.optimum_s && o.s < 0.97 * o.equal_s);
}

/* A meter that shows more than the model predicted lowers all PEs. */
static void a_budget_that_the_meter_shows_exceeded_is_kept(void)
{
  job j = usual;
  j.ratio = 2;
  j.part = 0.6;
  j.bias = 1.1;
  outcome o = run(j);
  CHECK(o.highest_w <= 1.05 * o.budget_w);
}

/* The calls of a process lie at other addresses than those of another one. */
static void intervals_of_unlike_calls_keep_equal_parts(void)
{
  wtl_power_budget b = {.clocks = clocks_of(usual), .normal_ghz = base_ghz};
  wtl_budget_power_start(&b, 100, 12);
  size_t equal = b.level;
  CHECK(b.clocks.at[equal].computes + always_w <= 12 && b.clocks.at[equal + 1].computes + always_w > 12);
  wtl_power_call *c = wtl_budget_call_of(&b, 0x1007);
  for (int i = 0; i < 4; i++) {
    wtl_power_interval done = {.lasted = 0.01, .computed = 0.01};
    wtl_power_part mine, other;
    wtl_budget_end(&b, c, &done, &mine);
    other = mine;
    other.call = 8;
    other.not_call = ~(uint32_t)8;
    wtl_budget_part_add(&mine, &other);
    wtl_budget_hear(&b, c, &mine);
    CHECK(wtl_budget_choose(&b, c) == equal);
  }
}

TESTS(TEST(static_imbalance_comes_close_to_the_optimum), TEST(drifting_imbalance_comes_close_to_the_optimum),
      TEST(alternating_imbalance_is_no_slower_than_with_equal_caps),
      TEST(work_that_varies_is_hardly_slower_than_with_equal_caps), TEST(work_bound_by_memory_gives_its_watts_away),
      TEST(a_budget_that_the_meter_shows_exceeded_is_kept), TEST(intervals_of_unlike_calls_keep_equal_parts))
