/*
 * powercap_test.c - what the powercap meter makes of trees as machines have them, and of sensors that fail.
 */
#include <grp.h>
#include <sys/wait.h>

#include "check.h"
#include "tree.h"

static const unsigned long long RANGE = 262143328850ull, DRAM_RANGE = 65712999613ull;

/* A server with two packages. */
static tree *server(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000000, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 2000000, DRAM_RANGE);
  tree_zone(t, "intel-rapl:1", "package-1", 3000000, RANGE);
  tree_zone(t, "intel-rapl:1:0", "dram", 4000000, DRAM_RANGE);
  return t;
}

typedef struct result {
  wattle_joules_t node[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS], part[WTL_MAX_DOMAINS];
  size_t n;
} result;

/* Ends the interval with one PE that was active all the time. */
static result finish(wtl_meter *m, double wall_s)
{
  result r = {.n = 0};
  wtl_activity a = {.wall_s = wall_s, .active_s = wall_s};
  r.n = wtl_meter_finish(m, &a, 1, r.node, r.idle, r.part);
  return r;
}

static const wattle_joules_t *get(const wattle_joules_t *f, size_t n, const char *domain)
{
  static wattle_joules_t missing;
  for (size_t i = 0; i < n; i++)
    if (strcmp(f[i].domain, domain) == 0) return &f[i];
  missing = (wattle_joules_t){.domain = "MISSING", .joules = NAN, .covered_s = NAN, .uncertainty = NAN};
  fprintf(stderr, "no domain %s\n", domain);
  return &missing;
}

/* All figures of an interval, nested ones included, as wattle.h has them. */
static size_t all_between(wtl_meter *m, const wtl_mark *a, const wtl_mark *b, wattle_joules_t *out)
{
  double random[WTL_MAX_DOMAINS];
  return wtl_meter_between(m, a, b, 0, out, random);
}

static void joules_are_read_by_domain(void)
{
  tree *t = server();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  CHECK_TEXT(wtl_meter_why(m), "");
  wtl_meter_start(m);
  t->now += 10;
  tree_energy(t, "intel-rapl:0", 1000000 + 500000000);
  tree_energy(t, "intel-rapl:0:0", 2000000 + 80000000);
  tree_energy(t, "intel-rapl:1", 3000000 + 300000000);
  result r = finish(m, 10);
  CHECK(r.n == 4);
  const wattle_joules_t *f = get(r.node, r.n, "package-0");
  CHECK_NEAR(f->joules, 500, 1e-9);
  CHECK(f->provenance == WATTLE_MEASURED && f->scope == WATTLE_SCOPE_PACKAGE && !f->nested);
  CHECK_TEXT(f->source, "powercap intel-rapl:0");
  CHECK_NEAR(f->interval_s, 10, 1e-9);
  CHECK_NEAR(f->covered_s, 10, 1e-9);
  CHECK_NEAR(f->uncertainty, 25 + 0.0015 * 50, 1e-6);
  CHECK_NEAR(get(r.node, r.n, "dram-0")->joules, 80, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "package-1")->joules, 300, 1e-9);
  CHECK(get(r.node, r.n, "dram-1")->provenance == WATTLE_UNAVAILABLE); /* it did not move */
  wtl_meter_close(m);
  tree_free(t);
}

