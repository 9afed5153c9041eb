/*
 * am_cases.h - the cases of the message benchmarks and their order, shared by am.c (active messages and puts) and
 * am_mpi.c (MPI, two-sided), so that both measure the same.
 *
 * A case is a test, a size and a number of messages in flight. Each case runs in several ways, which alternate block
 * by block in one process. A block has as many rounds as the shortest time of a measurement needs.
 *
 *   uni   a round: PE 0 sends `in_flight` messages to PE 1 and waits until all are complete
 *   bi    the same from PE 0 to PE 1 and from PE 1 to PE 0 at once
 *   many  the same from all PEs but PE 0 to PE 0
 *   handlers  as uni, while PE 1 uses data under a mutex
 *   ring  a round: a token goes from PE to PE and back to PE 0. With two PEs a hop is half of a round trip
 *
 * A message's time is the time of a block divided by its messages: those of both directions in bi, of all senders in
 * many, hops in ring. The clock is PE 0's. Where several PEs send, a block ends with a barrier.
 *
 * Output of PE 0, one JSON object a line: "setup", "floor" (idle joules), then a "sample" for each case, way and
 * repeat, with PE 0's joules a message. With --summary it is a line {"row", "median_s", "best_s"} for each case and
 * way (bench/jobs.py reads it). Units: seconds, bytes, joules. A message that is lost, doubled or wrong makes
 * "verified" false and the exit code 1.
 */
#ifndef BENCH_AM_CASES_H
#define BENCH_AM_CASES_H

#include "joules.h"
#include "options.h"
#include "pin.h"

typedef enum test { UNI, BI, MANY, RING, HANDLERS, N_TESTS } test;
static const char *const test_names[N_TESTS + 1] = {"uni", "bi", "many", "ring", "handlers", NULL};

enum { MAX_WAYS = 8, MAX_REPEATS = 1000, LARGEST_MESSAGE = 1 << 16, MOST_IN_FLIGHT = 1 << 22 };

typedef struct scene {
  test t;
  size_t bytes;
  long in_flight;
  int pes;
} scene;

/* ---- defined by each program ---- */

static const char *const way_names[]; /* ends with NULL */

/* Whether the way can run this case. The same on all PEs. */
static bool can(int way, const scene *s);

/* Called before the first round of a case, before a barrier. */
static void prepare(const scene *s);

/* This PE's part of `rounds` rounds; all PEs call it. */
static void do_rounds(int way, const scene *s, long rounds);

/* Whether this PE received exactly the data of the rounds since the last call. Called after a barrier of all PEs. */
static bool is_right(int way, const scene *s, long rounds);

static void meet(void);             /* a barrier of all PEs */
static double from_first(double v); /* PE 0's value, on all PEs; collective */
static bool all_of(bool mine);      /* collective */

/* ---- command line ---- */

enum { TESTS, WAYS, BYTES, IN_FLIGHT, REPEAT, MIN_TIME, SUMMARY, NO_PIN, N_OPTIONS };
static option options[N_OPTIONS] = {
    [TESTS] = OPTION_WORDS("tests", "uni", test_names, "the tests"),
    [WAYS] = OPTION_WORDS("ways", "", way_names, "the ways of each test that has them"),
    [BYTES] = OPTION_NUMBERS("bytes", "8", 1, LARGEST_MESSAGE, "size of a message"),
    [IN_FLIGHT] = OPTION_NUMBERS("in-flight", "64", 1, MOST_IN_FLIGHT, "messages before a wait for completion"),
    [REPEAT] = OPTION_WHOLE("repeat", 5, 1, MAX_REPEATS, "measurements of each case; its ways alternate"),
    [MIN_TIME] = OPTION_NUMBER("min-time", 0.01, 0, 60, "shortest time of a measurement in seconds"),
    [SUMMARY] = OPTION_FLAG("summary", "print median and best of each case and way instead of samples"),
    [NO_PIN] = OPTION_FLAG("no-pin", "do not bind PEs to cores"),
};

static bool is_chosen(int list, int word)
{
  for (int i = 0; i < options[list].n; i++)
    if (options[list].at[i] == word) return true;
  return false;
}

/* ---- blocks ---- */

static double messages_of(const scene *s, long rounds)
{
  double a_round = s->t == RING ? s->pes : (double)s->in_flight;
  if (s->t == BI) a_round *= 2;
  if (s->t == MANY) a_round *= s->pes - 1;
  return a_round * (double)rounds;
}

static block_time last_block; /* by this PE's time of day */

/* Seconds of a block of rounds, by PE 0's clock. */
static double block(int way, const scene *s, long rounds, joules *j)
{
  meet();
  if (j) joules_begin(j);
  last_block.begin = time_of_day();
  double start = now();
  do_rounds(way, s, rounds);
  if (s->t == BI || s->t == MANY) meet();
  double seconds = now() - start;
  last_block.end = time_of_day();
  if (j) joules_end(j);
  meet();
  return seconds;
}

