/*
 * knob_repair_test.c - tests how a job restores the clocks that a job left when it was killed together with its guard.
 *
 * Files of other users in the state folder must not delay it or make it write anything.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "check.h"
#include "clocks.h"
#include "power/knob/knob_kind.h"
#include "power/knob/knob_repair.h"
#include "power/knob/knob_saved.h"
#include "power/knob/knob_state.h"

enum { SOMEBODY = 4711 }; /* a user other than root and this one */

typedef struct state {
  tree *t;
  char *folder;
  wtl_settings s;
} state;

static state state_new(void)
{
  state st = {.t = tree_new(), .folder = malloc(160)};
  if (!st.folder) exit(2);
  snprintf(st.folder, 160, "%s/state", st.t->root);
  clock_intel(st.t->root, 0);
  st.s = clock_settings(st.t, WTL_KNOB_AUTO);
  st.s.clock_state.text = st.folder;
  return st;
}

static void state_free(state *st)
{
  tree_free(st->t);
  free(st->folder);
}

static const char *limits_folder(const state *st)
{
  static char path[200];
  snprintf(path, sizeof path, "%s-limits", st->folder);
  return path;
}

static int kept_in(const char *folder, char path[512])
{
  int n = 0;
  DIR *d = opendir(folder);
  for (const struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    n++;
    if (path) snprintf(path, 512, "%s/%.255s", folder, e->d_name);
  }
  if (d) closedir(d);
  return n;
}

/* How many files the folder for clocks has; the path of the last in `path`, where that is not NULL. */
static int kept(const state *st, char path[512])
{
  return kept_in(st->folder, path);
}

/* As a job leaves it that was killed together with its guard: clock 0 lowered, the file there, no lock held. */
static void be_killed(const state *st)
{
  cpu_set_t set = clock_cpus(1);
  wtl_knob *k = wtl_knob_open(&st->s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  CHECK(wtl_knob_set(k, 0, 3000000) == 0 && kept(st, NULL) == 1);
  wtl_knob_close(k);
}

static bool repairs(const state *st, const wtl_knob_sys *os, char said[1600])
{
  said[0] = '\0';
  return wtl_knob_repair(&st->s, os, said, 1600);
}

static void the_next_job_restores_what_a_killed_one_left_and_reports_it(void)
{
  state st = state_new();
  char said[1600];
  CHECK(!repairs(&st, &wtl_knob_sys_real, said)); /* there is not even a folder */
  be_killed(&st);
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_min_freq"), "3000000");
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "put back: 2 files");
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_min_freq"), "800000");
  CHECK(kept(&st, NULL) == 0);
  CHECK(!repairs(&st, &wtl_knob_sys_real, said)); /* once */
  state_free(&st);
}

/* Turbo may be switched off in between, and a driver may show another range. The kernel keeps a clock within it. */
static void a_clock_that_was_found_is_restored_whatever_range_the_hardware_has_today(void)
{
  state st = state_new();
  char said[1600];
  be_killed(&st);
  clock_put(st.t->root, 0, "cpufreq/cpuinfo_max_freq", "3000000");
  clock_put(st.t->root, 0, "cpufreq/cpuinfo_min_freq", "1100000");
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "put back: 2 files");
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_min_freq"), "800000");
  CHECK(kept(&st, NULL) == 0);
  state_free(&st);
}

static void a_job_that_restores_its_clocks_leaves_no_file(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  pid_t me = getpid();
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_guard(k, &me, 1) == 0);
  CHECK(kept(&st, NULL) == 1);
  wtl_knob_restore(k);
  CHECK(kept(&st, NULL) == 0);
  wtl_knob_close(k);
  state_free(&st);
}

static void a_job_that_lives_is_left_alone(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char said[1600];
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  CHECK(wtl_knob_set(k, 0, 1000000) == 0);
  CHECK(!repairs(&st, &wtl_knob_sys_real, said));
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "1000000");
  CHECK(kept(&st, NULL) == 1);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  state_free(&st);
}