/* Linux numbers zones in the order of their appearance: the index says nothing. */
static void zones_are_known_by_name_not_index(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "psys", 1000, RANGE);
  tree_zone(t, "intel-rapl:1", "package-1", 1000, RANGE);
  tree_zone(t, "intel-rapl:1:0", "dram", 1000, DRAM_RANGE);
  tree_zone(t, "intel-rapl:2", "package-0", 1000, RANGE);
  tree_zone(t, "intel-rapl:2:0", "core", 1000, RANGE);
  tree_zone(t, "intel-rapl:2:1", "dram", 1000, DRAM_RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 1;
  tree_energy(t, "intel-rapl:1", 1000 + 11000000);
  tree_energy(t, "intel-rapl:2", 1000 + 22000000);
  tree_energy(t, "intel-rapl:1:0", 1000 + 3000000);
  tree_energy(t, "intel-rapl:2:1", 1000 + 4000000);
  result r = finish(m, 1);
  CHECK(r.n == 4);
  CHECK_NEAR(get(r.node, r.n, "package-1")->joules, 11, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "package-0")->joules, 22, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "dram-1")->joules, 3, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "dram-0")->joules, 4, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void nested_zones_are_never_added(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000, RANGE);
  tree_zone(t, "intel-rapl:0:0", "core", 1000, RANGE);
  tree_zone(t, "intel-rapl:0:1", "uncore", 1000, RANGE);
  tree_zone(t, "intel-rapl:0:2", "dram", 1000, DRAM_RANGE);
  tree_zone(t, "intel-rapl:1", "psys", 1000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_mark a, b;
  wtl_meter_start(m);
  wtl_meter_mark(m, &a);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 1000 + 50000000);
  tree_energy(t, "intel-rapl:0:0", 1000 + 40000000);
  tree_energy(t, "intel-rapl:0:1", 1000 + 5000000);
  tree_energy(t, "intel-rapl:0:2", 1000 + 7000000);
  tree_energy(t, "intel-rapl:1", 1000 + 90000000);
  wtl_meter_mark(m, &b);
  wattle_joules_t all[WTL_MAX_DOMAINS], sum;
  size_t n = all_between(m, &a, &b, all);
  CHECK(n == 5);
  CHECK(get(all, n, "core-0")->nested && get(all, n, "uncore-0")->nested && get(all, n, "psys")->nested);
  CHECK(!get(all, n, "package-0")->nested && !get(all, n, "dram-0")->nested);
  CHECK_NEAR(get(all, n, "psys")->joules, 90, 1e-9);
  wattle_joules_sum(all, n, &sum);
  CHECK_NEAR(sum.joules, 57, 1e-9);
  CHECK(sum.provenance == WATTLE_MEASURED);
  result r = finish(m, 1);
  CHECK(r.n == 2); /* package and dram: a sum over the node may use only these */
  wtl_meter_close(m);
  tree_free(t);
}

static void psys_counts_where_there_is_no_package(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "psys", 1000, RANGE);
  tree_zone(t, "intel-rapl:1", "psys-1", 1000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 1000 + 90000000);
  tree_energy(t, "intel-rapl:1", 1000 + 30000000);
  result r = finish(m, 1);
  CHECK(r.n == 2); /* psys contains the memory: none is added from the model */
  CHECK_NEAR(get(r.node, r.n, "psys-1")->joules, 30, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "psys")->joules, 90, 1e-9);
  CHECK_NEAR(r.part[0].joules + r.idle[0].joules, 90, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void zones_inside_zones_are_found_too(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000, RANGE);
  tree_zone(t, "intel-rapl:0/intel-rapl:0:0", "dram", 1000, DRAM_RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 2);
  CHECK_TEXT(d[1].name, "dram-0");
  wtl_meter_close(m);
  tree_free(t);
}

static void mmio_duplicates_count_once(void)
{
  tree *t = server();
  tree_zone(t, "intel-rapl-mmio:0", "package-0", 1, RANGE);
  tree_zone(t, "intel-rapl-mmio:0:0", "dram", 1, DRAM_RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 1000000 + 5000000);
  tree_energy(t, "intel-rapl-mmio:0", 1 + 6000000);
  result r = finish(m, 1);
  CHECK(r.n == 4);
  CHECK_NEAR(get(r.node, r.n, "package-0")->joules, 5, 1e-9);
  CHECK_TEXT(get(r.node, r.n, "package-0")->source, "powercap intel-rapl:0");
  wtl_meter_close(m);
  tree_free(t);
}

