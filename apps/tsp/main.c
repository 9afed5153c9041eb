/*
 * main.c - the main program of all versions of the travelling salesman: reads instances or makes random ones, solves
 * each several times, checks every result against a sequential solver, and prints the cost.
 */
#include "../../bench/options.h"
#include "../common/job.h"
#include "../common/measure.h"
#include "version.h"

enum { EX_USAGE = 64, EX_DATAERR = 65 };
enum { SPLIT, AHEAD, MASTER, REPEAT, HOLD, BOUND, RANDOM, CITIES, SEED, MISSING, JSON, N_OPTIONS };

static const char *const bounds[] = {"cost", "leave", NULL};
static const char *const masters[] = {"works", "waits", NULL};
static option options[N_OPTIONS] = {
    [SPLIT] = OPTION_NUMBER("split", 4, 1, TSP_MOST, "partial tours of fewer cities are split into further jobs"),
    [AHEAD] = OPTION_NUMBER("ahead", 2, 1, 64, "jobs that a worker holds or has requested, if there is a master"),
    [MASTER] = OPTION_WORD("master", 0, masters, "whether PE 0 of tsp-am works, too, or only distributes work"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of solutions of each instance"),
    [HOLD] = OPTION_NUMBER("hold", 0, 0, 3600, "seconds for which the first work is held back"),
    [BOUND] = OPTION_WORD("bound", TSP_BY_COST, bounds, "what prunes"),
    [RANDOM] = OPTION_NUMBER("random", 0, 0, 100000, "random instances instead of files"),
    [CITIES] = OPTION_NUMBER("cities", 12, 2, TSP_EXACT_MOST, "cities of each"),
    [SEED] = OPTION_NUMBER("seed", 1, 0, 1e15, "seed of the random numbers"),
    [MISSING] = OPTION_NUMBER("missing", 0, 0, 100, "missing edges of each 100"),
    [JSON] = OPTION_FLAG("json", "print one JSON object a line"),
};

/* An instance with its reference result. */
typedef struct instance {
  char name[128];
  tsp_graph g;
  int32_t exact; /* the result of the sequential solver; known on PE 0 */
  bool checked;
} instance;

/* The sum of all PEs' shares. */
typedef struct totals {
  uint64_t jobs, visited;
  double wait_s, wait_cpu_s;
} totals;

static totals sum_shares(const tsp_share *share)
{
  totals t = {0};
  tsp_share *all = job_me() == 0 ? job_calloc((size_t)job_n_pes(), sizeof *all) : NULL;
  job_gather(share, sizeof *share, all);
  for (int pe = 0; all && pe < job_n_pes(); pe++) {
    t.jobs += all[pe].jobs;
    t.visited += all[pe].visited;
    t.wait_s += all[pe].wait_s;
    t.wait_cpu_s += all[pe].wait_cpu_s;
  }
  free(all);
  return t;
}

/* Whether the result is correct. Without a sequential result only the cost of the tour is checked. */
static bool right(const instance *in, const tsp_path *best)
{
  if (best->cost != TSP_NO_TOUR && tsp_cost_of(&in->g, best) != best->cost) return false;
  return !in->checked || best->cost == in->exact;
}

static void print_json(const instance *in, int repeat, const tsp_path *best, const totals *t, const measured *m)
{
  printf("{\"kind\":\"sample\"");
  print_text("input", in->name);
  print_number("cities", in->g.n);
  print_number("repeat", repeat);
  print_number("cost", best->cost == TSP_NO_TOUR ? (double)NAN : best->cost);
  const char *verified = !right(in, best) ? "false" : in->checked ? "true" : "null";
  printf(",\"verified\":%s,\"jobs\":%llu,\"visited\":%llu", verified, (unsigned long long)t->jobs,
         (unsigned long long)t->visited);
  print_number("wait_s", t->wait_s);
  print_number("wait_cpu_s", t->wait_cpu_s);
  measure_print(m);
  end_line();
}

static void print_words(const instance *in, const tsp_path *best, const totals *t, const measured *m)
{
  printf("%s: ", in->name);
  if (best->cost == TSP_NO_TOUR)
    printf("no tour");
  else
    printf("%d, tour", best->cost);
  for (int i = 0; best->cost != TSP_NO_TOUR && i < best->n; i++) printf(" %d", best->city[i]);
  printf(
      "; %llu jobs, %llu partial tours, %.6f s, %.6f CPU s on %d PEs, of which %.6f of %.6f s waiting for work: %s\n",
      (unsigned long long)t->jobs, (unsigned long long)t->visited, m->seconds, m->cpu_seconds, job_n_pes(),
      t->wait_cpu_s, t->wait_s,
      !right(in, best) ? "WRONG"
      : in->checked    ? "correct"
                       : "not checked");
}

static bool solve(const instance *in, int repeat)
{
  tsp_task task = {.g = &in->g,
                   .split = (int)options[SPLIT].value,
                   .hold_s = options[HOLD].value,
                   .idle_master = options[MASTER].value != 0};
  tsp_share share = {.best = tsp_no_path()};
  measured m;
  measure_begin();
  tsp_solve(&task, &share);
  measure_end(&m);
  totals t = sum_shares(&share);
  if (job_me() != 0) return true;
  if (options[JSON].value)
    print_json(in, repeat, &share.best, &t, &m);
  else
    print_words(in, &share.best, &t, &m);
  fflush(stdout);
  return right(in, &share.best);
}

/* Computes the sequential result on PE 0. */
static void check(instance *in)
{
  if (job_me() != 0 || in->g.n > TSP_EXACT_MOST) return;
  in->exact = tsp_exact(&in->g);
  in->checked = in->exact >= 0;
}

/* PE 0 reads the file, and all PEs get its contents. */
static bool load(instance *in, const char *file)
{
  const char *wrong = job_me() == 0 ? tsp_read(&in->g, file, (tsp_bound)options[BOUND].value) : NULL;
  if (wrong) fprintf(stderr, "tsp-%s: %s %s\n", tsp_version, file, wrong);
  const char *slash = strrchr(file, '/');
  snprintf(in->name, sizeof in->name, "%s", slash ? slash + 1 : file);
  bool good = job_sum(wrong != NULL) == 0;
  if (good) job_broadcast(&in->g, sizeof in->g);
  return good;
}

static void make(instance *in, int k)
{
  uint64_t seed = (uint64_t)options[SEED].value + (uint64_t)k;
  int n = (int)options[CITIES].value, missing = (int)options[MISSING].value;
  tsp_random(&in->g, n, seed, missing, (tsp_bound)options[BOUND].value);
  snprintf(in->name, sizeof in->name, "random %d of %d cities, %d %% missing", (int)seed, n, missing);
}

static void print_setup(void)
{
  measure_print_setup("tsp");
  print_text("version", tsp_version);
  end_line();
}

static int run(int files, char **file)
{
  int instances = files ? files : (int)options[RANDOM].value;
  instance *in = job_calloc(1, sizeof *in);
  int64_t wrong = 0;
  tsp_start(job_me(), job_n_pes(), (int)options[AHEAD].value);
  for (int k = 0; k < instances; k++) {
    memset(in, 0, sizeof *in);
    if (!files)
      make(in, k);
    else if (!load(in, file[k])) {
      tsp_end();
      free(in);
      return EX_DATAERR;
    }
    check(in);
    for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++) wrong += !solve(in, repeat);
  }
  tsp_end();
  free(in);
  return job_sum(wrong) != 0;
}

/* Errors that involve several options. */
static const char *misused(int files)
{
  if (files && options[RANDOM].value) return "give files or --random, not both";
  if (!files && !options[RANDOM].value) return "give a file of costs, or --random COUNT; --help says more";
  if (tsp_has_master && job_n_pes() < 2) return "needs at least 2 PEs: one distributes work to the others";
  return NULL;
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv);
  int files, result = 0;
  int code = options_parse(argc, argv, "FILE...", "shortest round trips by branch and bound; checks its own results",
                           options, N_OPTIONS, job_me() == 0, &files);
  const char *wrong = code == OPTIONS_GO ? misused(files) : NULL;
  if (wrong) code = options_complain("%s", wrong);
  if (code == OPTIONS_GO) {
    if (options[JSON].value && job_me() == 0) print_setup();
    result = run(files, argv + 1);
  } else if (code == OPTIONS_WRONG) {
    result = EX_USAGE;
  }
  job_end();
  return result;
}