static void a_repair_that_fails_is_reported_and_tried_again(void)
{
  static const int error[] = {EACCES, EBUSY, EIO};
  for (size_t i = 0; i < 3; i++) {
    state st = state_new();
    char said[1600];
    clock_faults f = {.write_of = "scaling_max_freq", .write_error = error[i], .root = st.t->root};
    wtl_knob_sys os = clock_sys(&f);
    be_killed(&st);
    CHECK(repairs(&st, &os, said));
    CHECK_CONTAINS(said, "cannot be put back");
    CHECK_CONTAINS(said, strerror(error[i]));
    f.write_of = NULL;
    f.open_of = "scaling_min_freq";
    f.open_error = EACCES;
    CHECK(repairs(&st, &os, said) && kept(&st, NULL) == 1);
    f.open_of = NULL;
    CHECK(repairs(&st, &os, said) && kept(&st, NULL) == 0);
    CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
    state_free(&st);
  }
}

static void a_core_that_is_gone_does_not_keep_the_rest_from_being_put_back(void)
{
  state st = state_new();
  char said[1600], path[256];
  be_killed(&st);
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", st.t->root);
  unlink(path);
  CHECK(repairs(&st, &wtl_knob_sys_real, said) && kept(&st, NULL) == 0);
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_min_freq"), "800000");
  state_free(&st);
}

/* ---- what others put into the folder ---- */

/* A name as a job's file has it. */
static const char *planted(const state *st, const char *start, const char *end)
{
  static char path[4][512];
  static unsigned turn;
  char name[WTL_KNOB_STATE_NAME], *out = path[turn++ % 4];
  unsigned hash = 5381;
  for (const char *at = end; *at; at++) hash = hash * 33 + (unsigned char)*at;
  if (!wtl_knob_state_name(start, name)) exit(2);
  const char *folder = strcmp(start, "limits") == 0 ? limits_folder(st) : st->folder;
  mkdir(folder, 0700);
  snprintf(out, sizeof path[0], "%s/%s-%08x", folder, name, hash);
  return out;
}

static const char *plant(const state *st, const char *start, const char *end, const char *lines)
{
  const char *path = planted(st, start, end);
  FILE *f = fopen(path, "w");
  if (!f || fprintf(f, "wattle clocks 2\nsysfs %s\n%s", st->t->root, lines) < 0 || fclose(f) != 0) exit(2);
  chmod(path, 0640);
  return path;
}

static bool nothing_was_written(const state *st)
{
  return strcmp(clock_get(st->t->root, 0, "cpufreq/scaling_max_freq"), "3900000") == 0 &&
         strcmp(clock_get(st->t->root, 0, "cpufreq/scaling_min_freq"), "800000") == 0 &&
         strcmp(clock_get(st->t->root, 0, "cpufreq/energy_performance_preference"), "balance_performance") == 0;
}

static void plant_socket(const char *path)
{
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  char folder[512], *name;
  snprintf(folder, sizeof folder, "%s", path);
  name = strrchr(folder, '/');
  *name++ = '\0';
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), here = open(".", O_PATH);
  snprintf(a.sun_path, sizeof a.sun_path, "%.100s", name); /* the whole path may be longer than an address */
  if (chdir(folder) != 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || fchdir(here) != 0) exit(2);
  close(fd);
  close(here);
}

static void nothing_in_the_folder_holds_a_job_up(void)
{
  state st = state_new();
  char said[1600];
  be_killed(&st);
  CHECK(mkfifo(planted(&st, "clocks", "fifo"), 0666) == 0);
  CHECK(mkfifo(planted(&st, "limits", "fifo"), 0666) == 0);
  CHECK(mkdir(planted(&st, "clocks", "folder"), 0777) == 0);
  CHECK(symlink("/dev/zero", planted(&st, "clocks", "device")) == 0);
  CHECK(symlink(planted(&st, "clocks", "fifo"), planted(&st, "clocks", "link")) == 0);
  plant_socket(planted(&st, "clocks", "socket"));
  CHECK(truncate(plant(&st, "clocks", "large", "end\n"), 1LL << 40) == 0);
  for (int i = 0; i < 200; i++) {
    char end[16];
    snprintf(end, sizeof end, "%d", i);
    plant(&st, "clocks", end, "");
  }
  alarm(60); /* a hang ends the test */
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  alarm(0);
  CHECK_CONTAINS(said, "put back: 2 files");
  CHECK(nothing_was_written(&st)); /* but for what was found */
  state_free(&st);
}

static void of_thousands_of_files_a_limited_number_is_read(void)
{
  state st = state_new();
  char said[1600];
  for (int i = 0; i < 1000; i++) {
    char end[16];
    snprintf(end, sizeof end, "%d", i);
    plant(&st, "clocks", end, "");
  }
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "has too many files");
  state_free(&st);
}