static void mmio_stands_in_where_msr_cannot_be_read(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1, RANGE);
  tree_zone(t, "intel-rapl-mmio:0", "package-0", 1, RANGE);
  tree_fault(t, "intel-rapl:0", EIO);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  t->now += 1;
  tree_energy(t, "intel-rapl-mmio:0", 1 + 6000000);
  result r = finish(m, 1);
  CHECK_NEAR(get(r.node, r.n, "package-0")->joules, 6, 1e-9);
  CHECK_TEXT(get(r.node, r.n, "package-0")->source, "powercap intel-rapl-mmio:0");
  wtl_meter_close(m);
  tree_free(t);
}

/* Every 2 ms both files show one counter; the first is read a moment before it is updated, now and then. */
static void one_counter_behind_two(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(seconds * 50e6) + t->watch[0] % 977;
  tree_energy(t, "intel-rapl:0", t->watch[0]);
  tree_energy(t, "intel-rapl:1", t->watch[0]);
}

static void two_counters(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(seconds * 50e6) + t->watch[0] % 977;
  t->watch[1] += (uint64_t)(seconds * 50e6) + t->watch[1] % 991;
  tree_energy(t, "intel-rapl:0", t->watch[0]);
  tree_energy(t, "intel-rapl:1", t->watch[1]);
}

static tree *dies(void (*sensors)(tree *, double), uint64_t a, uint64_t b)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0-die-0", a, RANGE);
  tree_zone(t, "intel-rapl:1", "package-0-die-1", b, RANGE);
  t->watch[0] = a;
  t->watch[1] = b;
  t->on_sleep = sensors;
  return t;
}

static void mirrored_dies_count_once(void)
{
  tree *t = dies(one_counter_behind_two, 5000000, 5000000);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 1);
  CHECK_TEXT(d[0].name, "package-0-die-0");
  wtl_meter_close(m);
  tree_free(t);
}

static void separate_dies_both_count(void)
{
  tree *t = dies(two_counters, 5000000, 5000000);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 2);
  wtl_meter_start(m);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", t->watch[0] + 5000000);
  tree_energy(t, "intel-rapl:1", t->watch[1] + 7000000);
  result r = finish(m, 1);
  CHECK_NEAR(get(r.node, r.n, "package-0-die-0")->joules, 5, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "package-0-die-1")->joules, 7, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

/* Two packages may by chance show equal numbers: they are never one counter. */
static void packages_are_never_taken_for_mirrors(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 5000000, RANGE);
  tree_zone(t, "intel-rapl:1", "package-1", 5000000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 2);
  wtl_meter_close(m);
  tree_free(t);
}

