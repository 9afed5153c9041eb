/*
 * main.c - the main program of all versions of the minimum spanning tree: makes graphs from seeds, solves each
 * several times, checks every result against Kruskal's, and prints the cost.
 */
#include "../../bench/options.h"
#include "../common/job.h"
#include "../common/measure.h"
#include "mst.h"

enum { EX_USAGE = 64 };
enum { GRAPH, LOG_VERTICES, EDGES, SEED, GRAPHS, REPEAT, JSON, N_OPTIONS };

static const char *const kinds[] = {"uniform", "rmat", NULL};
static option options[N_OPTIONS] = {
    [GRAPH] = OPTION_WORD("graph", UNIFORM, kinds, "how edges lie"),
    [LOG_VERTICES] = OPTION_NUMBER("log-vertices", 17, 0, 28, "log2 of the vertices"),
    [EDGES] = OPTION_NUMBER("edges", 1000000, 0, 1e9, "edges"),
    [SEED] = OPTION_NUMBER("seed", 1, 0, 1e15, "seed of the random numbers"),
    [GRAPHS] = OPTION_NUMBER("graphs", 1, 1, 100000, "number of graphs, each with the next seed"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of solutions of each graph"),
    [JSON] = OPTION_FLAG("json", "print one JSON object a line"),
};

static bool same(const forest *a, const forest *b)
{
  return a->weight == b->weight && a->edges == b->edges && a->check == b->check;
}

/* The sum of all PEs' parts. The check is a sum, too, and may wrap. */
static forest sum_forests(const forest *mine)
{
  return (forest){.weight = (uint64_t)job_sum((int64_t)mine->weight),
                  .edges = (uint64_t)job_sum((int64_t)mine->edges),
                  .check = (uint64_t)job_sum((int64_t)mine->check)};
}

static void name_of(const graph *g, char *name, size_t size)
{
  snprintf(name, size, "%s, 2^%d vertices, %llu edges, seed %llu", kinds[g->kind], g->log_vertices,
           (unsigned long long)g->edges, (unsigned long long)g->seed);
}

static void print(const graph *g, int repeat, const forest *f, int rounds, bool right, const measured *m)
{
  char name[128];
  name_of(g, name, sizeof name);
  if (!options[JSON].value) {
    printf("%s: weight %llu, %llu edges in the forest; %d rounds, %.6f s, %.6f CPU s on %d PEs: %s\n", name,
           (unsigned long long)f->weight, (unsigned long long)f->edges, rounds, m->seconds, m->cpu_seconds, job_n_pes(),
           right ? "correct" : "WRONG");
    return;
  }
  printf("{\"kind\":\"sample\"");
  print_text("input", name);
  printf(",\"graph\":\"%s\",\"log_vertices\":%d,\"edges\":%llu,\"seed\":%llu,\"repeat\":%d,", kinds[g->kind],
         g->log_vertices, (unsigned long long)g->edges, (unsigned long long)g->seed, repeat);
  printf("\"weight\":%llu,\"forest_edges\":%llu,\"rounds\":%d", (unsigned long long)f->weight,
         (unsigned long long)f->edges, rounds);
  print_flag("verified", right);
  measure_print(m);
  end_line();
}

static bool solve(const graph *g, part *p, int repeat, const forest *wanted)
{
  measured m;
  forest mine;
  measure_begin();
  int rounds = boruvka(p, &mine);
  measure_end(&m);
  forest f = sum_forests(&mine);
  bool right = job_me() != 0 || same(&f, wanted);
  if (job_me() == 0) print(g, repeat, &f, rounds, right, &m);
  fflush(stdout);
  return right;
}

/* Returns the number of wrong results on this PE. */
static int64_t run(const graph *g)
{
  int64_t wrong = 0;
  forest wanted = {0};
  if (job_me() == 0 && !kruskal(g, &wanted)) {
    fprintf(stderr, "mst-%s: no memory to check %llu edges; use fewer\n", mst_version, (unsigned long long)g->edges);
    job_abort(1);
  }
  part *p = part_make(g);
  version_start(p);
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++) wrong += !solve(g, p, repeat, &wanted);
  version_end();
  part_free(p);
  return wrong;
}

static void print_setup(void)
{
  measure_print_setup("mst");
  print_text("version", mst_version);
  end_line();
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv);
  int words, result = 0;
  int code = options_parse(argc, argv, "", "minimum spanning tree by Boruvka's algorithm; checks its own results",
                           options, N_OPTIONS, job_me() == 0, &words);
  if (code == OPTIONS_GO) {
    int64_t wrong = 0;
    if (options[JSON].value && job_me() == 0) print_setup();
    for (int k = 0; k < (int)options[GRAPHS].value; k++) {
      graph g = {.kind = (graph_kind)options[GRAPH].value,
                 .log_vertices = (int)options[LOG_VERTICES].value,
                 .edges = (uint64_t)options[EDGES].value,
                 .seed = (uint64_t)options[SEED].value + (uint64_t)k};
      wrong += run(&g);
    }
    result = job_sum(wrong) != 0;
  } else if (code == OPTIONS_WRONG) {
    result = EX_USAGE;
  }
  job_end();
  return result;
}