static void a_file_of_another_user_is_named_and_not_believed(void)
{
  state st = state_new();
  char said[1600];
  const char *path = plant(&st, "clocks", "theirs", "scaling_max_freq 0 2000000\nend\n");
  if (chown(path, SOMEBODY, (gid_t)-1) != 0) {
    state_free(&st); /* only root can make one */
    return;
  }
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said,
                 "claims that a killed job has left clocks changed, which is not trusted: it belongs to user 4711");
  CHECK(nothing_was_written(&st) && kept(&st, NULL) == 1);
  plant(&st, "clocks", "theirs", "scaling_max_freq 0 3900000\nend\n");
  CHECK(!repairs(&st, &wtl_knob_sys_real, said)); /* nothing is left changed */
  plant(&st, "clocks", "theirs", "scaling_max_freq 0 2000000\nend\n");
  plant(&st, "clocks", "own", "scaling_max_freq 0 1\nend\n");
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "it belongs to user 4711"); /* whichever is read first */
  CHECK_CONTAINS(said, "must be a whole number from 10000 to 20000000");
  state_free(&st);
}

/* Messages may go to root's terminal. */
static void a_name_that_no_job_gives_is_never_printed(void)
{
  state st = state_new();
  char said[1600], odd[600];
  const char *path = plant(&st, "clocks", "odd", "scaling_max_freq 0 1\nend\n");
  snprintf(odd, sizeof odd, "%.*s\033[2Jabcd", (int)(strlen(path) - 8), path);
  CHECK(rename(path, odd) == 0);
  CHECK(!repairs(&st, &wtl_knob_sys_real, said));
  state_free(&st);
}

static void a_file_with_other_writers_or_names_is_not_believed(void)
{
  static const char lines[] = "scaling_max_freq 0 2000000\nend\n";
  state st = state_new();
  char said[1600], other[300];
  snprintf(other, sizeof other, "%s/.other", st.folder);
  const char *path = plant(&st, "clocks", "own", lines);
  chmod(path, 0660);
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "is not trusted: other users than its owner may write to it");
  chmod(path, 0640);
  CHECK(link(path, other) == 0 && repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "is not trusted: it has 2 names");
  CHECK(nothing_was_written(&st) && kept(&st, NULL) == 1);
  CHECK(unlink(other) == 0 && repairs(&st, &wtl_knob_sys_real, said)); /* so it was the name */
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "2000000");
  state_free(&st);
}

static void only_values_that_a_knob_can_have_found_are_written(void)
{
  static const char *const wrong[] = {
      "scaling_max_freq 0 1000",
      "scaling_max_freq 0 20000001",
      "scaling_min_freq 0 0",
      "scaling_max_freq 0 99999999999999999999",
      "scaling_max_freq 0 2e6",
      "scaling_max_freq 0 -2000000",
      "scaling_max_freq 0 2000000 ",
      "scaling_setspeed 0 400000000",
      "energy_performance_preference 0 fast",
      "energy_performance_preference 0 256",
      "energy_performance_preference 0 power performance",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    state st = state_new();
    char said[1600], lines[128];
    snprintf(lines, sizeof lines, "scaling_min_freq 0 900000\n%s\nend\n", wrong[i]);
    plant(&st, "clocks", "odd", lines);
    CHECK(repairs(&st, &wtl_knob_sys_real, said));
    CHECK_CONTAINS(said, "is not trusted: ");
    CHECK(nothing_was_written(&st) && kept(&st, NULL) == 1); /* the correct line was not written, either */
    state_free(&st);
  }
}

/* Nothing of a file that breaks off or is of another form, and nothing but the knobs' attributes of a CPU. */
static void a_file_names_no_other_file(void)
{
  static const char *const wrong[] = {
      "1 /etc/passwd\nend\n",
      "scaling_max_freq ../../cpu0 2000000\nend\n",
      "../scaling_max_freq 0 2000000\nend\n",
      "scaling_governor 0 performance\nend\n",
      "online 0 0\nend\n",
      "scaling_max_freq 99999 2000000\nend\n",
      "scaling_max_freq -1 2000000\nend\n",
      "constraint_0_power_limit_uw 0 1000000\nend\n", /* among clocks */
      "scaling_max_freq 0 2000000\n",
      "scaling_max_freq 0 2000000\nend\nmore\n",
      "scaling_max_freq 0 2000000\nend",
      "scaling_max_freq 0\nend\n",
      "scaling_max_freq 0 01234567890123456789012345678901234567890123456789\nend\n",
      "sysfs /\nscaling_max_freq 0 2000000\nend\n",
      "",
      "end\n",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    state st = state_new();
    char said[1600];
    plant(&st, "clocks", "odd", wrong[i]);
    CHECK(!repairs(&st, &wtl_knob_sys_real, said));
    CHECK_TEXT(said, "");
    CHECK(nothing_was_written(&st));
    state_free(&st);
  }
}