static void wrap_between_start_and_finish(void)
{
  tree *t = server();
  tree_energy(t, "intel-rapl:0", RANGE - 3000000);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 4000000);
  result r = finish(m, 1);
  CHECK_NEAR(get(r.node, r.n, "package-0")->joules, 7, 1e-9);
  CHECK_NEAR(get(r.node, r.n, "package-0")->covered_s, 1, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

/* An hour stopped in a debugger, say: package-0 may have wrapped up to 13 times. */
static void several_wraps_unseen_are_a_gap(void)
{
  tree *t = server();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 3600;
  tree_energy(t, "intel-rapl:0", 1000000 + 40000000);
  result r = finish(m, 3600);
  const wattle_joules_t *f = get(r.node, r.n, "package-0");
  CHECK(f->covered_s < f->interval_s);
  CHECK_NEAR(f->joules, 40, 1e-9); /* the least that can be shown */
  CHECK(f->uncertainty > 13 * 262143.0 && f->uncertainty < 3.7e6);
  wtl_meter_close(m);
  tree_free(t);
}

static void unreadable_sensor_is_unavailable_not_zero(void)
{
  tree *t = server();
  tree_fault(t, "intel-rapl:1:0", EACCES);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  CHECK_CONTAINS(wtl_meter_why(m), "Permission denied");
  t->now += 1;
  tree_energy(t, "intel-rapl:0:0", 2000000 + 8000000);
  result r = finish(m, 1);
  const wattle_joules_t *f = get(r.node, r.n, "dram-1");
  CHECK(f->provenance == WATTLE_UNAVAILABLE && isnan(f->joules) && isnan(f->uncertainty));
  CHECK_NEAR(f->covered_s, 0, 0);
  CHECK_NEAR(f->interval_s, 1, 1e-9);
  const wattle_joules_t *p = get(r.part, r.n, "dram-1");
  CHECK(p->provenance == WATTLE_UNAVAILABLE && isnan(p->joules));
  CHECK(get(r.node, r.n, "dram-0")->provenance == WATTLE_MEASURED);
  wtl_meter_close(m);
  tree_free(t);
}

static void eacces_names_the_permission_and_the_safe_way(void)
{
  tree *t = server();
  for (int i = 0; i < 4; i++)
    tree_fault(t, (const char *[]){"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"}[i], EACCES);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  const char *why = wtl_meter_why(m);
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK_CONTAINS(why, "energy_uj: Permission denied");
  CHECK_CONTAINS(why, "0440 root power");
  CHECK_CONTAINS(why, "CAP_DAC_READ_SEARCH");
  CHECK_CONTAINS(why, "PLATYPUS");
  CHECK(!strstr(why, "a+r") && !strstr(why, "o+r") && !strstr(why, "0444"));
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_POWERCAP);
  CHECK_TEXT(wtl_meter_name(m), "none"); /* a request for measured joules gets no modelled ones */
  wtl_meter_close(m);
  tree_free(t);
}

/* The kernel's own refusal, as an ordinary user gets it. Root reads anything, so a child drops its rights. */
static void an_ordinary_user_is_refused(void)
{
  tree *t = server();
  for (int i = 0; i < 4; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/class/powercap/%s/energy_uj", t->root,
             (const char *[]){"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"}[i]);
    chmod(path, 0400);
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    char error[512];
    /* Not root: the files are our own, so refuse ourselves; the effect on open() is the same. */
    if (geteuid() != 0) {
      for (int i = 0; i < 4; i++)
        tree_fault(t, (const char *[]){"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"}[i], EACCES);
    } else if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) {
      _exit(3);
    }
    wtl_settings s = tree_settings(t, WTL_METER_POWERCAP);
    s.machine.text = "auto";
    wtl_meter *m = wtl_meter_open_with(&s, &t->sys, error, sizeof error);
    /* A checkout the user may not read (root's home) has no profiles for it either: nothing to test then. */
    int bad = m && (strcmp(wtl_meter_name(m), "none") != 0 || !strstr(wtl_meter_why(m), "Permission denied"));
    wtl_meter_close(m);
    _exit(bad);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  tree_free(t);
}

static void vanished_sensor_is_a_gap(void)
{
  tree *t = server();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_mark begin, middle, end;
  wtl_meter_start(m);
  wtl_meter_mark(m, &begin);
  t->now += 4;
  tree_energy(t, "intel-rapl:0", 1000000 + 200000000);
  wtl_meter_mark(m, &middle);
  tree_remove(t, "intel-rapl:0");
  t->now += 6;
  wtl_meter_mark(m, &end);
  wattle_joules_t all[WTL_MAX_DOMAINS];
  size_t n = all_between(m, &begin, &end, all);
  const wattle_joules_t *f = get(all, n, "package-0");
  CHECK_NEAR(f->joules, 200, 1e-9); /* the energy read before the file disappeared */
  CHECK_NEAR(f->interval_s, 10, 1e-9);
  CHECK_NEAR(f->covered_s, 4, 1e-9);
  CHECK(f->uncertainty >= 6 * 1000); /* and up to 6 kJ that were not */
  n = all_between(m, &middle, &end, all);
  f = get(all, n, "package-0");
  CHECK(f->provenance == WATTLE_UNAVAILABLE && isnan(f->joules)); /* not once read in this interval */
  CHECK_NEAR(f->covered_s, 0, 0);
  wtl_meter_close(m);
  tree_free(t);
}

