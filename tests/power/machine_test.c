/*
 * machine_test.c - profiles are found, matched and, where they are wrong, refused with file, line and key.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "power/machine/machine.h"

static const char *const SANDY_BRIDGE = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 45\n"
                                        "model name\t: Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz\nstepping\t: 7\n\n";
static const char *const OTHER = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                                 "model name\t: AMD EPYC\n\n";

/* A correct profile with one thing that each case replaces. */
static const char *const GOOD =
    "name: test\n"                                                                         /* 1 */
    "sockets: 1\n"                                                                         /* 2 */
    "idle:\n"                                                                              /* 3 */
    "  cpu: {value: 10, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"             /* 4 */
    "  dram: {value: 2, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"             /* 5 */
    "dram:\n"                                                                              /* 6 */
    "  per_byte: {value: 1e-9, plus_minus: 1e-9, unit: J/B, tag: assumed, how: a guess}\n" /* 7 */
    "clocks:\n"                                                                            /* 8 */
    "  - ghz: 2\n"                                                                         /* 9 */
    "    base: true\n"                                                                     /* 10 */
    "    active: {value: 5, plus_minus: 1, unit: W, tag: cited, source: a book}\n"         /* 11 */
    "    spin: {value: 4, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"           /* 12 */
    "    yield: {value: 4, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"          /* 13 */
    "    asleep: {value: 0, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"         /* 14 */
    "  - ghz: 1\n"                                                                         /* 15 */
    "    active: {value: 3, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"         /* 16 */
    "    spin: {value: 2, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"           /* 17 */
    "    yield: {value: 2, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n"          /* 18 */
    "    asleep: {value: 0, plus_minus: 1, unit: W, tag: assumed, how: a guess}\n";        /* 19 */