/* The number of rounds that lasts at least `least_s`. The first blocks also make contact and warm up. */
static long calibrate(int way, const scene *s, double least_s)
{
  enum { MOST_ROUNDS = 1 << 28, GROWTH = 16 };
  for (long rounds = 1;;) {
    double seconds = from_first(block(way, s, rounds, NULL));
    is_right(way, s, rounds);
    if (seconds >= 0.7 * least_s || rounds >= MOST_ROUNDS) return rounds;
    double more = seconds > 0 ? 1.1 * least_s / seconds : GROWTH;
    rounds = (long)((double)rounds * (more < GROWTH ? more : GROWTH)) + 1;
  }
}

typedef struct turn {
  int way;
  long rounds;
  double seconds[MAX_REPEATS]; /* of a message, in each repeat */
} turn;

static void print_sample(const turn *t, const scene *s, int repeat, int place, double seconds, bool right,
                         const joules *j)
{
  double messages = messages_of(s, t->rounds);
  printf("{\"kind\":\"sample\",\"test\":\"%s\",\"way\":\"%s\",\"bytes\":%zu,\"in_flight\":%ld,\"pes\":%d,",
         test_names[s->t], way_names[t->way], s->bytes, s->in_flight, s->pes);
  printf("\"repeat\":%d,\"turn\":%d,\"rounds\":%ld", repeat, place, t->rounds);
  print_number("messages", messages);
  print_number("block_s", seconds);
  print_number("message_s", seconds / messages);
  print_flag("verified", right);
  print_spans(last_block, 1 / messages, last_block, 0);
  joules_print(j, messages);
  end_line();
}

/* Measures all ways of one case, alternately. Returns whether all data was correct. */
static bool measure(const scene *s, bool first, joules *j)
{
  static turn turns[MAX_WAYS];
  int n = 0, repeats = (int)options[REPEAT].value;
  bool right = true;
  prepare(s);
  double least_s = from_first(fmax(options[MIN_TIME].value, first ? joules_least_s(j) : 0));
  for (int way = 0; way_names[way]; way++)
    if (is_chosen(WAYS, way) && can(way, s)) turns[n++] = (turn){.way = way, .rounds = calibrate(way, s, least_s)};
  for (int repeat = 0; repeat < repeats; repeat++)
    for (int place = 0; place < n; place++) {
      turn *t = &turns[(place + repeat) % n];
      double seconds = block(t->way, s, t->rounds, first ? j : NULL);
      bool good = all_of(is_right(t->way, s, t->rounds));
      right = right && good;
      t->seconds[repeat] = seconds / messages_of(s, t->rounds);
      if (first && !options[SUMMARY].value) print_sample(t, s, repeat, place, seconds, good, j);
    }
  for (int k = 0; first && options[SUMMARY].value && k < n; k++) {
    char row[96];
    snprintf(row, sizeof row, "%s/%s/%zu/%ld/%d", test_names[s->t], way_names[turns[k].way], s->bytes, s->in_flight,
             s->pes);
    tell_samples(row, turns[k].seconds, repeats);
  }
  return right;
}

static bool run_cases(bool first, int pes, joules *j)
{
  bool right = true;
  for (int t = 0; t < N_TESTS; t++)
    for (int b = 0; is_chosen(TESTS, t) && b < options[BYTES].n; b++)
      for (int f = 0; f < (t == RING ? 1 : options[IN_FLIGHT].n); f++) {
        scene s = {(test)t, (size_t)options[BYTES].at[b], t == RING ? 1 : (long)options[IN_FLIGHT].at[f], pes};
        right = measure(&s, first, j) && right;
      }
  return right;
}

/* Reads the command line of PE `pe`, and binds the PE to a core. */
static int read_options(int argc, char **argv, int pe, int pes)
{
  int words, code = options_parse(argc, argv, "", "messages between PEs: bandwidth, rate and a token ring", options,
                                  N_OPTIONS, pe == 0, &words);
  if (code == OPTIONS_GO && pes < 2)
    code = options_complain("needs at least 2 PEs and has %d; start it with oshrun -n 2 or mpirun -n 2", pes);
  if (code == OPTIONS_GO && (is_chosen(TESTS, UNI) || is_chosen(TESTS, BI) || is_chosen(TESTS, HANDLERS)) && pes != 2)
    code = options_complain("uni, bi and handlers need 2 PEs, but there are %d", pes);
  if (code == OPTIONS_GO && !options[NO_PIN].value) pin(pe, 0);
  return code;
}

/* Does what the command line says. Returns 0, 1 where a message was lost or wrong, 2 for wrong usage; 0 on PEs
 * other than PE 0. */
static int run(int code, int pe, int pes)
{
  if (code != OPTIONS_GO) return code == OPTIONS_WRONG && pe == 0 ? 2 : 0;
  joules j = joules_open();
  if (pe == 0 && !options[SUMMARY].value) {
    printf("{\"kind\":\"setup\",\"pes\":%d", pes);
    print_number("repeat", options[REPEAT].value);
    print_number("min_time_s", options[MIN_TIME].value);
    print_meter(j.handle);
    end_line();
    print_floor(j.handle);
  }
  bool right = run_cases(pe == 0, pes, &j);
  wattle_energy_close(j.handle);
  if (!right && pe == 0)
    fprintf(stderr, "%s: messages were lost, doubled or wrong; see \"verified\":false\n", options_program);
  return right || pe != 0 ? 0 : 1;
}

#endif