/* The sensor counts on while reading fails: an error in the middle costs nothing, and is no wrap. */
static void errors_in_between_cost_nothing(void)
{
  for (int e = 0; e < 3; e++) {
    tree *t = server();
    wtl_meter *m = tree_open(t, WTL_METER_AUTO);
    wtl_mark a, b, c;
    wtl_meter_mark(m, &a);
    t->now += 1;
    if (e == 0) tree_fault(t, "intel-rapl:0", EIO);
    if (e == 1) tree_put(t, "intel-rapl:0", "energy_uj", "%s", "");
    if (e == 2) tree_put(t, "intel-rapl:0", "energy_uj", "%s", "12x4\n");
    wtl_meter_mark(m, &b);
    wattle_joules_t all[WTL_MAX_DOMAINS];
    size_t n = all_between(m, &a, &b, all);
    CHECK(get(all, n, "package-0")->provenance == WATTLE_UNAVAILABLE);
    t->now += 1;
    tree_fault(t, "intel-rapl:0", 0);
    tree_energy(t, "intel-rapl:0", 1000000 + 90000000);
    wtl_meter_mark(m, &c);
    n = all_between(m, &a, &c, all);
    CHECK_NEAR(get(all, n, "package-0")->joules, 90, 1e-9);
    CHECK_NEAR(get(all, n, "package-0")->covered_s, 2, 1e-9);
    /* An interval that began while it could not be read: up to a second of the joules may be older than it. */
    n = all_between(m, &b, &c, all);
    CHECK(get(all, n, "package-0")->covered_s <= 1);
    CHECK(get(all, n, "package-0")->uncertainty >= 1000);
    wtl_meter_close(m);
    tree_free(t);
  }
}

static void garbage_is_never_a_number(void)
{
  static const char *const garbage[] = {"",       "\n",      "-5\n",
                                        "abc\n",  "12 34\n", "99999999999999999999999\n",
                                        "0x10\n", "1e9\n",   "262143328851\n" /* above its own range */};
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
    tree *t = server();
    wtl_meter *m = tree_open(t, WTL_METER_AUTO);
    wtl_meter_start(m);
    t->now += 1;
    tree_put(t, "intel-rapl:0", "energy_uj", "%s", garbage[i]);
    result r = finish(m, 1);
    CHECK(isnan(get(r.node, r.n, "package-0")->joules));
    wtl_meter_close(m);
    tree_free(t);
  }
}

static void no_sensor_says_so(void)
{
  tree *t = tree_new();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK_CONTAINS(wtl_meter_why(m), "no zone of a known name");
  wtl_meter_close(m);
  tree_free(t);
}

