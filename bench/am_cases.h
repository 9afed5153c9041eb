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

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>

#include "clocks.h"
#include "joules.h"

typedef enum test { UNI, BI, MANY, RING, N_TESTS } test;
static const char *const test_names[N_TESTS] = {"uni", "bi", "many", "ring"};

enum { MAX_LIST = 64, MAX_WAYS = 8, MAX_REPEATS = 1000, LARGEST_MESSAGE = 1 << 16, MOST_IN_FLIGHT = 1 << 22 };

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

typedef struct options {
  bool tests[N_TESTS], ways[MAX_WAYS], summary, pin, help;
  size_t bytes[MAX_LIST];
  long in_flight[MAX_LIST];
  int n_bytes, n_in_flight, repeats;
  double min_time_s;
} options;

static char bad_usage[256]; /* the first error of the command line */

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
  if (bad_usage[0]) return;
  va_list args;
  va_start(args, format);
  vsnprintf(bad_usage, sizeof bad_usage, format, args);
  va_end(args);
}

static void usage(FILE *out, const char *program)
{
  fprintf(out,
          "usage: %s [options]\n"
          "  --tests LIST       of uni,bi,many,ring (uni)\n"
          "  --ways LIST        of",
          program);
  for (int i = 0; way_names[i]; i++) fprintf(out, "%c%s", i ? ',' : ' ', way_names[i]);
  fprintf(out,
          " (all)\n"
          "  --bytes LIST       size of a message, 1 to %d (8)\n"
          "  --in-flight LIST   messages before a wait for completion, 1 to %d (64)\n"
          "  --repeat N         number of measurements of each case; its ways alternate (5)\n"
          "  --min-time S       shortest time of a measurement in seconds (0.01)\n"
          "  --summary          print median and best of each case and way instead of samples\n"
          "  --no-pin           do not bind PEs to cores\n",
          LARGEST_MESSAGE, MOST_IN_FLIGHT);
}

static long parse_whole(const char *what, const char *text, long lo, long hi)
{
  char *end = NULL;
  errno = 0;
  long v = isdigit((unsigned char)text[0]) ? strtol(text, &end, 10) : 0;
  if (!end || *end || errno || v < lo || v > hi) {
    complain("%s: '%s' is not a whole number from %ld to %ld", what, text, lo, hi);
    return lo;
  }
  return v;
}

/* Splits `text` at its commas, in place. Returns the number of parts. */
static int split(const char *what, char *text, char *part[MAX_LIST])
{
  int n = 0;
  for (char *next = text; next; n++) {
    char *comma = strchr(next, ',');
    if (comma) *comma++ = 0;
    if (n == MAX_LIST) {
      complain("%s: more than %d values", what, MAX_LIST);
      return n;
    }
    part[n] = next;
    next = comma;
  }
  return n;
}

static void parse_names(const char *what, char *text, const char *const *names, int n_names, bool *chosen)
{
  char *part[MAX_LIST];
  int parts = split(what, text, part);
  for (int k = 0; k < n_names; k++) chosen[k] = false;
  for (int i = 0; i < parts; i++) {
    int k = 0;
    while (k < n_names && strcmp(part[i], names[k]) != 0) k++;
    if (k < n_names)
      chosen[k] = true;
    else
      complain("%s: unknown value '%s'; --help lists the values", what, part[i]);
  }
}

static int count_ways(void)
{
  int n = 0;
  while (way_names[n]) n++;
  return n;
}

static void parse_value(options *o, const char *name, char *value)
{
  char *part[MAX_LIST], *end;
  if (!strcmp(name, "--tests")) {
    parse_names(name, value, test_names, N_TESTS, o->tests);
  } else if (!strcmp(name, "--ways")) {
    parse_names(name, value, way_names, count_ways(), o->ways);
  } else if (!strcmp(name, "--bytes")) {
    o->n_bytes = split(name, value, part);
    for (int i = 0; i < o->n_bytes; i++) o->bytes[i] = (size_t)parse_whole(name, part[i], 1, LARGEST_MESSAGE);
  } else if (!strcmp(name, "--in-flight")) {
    o->n_in_flight = split(name, value, part);
    for (int i = 0; i < o->n_in_flight; i++) o->in_flight[i] = parse_whole(name, part[i], 1, MOST_IN_FLIGHT);
  } else if (!strcmp(name, "--repeat")) {
    o->repeats = (int)parse_whole(name, value, 1, MAX_REPEATS);
  } else if (!strcmp(name, "--min-time")) {
    o->min_time_s = strtod(value, &end);
    if (end == value || *end || !(o->min_time_s >= 0 && o->min_time_s <= 60))
      complain("--min-time: '%s' is not a number of seconds from 0 to 60", value);
  } else {
    complain("'%s' is not an option; --help lists them", name);
  }
}