/* GOOD with the n-th occurrence of `from` replaced. */
static char *changed(const char *from, const char *to, int n)
{
  const char *at = GOOD;
  while ((at = strstr(at, from)) && n-- > 1) at++;
  char *text = NULL;
  if (!at || asprintf(&text, "%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from)) < 0) exit(2);
  return text;
}

static void correct_profile_is_taken(void)
{
  char error[512] = "";
  wtl_machine *m = wtl_machine_parse("test.yaml", GOOD, strlen(GOOD), error, sizeof error);
  CHECK_TEXT(error, "");
  CHECK(m != NULL);
  if (!m) return;
  CHECK_TEXT(wtl_machine_name(m), "test");
  CHECK(wtl_machine_clocks(m) == 2 && wtl_machine_base_clock(m) == 0);
  CHECK_NEAR(wtl_machine_clock_ghz(m, 1), 1, 0);
  CHECK(isnan(wtl_machine_clock_ghz(m, 2)));
  CHECK(m->clocks[0].active.tag == WTL_TAG_CITED && m->clocks[0].spin.tag == WTL_TAG_ASSUMED);
  wtl_machine_free(m);
}

static void watts_of_awake_sockets_and_second_threads_are_taken(void)
{
  char error[512] = "", *text = changed("sockets: 1",
                                        "sockets: 1\ncores_per_socket: 4\n"
                                        "wake: {value: 9, plus_minus: 3, unit: W, tag: assumed, how: a guess}\n"
                                        "second: {value: 1, plus_minus: 1, unit: W, tag: assumed, how: a guess}",
                                        1);
  wtl_machine *m = wtl_machine_parse("test.yaml", text, strlen(text), error, sizeof error);
  CHECK_TEXT(error, "");
  if (!m) exit(1);
  CHECK_NEAR(m->wake->value, 9, 0);
  CHECK_NEAR(m->second->value, 1, 0);
  wtl_machine_free(m);
  free(text);
}

static void wrong_profile_is_refused_with_file_line_and_key(void)
{
  static const struct {
    const char *from, *to;
    int n;
    const char *says[4];
  } cases[] = {
      {"unit: W", "unit: kW", 1, {"bad.yaml", "line 4", "idle.cpu", "\"kW\""}},
      {"value: 5", "value: -5", 1, {"bad.yaml", "line 11", "clocks[0].active", "-5"}},
      {"value: 2", "value: nan", 2, {"bad.yaml", "line 17", "clocks[1].spin", "nan"}},
      {"value: 1e-9", "value: 1e999", 1, {"bad.yaml", "line 7", "per_byte", ""}},
      {"plus_minus: 1,", "plus_minus: -1,", 2, {"bad.yaml", "line 5", "idle.dram", "plus_minus"}},
      {"source: a book", "how: x", 1, {"bad.yaml", "line 11", "clocks[0].active", "source"}},
      {"how: a guess", "source: x", 1, {"bad.yaml", "line 4", "idle.cpu", "how"}},
      {"tag: cited",
       "tag: sure",
       1,
       {"bad.yaml", "line 11: clocks[0].active.tag: ", "derived or assumed, found 'sure'", ""}},
      {"value: 10", "value: ten", 1, {"bad.yaml", "line 4: idle.cpu.value: expected a number, found 'ten'", "", ""}},
      {"  per_byte", "  per_bite", 1, {"bad.yaml", "line 7: dram: there is no key 'per_bite' here", "", ""}},
      {"    spin:", "    sp:", 2, {"bad.yaml", "line 17:", "sp", ""}},
      {"    base: true\n", "", 1, {"bad.yaml", "line 8", "clocks", "exactly one"}},
      {"- ghz: 1\n", "- ghz: 2\n", 1, {"bad.yaml", "line 15", "clocks[1]", "twice"}},
      {"- ghz: 1\n", "- ghz: 0\n", 1, {"bad.yaml", "line 15", "clocks[1]", "above 0"}},
      {"sockets: 1", "sockets: 0", 1, {"bad.yaml", "line 2", "sockets", "0"}},
      {"sockets: 1",
       "sockets: 1\nsecond: {value: 1, plus_minus: 1, unit: W, tag: assumed, how: a guess}",
       1,
       {"bad.yaml", "line 3", "second", "cores_per_socket"}},
      {"sockets: 1",
       "sockets: 1\nwake: {value: 1, plus_minus: 1, unit: J, tag: assumed, how: a guess}",
       1,
       {"bad.yaml", "line 3", "wake", "\"J\""}},
      {"name: test\n", "", 1, {"bad.yaml", "the key 'name' is missing", "", ""}},
      {"idle:", "idle: [", 1, {"bad.yaml", "", "", ""}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char error[1024] = "", *text = changed(cases[i].from, cases[i].to, cases[i].n);
    wtl_machine *m = wtl_machine_parse("bad.yaml", text, strlen(text), error, sizeof error);
    if (m) fprintf(stderr, "taken: \"%s\"\n", cases[i].to);
    CHECK(m == NULL);
    for (int j = 0; j < 4; j++) CHECK_CONTAINS(error, cases[i].says[j]);
    CHECK(!strchr(error, '\n') && !strstr(error, "Backtrace") && !strstr(error, "Load:"));
    wtl_machine_free(m);
    free(text);
  }
}

static void nonsense_is_refused(void)
{
  static const char *const texts[] = {"",   "\n",      "just text",    "- a\n- b\n",
                                      "{}", "name: [", "\x01\x02\x03", "name: x\n\tsockets: 1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char error[1024] = "";
    wtl_machine *m = wtl_machine_parse("bad.yaml", texts[i], strlen(texts[i]), error, sizeof error);
    CHECK(m == NULL);
    CHECK_CONTAINS(error, "bad.yaml");
    wtl_machine_free(m);
  }
}

/* Every prefix of a good profile either parses or is refused; none crashes (the sanitizers watch). */
static void cut_off_profile_is_refused(void)
{
  char error[1024];
  for (size_t n = 0; n + 1 < strlen(GOOD); n += 7) {
    wtl_machine *m = wtl_machine_parse("cut.yaml", GOOD, n, error, sizeof error);
    CHECK(m == NULL || n > strlen(GOOD) - 4);
    wtl_machine_free(m);
  }
}

static void auto_takes_the_profile_of_this_cpu(void)
{
  char error[512] = "";
  wtl_machine *m = wtl_machine_load_for("auto", SANDY_BRIDGE, error, sizeof error);
  CHECK_TEXT(m ? wtl_machine_name(m) : error, "sandybridge-e5-2670");
  if (m) CHECK_CONTAINS(m->matched, "E5-2670");
  wtl_machine_free(m);
}

static void auto_takes_unknown_for_any_other_cpu(void)
{
  char error[512] = "";
  const char *const texts[] = {"vendor_id\t: Nobody\ncpu family\t: 1\nmodel\t: 1\n\n", "", "garbage without a colon\n",
                               NULL};
  for (int i = 0; i < 4; i++) {
    wtl_machine *m = wtl_machine_load_for(i % 2 ? NULL : "auto", texts[i], error, sizeof error);
    CHECK_TEXT(m ? wtl_machine_name(m) : error, "unknown");
    if (m) CHECK(m->matched == NULL);
    wtl_machine_free(m);
  }
}

/* The E5-2690 has the same family and model: only the name tells them apart. */
static void sister_cpu_is_not_mistaken_for_it(void)
{
  char error[512] = "";
  wtl_machine *m = wtl_machine_load_for("auto",
                                        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 45\n"
                                        "model name\t: Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz\n\n",
                                        error, sizeof error);
  CHECK_TEXT(m ? wtl_machine_name(m) : error, "intel-sandybridge-ep"); /* its generation in the table */
  wtl_machine_free(m);
}

static void missing_profile_names_where_it_was_looked_for(void)
{
  char error[512] = "";
  CHECK(wtl_machine_load("no-such-machine", "/sys", error, sizeof error) == NULL);
  CHECK_CONTAINS(error, "no-such-machine");
  CHECK_CONTAINS(error, "machines");
  CHECK(wtl_machine_load("/nowhere/at-all.yaml", "/sys", error, sizeof error) == NULL);
  CHECK_CONTAINS(error, "/nowhere/at-all.yaml: No such file");
}

static void write_file(const char *path, const char *text)
{
  FILE *f = fopen(path, "w");
  if (!f || fputs(text, f) < 0 || fclose(f) != 0) exit(2);
}

/* Makes a home with a folder of profiles, whose path it returns in `dir`. */
static void make_home(char home[], char *dir, size_t size)
{
  if (!mkdtemp(home)) exit(2);
  for (int i = 0; i < 3; i++) {
    snprintf(dir, size, "%s/%s", home, (const char *[]){"share", "share/wattle", "share/wattle/machines"}[i]);
    mkdir(dir, 0755);
  }
  setenv("WATTLE_HOME", home, 1);
}

static void remove_home(const char *home)
{
  unsetenv("WATTLE_HOME");
  for (int i = 2; i >= 0; i--) {
    char dir[256];
    snprintf(dir, sizeof dir, "%s/%s", home, (const char *[]){"share", "share/wattle", "share/wattle/machines"}[i]);
    rmdir(dir);
  }
  rmdir(home);
}

static void home_comes_before_the_installed_profiles(void)
{
  char home[] = "/tmp/wattle-home-XXXXXX", dir[256], file[300], error[1024] = "";
  make_home(home, dir, sizeof dir);
  snprintf(file, sizeof file, "%s/test.yaml", dir);
  write_file(file, GOOD);
  wtl_machine *m = wtl_machine_load("test", "/sys", error, sizeof error);
  CHECK_TEXT(m ? m->file : error, file);
  wtl_machine_free(m);
  m = wtl_machine_load(file, "/sys", error, sizeof error); /* and by its file name */
  CHECK_TEXT(m ? wtl_machine_name(m) : error, "test");
  wtl_machine_free(m);
  m = wtl_machine_load("unknown", "/sys", error, sizeof error); /* the others are still there */
  CHECK(m != NULL);
  wtl_machine_free(m);
  char *text = changed("unit: W", "unit: kW", 1);
  write_file(file, text);
  free(text);
  m = wtl_machine_load_for("auto", OTHER, error, sizeof error); /* a broken one is not passed over */
  CHECK(m == NULL);
  CHECK_CONTAINS(error, file);
  wtl_machine_free(m);
  unlink(file);
  remove_home(home);
}

/* Its compiled rules are those of the shipped text only. */
static void a_shipped_profile_that_was_changed_is_read_anew(void)
{
  char home[] = "/tmp/wattle-home-XXXXXX", dir[256], file[300], error[1024] = "", *text = NULL;
  make_home(home, dir, sizeof dir);
  snprintf(file, sizeof file, "%s/sandybridge-e5-2670.yaml", dir);
  if (asprintf(&text, "%smatch:\n  - name: AMD EPYC\n", GOOD) < 0) exit(2);
  write_file(file, text);
  free(text);
  wtl_machine *m = wtl_machine_load_for("auto", OTHER, error, sizeof error);
  CHECK_TEXT(m ? m->file : error, file);
  wtl_machine_free(m);
  unlink(file);
  remove_home(home);
}

static void a_profile_with_rules_without_end_is_refused(void)
{
  enum { RULES = 200000 };
  char error[512] = "", *text = malloc(RULES * 5 + 64);
  if (!text) exit(2);
  size_t n = (size_t)sprintf(text, "name: test\nmatch:\n");
  for (int i = 0; i < RULES; i++) n += (size_t)sprintf(text + n, "- {}\n");
  CHECK(wtl_machine_parse("test.yaml", text, n, error, sizeof error) == NULL);
  CHECK_CONTAINS(error, "line 1027");
  free(text);
}

/* And the start of a program is not held up. */
static void a_profile_that_is_no_regular_file_is_refused(void)
{
  char error[512], fifo[] = "/tmp/wattle-machine-XXXXXX", path[64];
  if (!mkdtemp(fifo)) return;
  snprintf(path, sizeof path, "%s/fifo.yaml", fifo);
  CHECK(mkfifo(path, 0600) == 0);
  CHECK(wtl_machine_load(path, "/sys", error, sizeof error) == NULL);
  CHECK_CONTAINS(error, "is not a regular file");
  unlink(path);
  rmdir(fifo);
}

static int says_how(void *arg, const char *key, const wtl_number *n)
{
  (void)arg;
  if (n->tag == WTL_TAG_CITED ? !n->source || strlen(n->source) < 3 : !n->how || strlen(n->how) < 10) {
    fprintf(stderr, "%s\n", key);
    CHECK(!"every number says where it comes from");
  }
  return 0;
}

static void every_shipped_number_says_where_it_comes_from(void)
{
  for (int i = 0; i < 2; i++) {
    char error[512] = "";
    wtl_machine *m = wtl_machine_load(i ? "unknown" : "sandybridge-e5-2670", "/sys", error, sizeof error);
    CHECK(m != NULL);
    if (m) wtl_machine_numbers(m, says_how, NULL);
    wtl_machine_free(m);
  }
}

TESTS(TEST(a_profile_with_rules_without_end_is_refused), TEST(a_profile_that_is_no_regular_file_is_refused),
      TEST(correct_profile_is_taken), TEST(watts_of_awake_sockets_and_second_threads_are_taken),
      TEST(wrong_profile_is_refused_with_file_line_and_key), TEST(nonsense_is_refused),
      TEST(cut_off_profile_is_refused), TEST(auto_takes_the_profile_of_this_cpu),
      TEST(auto_takes_unknown_for_any_other_cpu), TEST(sister_cpu_is_not_mistaken_for_it),
      TEST(missing_profile_names_where_it_was_looked_for), TEST(home_comes_before_the_installed_profiles),
      TEST(a_shipped_profile_that_was_changed_is_read_anew), TEST(every_shipped_number_says_where_it_comes_from))