static void memory_without_a_sensor_is_modelled_and_says_so(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 2;
  tree_energy(t, "intel-rapl:0", 1000 + 60000000);
  result r = finish(m, 2);
  CHECK(r.n == 2);
  CHECK(get(r.node, r.n, "package-0")->provenance == WATTLE_MEASURED);
  CHECK(get(r.node, r.n, "dram")->provenance == WATTLE_MODELLED);
  CHECK_NEAR(get(r.node, r.n, "dram")->joules, 2 * 7 * 2, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

/*
 * A region of 0.2 ms at 50 W: 10 mJ happen, the sensor shows 0 or a whole update. Either way it must not claim to know.
 */
static void short_regions_do_not_claim_to_know(void)
{
  for (int update = 0; update < 2; update++) {
    tree *t = server();
    wtl_meter *m = tree_open(t, WTL_METER_AUTO);
    wtl_mark a, b;
    t->now += 10;
    tree_energy(t, "intel-rapl:0", 1000000 + 500000000);
    wtl_meter_mark(m, &a);
    t->now += 0.0002;
    tree_energy(t, "intel-rapl:0", 1000000 + 500000000 + update * 50000);
    wtl_meter_mark(m, &b);
    wattle_joules_t all[WTL_MAX_DOMAINS];
    const wattle_joules_t *f = get(all, all_between(m, &a, &b, all), "package-0");
    CHECK_NEAR(0.010, f->joules, f->uncertainty); /* the truth is within the half-width */
    CHECK(f->uncertainty > f->joules);
    wtl_meter_close(m);
    tree_free(t);
  }
}

/* A counter of 1 J per wrap must be read every 0.25 ms (0.1 s is the least the reader does): it reads unasked. */
static void the_reader_reads_unasked(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000, 1000000);
  t->sys.background = true;
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  int before = atomic_load(&t->reads);
  for (int i = 0; i < 12000 && atomic_load(&t->reads) < before + 2; i++) usleep(10000);
  CHECK(atomic_load(&t->reads) >= before + 2);
  wtl_meter_close(m);
  tree_free(t);
}

/* Runs regions while the reader runs, for ThreadSanitizer to check. */
static void reader_and_caller_do_not_race(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 1000, 1000000);
  t->sys.background = true;
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  int before = atomic_load(&t->reads);
  wattle_joules_t all[WTL_MAX_DOMAINS];
  for (int i = 0; i < 20000; i++) {
    wtl_mark a, b;
    wtl_meter_mark(m, &a);
    wtl_meter_mark(m, &b);
    all_between(m, &a, &b, all);
    if (i > 50 && atomic_load(&t->reads) > before + 2 * (i + 1) + 2) break;
  }
  CHECK(all[0].provenance == WATTLE_MEASURED);
  wtl_meter_close(m);
  tree_free(t);
}

static void begin_to_count(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(50e6 * seconds);
  tree_energy(t, "intel-rapl:0", t->watch[0]);
}

/* As a virtual machine shows them whose host lets no counter through. */
static void counters_that_stand_at_0_are_no_sensor(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 0, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 0, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK_CONTAINS(wtl_meter_why(m), "/class/powercap stand at 0");
  wtl_meter_close(m);
  t->on_sleep = begin_to_count;
  m = tree_open(t, WTL_METER_AUTO); /* started a moment ago */
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  wtl_meter_close(m);
  tree_free(t);
}

static void a_package_that_draws_nothing_is_not_known(void)
{
  tree *t = server();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  t->now += 0.01;
  result r = finish(m, 0.01);
  const wattle_joules_t *f = get(r.node, r.n, "package-0");       /* between two updates, perhaps */
  CHECK(f->provenance == WATTLE_UNAVAILABLE && isnan(f->joules)); /* no one knows yet that it counts */
  t->now += 10;
  tree_energy(t, "intel-rapl:0", 1000000 + 500000000);
  r = finish(m, 10);
  CHECK(get(r.node, r.n, "package-0")->provenance == WATTLE_MEASURED);
  CHECK(get(r.node, r.n, "package-1")->provenance == WATTLE_UNAVAILABLE);
  CHECK(isnan(get(r.node, r.n, "package-1")->joules) && isnan(get(r.part, r.n, "package-1")->joules));
  wtl_meter_close(m);
  tree_free(t);
}

/* Ends an interval of 0.1 s, in which package 0 draws 50 W if it is on. */
static result next_tenth(tree *t, wtl_meter *m, unsigned long long *uj, bool is_on)
{
  wtl_meter_start(m);
  t->now += 0.1;
  if (is_on) tree_energy(t, "intel-rapl:0", *uj += 5000000);
  return finish(m, 0.1);
}