static options parse(int argc, char **argv)
{
  options o = {.tests = {true}, .bytes = {8}, .n_bytes = 1, .in_flight = {64}, .n_in_flight = 1, .repeats = 5};
  o.min_time_s = 0.01;
  o.pin = true;
  for (int k = 0; k < count_ways(); k++) o.ways[k] = true;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      o.help = true;
    } else if (!strcmp(argv[i], "--summary")) {
      o.summary = true;
    } else if (!strcmp(argv[i], "--no-pin")) {
      o.pin = false;
    } else if (i + 1 == argc) {
      complain("'%s' is not an option, or lacks its value; --help lists the options", argv[i]);
    } else {
      parse_value(&o, argv[i], argv[i + 1]);
      i++;
    }
  }
  return o;
}

/* Binds this PE to a core, one after the other. A PE that the launcher has bound already stays unchanged. */
static void pin_to_core(int pe)
{
  cpu_set_t may, one;
  if (sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < 2) return;
  int skip = pe % CPU_COUNT(&may);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &may) && skip-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
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
  printf("\"repeat\":%d,\"turn\":%d,\"rounds\":%ld,", repeat, place, t->rounds);
  print_number("messages", messages);
  printf(",");
  print_number("block_s", seconds);
  printf(",");
  print_number("message_s", seconds / messages);
  printf(",\"verified\":%s,", right ? "true" : "false");
  print_spans(last_block, 1 / messages, last_block, 0);
  joules_print(j, messages);
  printf("}\n");
  fflush(stdout);
}

/* Measures all ways of one case, alternately. Returns whether all data was correct. */
static bool measure(const options *o, const scene *s, bool first, joules *j)
{
  static turn turns[MAX_WAYS];
  int n = 0;
  bool right = true;
  prepare(s);
  double least_s = from_first(fmax(o->min_time_s, first ? joules_least_s(j) : 0));
  for (int way = 0; way < count_ways(); way++)
    if (o->ways[way] && can(way, s)) turns[n++] = (turn){.way = way, .rounds = calibrate(way, s, least_s)};
  for (int repeat = 0; repeat < o->repeats; repeat++)
    for (int place = 0; place < n; place++) {
      turn *t = &turns[(place + repeat) % n];
      double seconds = block(t->way, s, t->rounds, first ? j : NULL);
      bool good = all_of(is_right(t->way, s, t->rounds));
      right = right && good;
      t->seconds[repeat] = seconds / messages_of(s, t->rounds);
      if (first && !o->summary) print_sample(t, s, repeat, place, seconds, good, j);
    }
  for (int k = 0; first && o->summary && k < n; k++) {
    char row[96];
    snprintf(row, sizeof row, "%s/%s/%zu/%ld/%d", test_names[s->t], way_names[turns[k].way], s->bytes, s->in_flight,
             s->pes);
    tell_samples(row, turns[k].seconds, o->repeats);
  }
  return right;
}

/* Runs the command line. Returns 0, 1 where a message was lost or wrong, 2 for wrong usage. */
static int run_cases(const options *o, const char *program, int pe, int pes)
{
  if (pes < 2) complain("needs at least 2 PEs and has %d; start it with oshrun -n 2 or mpirun -n 2", pes);
  if ((o->tests[UNI] || o->tests[BI]) && pes != 2) complain("uni and bi need 2 PEs, but there are %d", pes);
  if (bad_usage[0]) {
    if (pe == 0) fprintf(stderr, "%s: %s\n", program, bad_usage);
    return 2;
  }
  joules j = joules_open();
  if (pe == 0 && !o->summary) {
    printf("{\"kind\":\"setup\",\"pes\":%d,\"repeat\":%d,", pes, o->repeats);
    print_number("min_time_s", o->min_time_s);
    printf(",");
    joules_print_meter(&j);
    printf("}\n");
    joules_print_floor(&j);
    fflush(stdout);
  }
  bool right = true;
  for (int t = 0; t < N_TESTS; t++)
    for (int b = 0; o->tests[t] && b < o->n_bytes; b++)
      for (int f = 0; f < (t == RING ? 1 : o->n_in_flight); f++) {
        scene s = {(test)t, o->bytes[b], t == RING ? 1 : o->in_flight[f], pes};
        right = measure(o, &s, pe == 0, &j) && right;
      }
  joules_close(&j);
  if (!right && pe == 0) fprintf(stderr, "%s: messages were lost, doubled or wrong; see \"verified\":false\n", program);
  return right ? 0 : 1;
}

#endif