static void a_file_of_another_sysfs_says_nothing(void)
{
  state st = state_new();
  char said[1600], root[160];
  be_killed(&st);
  snprintf(root, sizeof root, "%s/.", st.t->root);
  st.s.sysfs.text = root;
  CHECK(!repairs(&st, &wtl_knob_sys_real, said) && kept(&st, NULL) == 1);
  state_free(&st);
}

/* As a member of the folder's group can do: rename, or give it another name, and show it when the limits have changed. */
static void a_restored_value_is_not_restored_twice(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char said[1600], hidden[300], path[512];
  snprintf(hidden, sizeof hidden, "%s/.hidden", st.folder);
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  CHECK(kept(&st, path) == 1 && rename(path, hidden) == 0);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  clock_put(st.t->root, 0, "cpufreq/scaling_max_freq", "2000000");
  CHECK(rename(hidden, path) == 0);
  CHECK(!repairs(&st, &wtl_knob_sys_real, said));
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "2000000");
  state_free(&st);
}

static void jobs_that_may_set_no_clock_leave_them_and_say_so(void)
{
  static const int knobs[] = {WTL_KNOB_NONE, WTL_KNOB_RECORD};
  for (size_t i = 0; i < 2; i++) {
    state st = state_new();
    char said[1600];
    be_killed(&st);
    st.s.knob.number = knobs[i];
    CHECK(repairs(&st, &wtl_knob_sys_real, said) && kept(&st, NULL) == 1);
    CHECK_CONTAINS(said, "a job with WATTLE_KNOB=auto restores them");
    CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "3000000");
    state_free(&st);
  }
}

/* ---- power limits ---- */

static state limited_new(void)
{
  state st = state_new();
  tree_zone(st.t, "intel-rapl:0", "package-0", 0, 1000);
  tree_put(st.t, "intel-rapl:0", "constraint_0_power_limit_uw", "150000000\n");
  tree_put(st.t, "intel-rapl:0", "constraint_0_max_power_uw", "200000000\n");
  clock_put(st.t->root, 0, "topology/package_cpus_list", "0");
  return st;
}