static void short_intervals_of_a_domain_that_never_advanced_are_not_0(void)
{
  tree *t = tree_new();
  unsigned long long uj = 1000000;
  tree_zone(t, "intel-rapl:0", "package-0", uj, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 555, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  for (int i = 0; i < 12; i++) {
    result r = next_tenth(t, m, &uj, true);
    const wattle_joules_t *dram = get(r.node, r.n, "dram-0"), *part = get(r.part, r.n, "dram-0");
    const char *source =
        i < 4 ? "powercap intel-rapl:0:0 has not advanced yet" : "powercap intel-rapl:0:0 stands still";
    CHECK(get(r.node, r.n, "package-0")->provenance == WATTLE_MEASURED);
    CHECK(dram->provenance == WATTLE_UNAVAILABLE && isnan(dram->joules));
    CHECK(part->provenance == WATTLE_UNAVAILABLE && isnan(part->joules));
    CHECK(get(r.idle, r.n, "dram-0")->provenance == WATTLE_UNAVAILABLE);
    if (i == 4) continue; /* 0.5 s, to rounding */
    CHECK_TEXT(dram->source, source);
    CHECK_TEXT(part->source, source);
    CHECK_TEXT(wtl_meter_why(m), i < 4 ? "dram-0 has not advanced yet" : "dram-0 stands still");
  }
  wtl_meter_close(m);
  tree_free(t);
}

/* A counter that works may show 0 between two updates. One that stops is known after half a second, in any intervals. */
static void short_intervals_of_a_domain_that_stops_are_not_0(void)
{
  tree *t = tree_new();
  unsigned long long uj = 1000000;
  tree_zone(t, "intel-rapl:0", "package-0", uj, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK(next_tenth(t, m, &uj, false).node[0].provenance == WATTLE_UNAVAILABLE);
  CHECK_TEXT(wtl_meter_why(m), "package-0 has not advanced yet");
  CHECK(next_tenth(t, m, &uj, true).node[0].provenance == WATTLE_MEASURED);
  CHECK_TEXT(wtl_meter_why(m), "");
  for (int i = 1; i <= 12; i++) {
    result r = next_tenth(t, m, &uj, false);
    if (i < 5) CHECK(r.node[0].provenance == WATTLE_MEASURED && r.node[0].joules == 0 && r.node[0].uncertainty > 0);
    if (i > 5) CHECK(r.node[0].provenance == WATTLE_UNAVAILABLE && r.part[0].provenance == WATTLE_UNAVAILABLE);
  }
  CHECK_TEXT(wtl_meter_why(m), "package-0 stands still");
  CHECK(next_tenth(t, m, &uj, true).node[0].provenance == WATTLE_MEASURED);
  CHECK(next_tenth(t, m, &uj, false).node[0].provenance == WATTLE_MEASURED); /* it counts again */
  wtl_meter_close(m);
  tree_free(t);
}

TESTS(TEST(short_intervals_of_a_domain_that_never_advanced_are_not_0),
      TEST(short_intervals_of_a_domain_that_stops_are_not_0), TEST(joules_are_read_by_domain),
      TEST(counters_that_stand_at_0_are_no_sensor), TEST(a_package_that_draws_nothing_is_not_known),
      TEST(zones_are_known_by_name_not_index), TEST(nested_zones_are_never_added),
      TEST(psys_counts_where_there_is_no_package), TEST(zones_inside_zones_are_found_too),
      TEST(mmio_duplicates_count_once), TEST(mmio_stands_in_where_msr_cannot_be_read), TEST(mirrored_dies_count_once),
      TEST(separate_dies_both_count), TEST(packages_are_never_taken_for_mirrors), TEST(wrap_between_start_and_finish),
      TEST(several_wraps_unseen_are_a_gap), TEST(unreadable_sensor_is_unavailable_not_zero),
      TEST(eacces_names_the_permission_and_the_safe_way), TEST(an_ordinary_user_is_refused),
      TEST(vanished_sensor_is_a_gap), TEST(errors_in_between_cost_nothing), TEST(garbage_is_never_a_number),
      TEST(no_sensor_says_so), TEST(memory_without_a_sensor_is_modelled_and_says_so),
      TEST(short_regions_do_not_claim_to_know), TEST(the_reader_reads_unasked), TEST(reader_and_caller_do_not_race))