static const char *limit(const state *st)
{
  static char text[64];
  char path[256];
  snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", st->t->root);
  if (wtl_sys_real.read_file(NULL, path, text, sizeof text) < 0) exit(2);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

/* As a job leaves it that was killed together with its guard: the limit halved. */
static void be_killed_with_limits(state *st)
{
  cpu_set_t set = clock_cpus(1);
  st->s.knob.number = WTL_KNOB_POWERCAP;
  wtl_knob *k = wtl_knob_open(&st->s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  CHECK(wtl_knob_set(k, 0, 1200000) == 0);
  wtl_knob_close(k);
  CHECK_TEXT(limit(st), "75000000");
}

/* The group may write to the folder for clocks, and so remove and rename anything in it. */
static void a_group_that_may_set_clocks_reaches_nothing_that_is_kept_of_power_limits(void)
{
  state st = limited_new();
  struct stat about;
  char path[512], said[1600];
  mkdir(st.folder, 0770);
  CHECK(chmod(st.folder, 02770) == 0);
  be_killed_with_limits(&st);
  CHECK(kept(&st, NULL) == 0 && kept_in(limits_folder(&st), path) == 1);
  CHECK(stat(limits_folder(&st), &about) == 0 && (about.st_mode & 07777) == 0700 && about.st_uid == geteuid());
  if (!wtl_knob_state_name(".claims", path)) exit(2);
  int folder = open(st.folder, O_RDONLY), limits = open(limits_folder(&st), O_RDONLY);
  CHECK(faccessat(folder, path, F_OK, 0) != 0 && faccessat(limits, path, F_OK, 0) == 0);
  close(folder);
  close(limits);
  CHECK(repairs(&st, &wtl_knob_sys_real, said) && kept_in(limits_folder(&st), NULL) == 0);
  CHECK_CONTAINS(said, "power limits that a killed job had left changed are put back: 1 files");
  CHECK_TEXT(limit(&st), "150000000");
  plant(&st, "limits", "elsewhere", "constraint_0_power_limit_uw 0 160000000\nend\n");
  CHECK(kept_in(limits_folder(&st), path) == 1);
  char moved[600];
  snprintf(moved, sizeof moved, "%s%s", st.folder, strrchr(path, '/'));
  CHECK(rename(path, moved) == 0 && !repairs(&st, &wtl_knob_sys_real, said));
  CHECK_TEXT(limit(&st), "150000000");
  state_free(&st);
}

/* Says so to jobs that set power limits, and to no others. */
static void expect_unused(state *st, const char *why)
{
  char said[1600];
  cpu_set_t set = clock_cpus(1);
  st->s.knob.number = WTL_KNOB_AUTO;
  CHECK(!repairs(st, &wtl_knob_sys_real, said));
  st->s.knob.number = WTL_KNOB_POWERCAP;
  CHECK(repairs(st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, why);
  wtl_knob *k = wtl_knob_open(&st->s, &set, NULL);
  wtl_knob_save(k);
  CHECK(!k->saved);
  wtl_knob_close(k);
}

static void a_folder_of_power_limits_that_others_may_change_or_rename_is_not_used_which_is_reported(void)
{
  state st = limited_new();
  be_killed_with_limits(&st);
  CHECK(chmod(limits_folder(&st), 0770) == 0);
  expect_unused(&st, "-limits is not used for power limits: others may write to it (mode 770; 755 at most)");
  CHECK(chmod(limits_folder(&st), 0700) == 0 && chmod(st.t->root, 0770) == 0);
  expect_unused(
      &st, "-limits is not used for power limits: others may rename it, because they may write to a folder above it");
  CHECK(chmod(st.t->root, 0700) == 0);
  if (chown(limits_folder(&st), SOMEBODY, (gid_t)-1) == 0) {
    expect_unused(&st, "-limits is not used for power limits: it belongs to user 4711");
    CHECK(chown(limits_folder(&st), getuid(), (gid_t)-1) == 0);
  }
  CHECK_TEXT(limit(&st), "75000000");
  state_free(&st);
}

static void with_none_neither_clocks_nor_power_limits_are_kept(void)
{
  state st = limited_new();
  struct stat about;
  st.s.clock_state.text = "none";
  cpu_set_t set = clock_cpus(1);
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  wtl_knob_close(k);
  be_killed_with_limits(&st);
  CHECK(stat(st.folder, &about) != 0 && stat(limits_folder(&st), &about) != 0);
  state_free(&st);
}

static void power_limits_are_put_back_by_jobs_that_set_them_only(void)
{
  state st = limited_new();
  char said[1600];
  be_killed_with_limits(&st);
  st.s.knob.number = WTL_KNOB_AUTO;
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "a job with WATTLE_KNOB=powercap or WATTLE_PACKAGE_LIMIT restores them");
  CHECK_TEXT(limit(&st), "75000000");
  st.s.knob.number = WTL_KNOB_POWERCAP;
  CHECK(repairs(&st, &wtl_knob_sys_real, said) && kept_in(limits_folder(&st), NULL) == 0);
  CHECK_TEXT(limit(&st), "150000000");
  state_free(&st);
}

static void a_power_limit_is_not_lowered_by_a_repair(void)
{
  static const char *const wrong[] = {"1000000", "149999999", "0", "100000000001", "many"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    state st = limited_new();
    char said[1600], lines[128];
    snprintf(lines, sizeof lines, "constraint_0_power_limit_uw 0 %s\nend\n", wrong[i]);
    plant(&st, "limits", "odd", lines);
    st.s.knob.number = WTL_KNOB_POWERCAP;
    CHECK(repairs(&st, &wtl_knob_sys_real, said));
    CHECK_CONTAINS(said, "must be a whole number from 150000000 to 100000000000");
    CHECK_TEXT(limit(&st), "150000000");
    state_free(&st);
  }
}

/* ---- locks, and the folder ---- */

/* As anybody can who may read the file. */
static int lock_as_a_reader(const state *st, const char *file)
{
  char path[300];
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/%s", st->t->root, file);
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
  return fd;
}

static void a_readers_lock_stops_neither_the_governor_nor_the_repair(void)
{
  state st = state_new();
  char said[1600];
  int ceiling = lock_as_a_reader(&st, "scaling_max_freq"), floor = lock_as_a_reader(&st, "scaling_min_freq");
  be_killed(&st); /* it has claimed, and set, its clock */
  CHECK(repairs(&st, &wtl_knob_sys_real, said) && kept(&st, NULL) == 0);
  CHECK(nothing_was_written(&st));
  close(ceiling);
  close(floor);
  state_free(&st);
}

static void a_readers_lock_does_not_let_two_jobs_have_one_clock(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char said[1600];
  int lock = lock_as_a_reader(&st, "scaling_max_freq");
  wtl_knob *first = wtl_knob_open(&st.s, &set, NULL), *second = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(first, 0) == 0);
  wtl_knob_save(first);
  CHECK(wtl_knob_claim(second, 0) == EBUSY);
  CHECK_CONTAINS(wtl_knob_why(second), "another job has it");
  CHECK(wtl_knob_set(first, 0, 1000000) == 0 && !repairs(&st, &wtl_knob_sys_real, said));
  wtl_knob_restore(first);
  CHECK(wtl_knob_claim(second, 0) == 0);
  wtl_knob_restore(second);
  wtl_knob_close(first);
  wtl_knob_close(second);
  close(lock);
  state_free(&st);
}

/* Others, with a folder of their own, may write to the file: its own lock is all that both see. */
static void where_others_may_write_the_clocks_files_their_locks_decide(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char path[300];
  int lock = lock_as_a_reader(&st, "scaling_max_freq");
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", st.t->root);
  chmod(path, 0664);
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == EBUSY);
  CHECK(chmod(st.folder, 02770) == 0); /* it is the group's folder, and the group's file */
  CHECK(chown(st.folder, (uid_t)-1, getegid()) == 0 && chown(path, (uid_t)-1, getegid()) == 0);
  wtl_knob_close(k);
  k = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  close(lock);
  state_free(&st);
}

/* As a member of the group can leave it. */
static void without_claims_the_clocks_own_locks_decide(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char name[WTL_KNOB_STATE_NAME], path[512];
  if (!wtl_knob_state_name(".claims", name)) exit(2);
  snprintf(path, sizeof path, "%s/%s", st.folder, name);
  CHECK(mkdir(st.folder, 0700) == 0 && mkfifo(path, 0666) == 0);
  alarm(60); /* a hang ends the test */
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL), *second = wtl_knob_open(&st.s, &set, NULL);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_claim(second, 0) == EBUSY);
  wtl_knob_restore(k);
  CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
  CHECK(wtl_knob_claim(second, 0) == 0 && wtl_knob_claim(k, 0) == EBUSY);
  wtl_knob_restore(second);
  alarm(0);
  wtl_knob_close(k);
  wtl_knob_close(second);
  state_free(&st);
}

/* Another member of the group, in a process of its own: the exit status says what claiming clock 0 gave; 255 where the
 * member cannot reach the tree. */
static int claim_as_a_member(const state *st, gid_t group)
{
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    cpu_set_t set = clock_cpus(1);
    if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 ||
        setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 || access(st->folder, W_OK) != 0)
      _exit(255);
    wtl_knob *k = wtl_knob_open(&st->s, &set, NULL);
    _exit(wtl_knob_claim(k, 0));
  }
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

static void members_of_a_group_see_each_others_claims_and_no_readers(void)
{
  static const char *const files[] = {"scaling_max_freq", "scaling_min_freq"};
  enum { GROUP = 4712 };
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char path[300];
  mkdir(st.folder, 0770);
  bool is_root = chown(st.folder, 0, GROUP) == 0;
  for (size_t i = 0; i < 2 && is_root; i++) {
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/%s", st.t->root, files[i]);
    CHECK(chown(path, 0, GROUP) == 0 && chmod(path, 0664) == 0);
  }
  CHECK(chmod(st.folder, 02770) == 0);
  if (is_root && claim_as_a_member(&st, GROUP) != 255) {
    int lock = lock_as_a_reader(&st, "scaling_max_freq");
    CHECK(claim_as_a_member(&st, GROUP) == 0);
    wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
    CHECK(wtl_knob_claim(k, 0) == 0);
    CHECK(claim_as_a_member(&st, GROUP) == EBUSY);
    wtl_knob_restore(k);
    wtl_knob_close(k);
    CHECK(claim_as_a_member(&st, GROUP) == 0);
    close(lock);
  }
  state_free(&st);
}

static void a_folder_that_others_may_change_is_not_used_which_is_reported(void)
{
  state st = state_new();
  cpu_set_t set = clock_cpus(1);
  char said[1600], link[300];
  be_killed(&st);
  chmod(st.folder, 0777);
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "is not used: all users may write to it (mode 777; 2770 at most)");
  wtl_knob *k = wtl_knob_open(&st.s, &set, NULL);
  wtl_knob_save(k);
  CHECK(!k->saved && kept(&st, NULL) == 1);
  wtl_knob_close(k);
  chmod(st.folder, 0755);
  if (chown(st.folder, SOMEBODY, (gid_t)-1) == 0) {
    CHECK(repairs(&st, &wtl_knob_sys_real, said));
    CHECK_CONTAINS(said, "is not used: it belongs to user 4711");
    CHECK(chown(st.folder, getuid(), (gid_t)-1) == 0);
  }
  snprintf(link, sizeof link, "%s-link", st.folder);
  CHECK(symlink(st.folder, link) == 0);
  char *folder = st.folder;
  st.s.clock_state.text = link;
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "is not used: Not a directory");
  st.s.clock_state.text = "state";
  CHECK(repairs(&st, &wtl_knob_sys_real, said));
  CHECK_CONTAINS(said, "it must be auto, none or an absolute path");
  CHECK_TEXT(clock_get(st.t->root, 0, "cpufreq/scaling_max_freq"), "3000000");
  st.s.clock_state.text = folder;
  CHECK(repairs(&st, &wtl_knob_sys_real, said) && nothing_was_written(&st));
  state_free(&st);
}

static void a_file_of_another_boot_says_nothing(void)
{
  state st = state_new();
  char said[1600], path[512], other[600];
  be_killed(&st);
  CHECK(kept(&st, path) == 1);
  snprintf(other, sizeof other, "%s/clocks-00000000-0000-0000-0000-000000000000-abcdef", st.folder);
  CHECK(rename(path, other) == 0);
  CHECK(!repairs(&st, &wtl_knob_sys_real, said) && kept(&st, NULL) == 1);
  state_free(&st);
}

TESTS(TEST(the_next_job_restores_what_a_killed_one_left_and_reports_it),
      TEST(a_clock_that_was_found_is_restored_whatever_range_the_hardware_has_today),
      TEST(a_job_that_restores_its_clocks_leaves_no_file), TEST(a_job_that_lives_is_left_alone),
      TEST(a_repair_that_fails_is_reported_and_tried_again),
      TEST(a_core_that_is_gone_does_not_keep_the_rest_from_being_put_back), TEST(nothing_in_the_folder_holds_a_job_up),
      TEST(of_thousands_of_files_a_limited_number_is_read), TEST(a_file_of_another_user_is_named_and_not_believed),
      TEST(a_name_that_no_job_gives_is_never_printed), TEST(a_file_with_other_writers_or_names_is_not_believed),
      TEST(only_values_that_a_knob_can_have_found_are_written), TEST(a_file_names_no_other_file),
      TEST(a_file_of_another_sysfs_says_nothing), TEST(a_restored_value_is_not_restored_twice),
      TEST(jobs_that_may_set_no_clock_leave_them_and_say_so),
      TEST(a_group_that_may_set_clocks_reaches_nothing_that_is_kept_of_power_limits),
      TEST(a_folder_of_power_limits_that_others_may_change_or_rename_is_not_used_which_is_reported),
      TEST(with_none_neither_clocks_nor_power_limits_are_kept),
      TEST(power_limits_are_put_back_by_jobs_that_set_them_only), TEST(a_power_limit_is_not_lowered_by_a_repair),
      TEST(a_readers_lock_stops_neither_the_governor_nor_the_repair),
      TEST(a_readers_lock_does_not_let_two_jobs_have_one_clock),
      TEST(where_others_may_write_the_clocks_files_their_locks_decide),
      TEST(without_claims_the_clocks_own_locks_decide), TEST(members_of_a_group_see_each_others_claims_and_no_readers),
      TEST(a_folder_that_others_may_change_is_not_used_which_is_reported), TEST(a_file_of_another_boot_says_nothing))
