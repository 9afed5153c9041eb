/* launcher_openmpi.c - Open MPI's mpirun or prterun. */
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/launcher.h"
#include "launch/program_search.h"
#include "launch/sessions.h"
#include "node/process.h"
#include "node/stale_files.h"
#include "node/tcp_timeout.h"

static bool suits(void)
{
  return true;
}

/* MPICH's mpirun serves no PMIx. With Open MPI's options each of its processes would be a job of its own. */
static bool is_open_mpi(const char *mpirun)
{
  static const char *const names[] = {"Open MPI", "OpenRTE", "PRTE"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (wtl_program_prints(mpirun, "--version", names[i])) return true;
  return false;
}

static bool find(char *path, size_t size)
{
  if (wtl_program_in_path("mpirun.openmpi", path, size))
    return true; /* Debian's name, which does not depend on `mpirun` */
  if (wtl_program_in_path("prterun", path, size)) return true;
  return wtl_program_in_path("mpirun", path, size) && is_open_mpi(path);
}

/* Some releases of Open MPI 5 crash on each job of several parts, and the prterun that they start does not. */
static void find_for(const wtl_command *c, char *path, size_t size)
{
  char prterun[4096];
  if (wtl_command_has_parts(c) && wtl_program_in_path("prterun", prterun, sizeof prterun))
    snprintf(path, size, "%s", prterun);
}

/* Open MPI 5 does not start without a home folder. */
static void name_home(wtl_words *variables)
{
  const struct passwd *user = getenv("HOME") ? NULL : getpwuid(geteuid());
  if (user) wtl_launcher_variable(variables, "HOME", user->pw_dir);
}

/* Open MPI and PRRTE refuse root unless these are set. */
static const char *const as_root[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                      "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"};

/* A lost node must end the job within seconds. The default is to probe after five minutes. */
static const struct {
  const char *name, *value;
} keepalive[] = {{"OMPI_MCA_oob_tcp_keepalive_time", "8"},   {"PRTE_MCA_oob_tcp_keepalive_time", "8"},
                 {"OMPI_MCA_oob_tcp_keepalive_intvl", "3"},  {"PRTE_MCA_oob_tcp_keepalive_intvl", "3"},
                 {"OMPI_MCA_oob_tcp_keepalive_probes", "3"}, {"PRTE_MCA_oob_tcp_keepalive_probes", "3"}};

static void environment(wtl_words *variables)
{
  char path[4096];
  name_home(variables);
  for (size_t i = 0; geteuid() == 0 && i < sizeof as_root / sizeof as_root[0]; i++)
    wtl_launcher_variable(variables, as_root[i], "1");
  for (size_t i = 0; i < sizeof keepalive / sizeof keepalive[0]; i++)
    wtl_launcher_variable(variables, keepalive[i].name, keepalive[i].value);
  /*
   * Without ssh and rsh, Open MPI refuses jobs of one node, too, unless this parameter says that there are no other
   * nodes.
   */
  if (!wtl_program_in_path("ssh", path, sizeof path) && !wtl_program_in_path("rsh", path, sizeof path))
    wtl_launcher_variable(variables, "OMPI_MCA_plm", "isolated");
}

/* Does the user export this variable already? */
static bool is_exported(const wtl_command *c, const char *name, size_t length)
{
  for (size_t i = 0; i + 1 < c->options.n; i++) {
    const char *what = c->options.at[i + 1];
    if (strcmp(c->options.at[i], "-x") == 0 && strncmp(what, name, length) == 0 &&
        (what[length] == '\0' || what[length] == '='))
      return true;
  }
  return false;
}

/* Open MPI refuses -x together with this other list of variables to export. */
static bool has_environment_list(const wtl_command *c)
{
  for (size_t i = 0; i < c->options.n; i++)
    if (strcmp(c->options.at[i], "mca_base_env_list") == 0) return true;
  return getenv("OMPI_MCA_mca_base_env_list") != NULL;
}

/* Exports the settings to other nodes. mpirun does not do this by default. */
static void export_settings(wtl_words *line, const wtl_command *c)
{
  if (has_environment_list(c)) return;
  for (char **e = environ; e && *e; e++) {
    size_t length = strcspn(*e, "=");
    if (!wtl_launcher_is_setting(*e) || is_exported(c, *e, length)) continue;
    wtl_arguments_add(line, "-x");
    wtl_arguments_format(line, "%.*s", (int)length, *e);
  }
}

/* Is this a file in MPICH's form? Open MPI does not read slots in that form. */
static bool is_foreign(const wtl_hosts *h)
{
  return h->slot_colons && !h->slot_words;
}

/* Checks the list, because Open MPI takes "a:x" for one slot without an error. */
static bool check_hosts(const wtl_command *c, char *error, size_t size)
{
  wtl_hosts h = {0};
  bool good = true;
  if (c->hosts && !strchr(c->hosts, '*')) good = wtl_hosts_of_list(&h, c->hosts, error, size); /* a:* means all slots */
  wtl_hosts_free(&h);
  return good;
}

static void add_hosts(wtl_words *line, const wtl_command *c)
{
  wtl_hosts h = {0};
  char error[256];
  if (c->hosts) {
    wtl_arguments_add(line, "--host");
    wtl_arguments_add(line, c->hosts);
  }
  if (c->hostfile) { /* Open MPI reads the files that we cannot read, or reports the error */
    char *text = wtl_hosts_of_file(&h, c->hostfile, error, sizeof error) && is_foreign(&h) ? wtl_hosts_text(&h) : NULL;
    wtl_arguments_add(line, text ? "--host" : "--hostfile");
    wtl_arguments_add(line, text ? text : c->hostfile);
    free(text);
    wtl_hosts_free(&h);
  }
}

/* Does the user say where PEs run, by an option or a parameter? */
static bool places_pes(const wtl_command *c)
{
  for (size_t i = 0; i < c->options.n; i++)
    if (strstr(c->options.at[i], "binding_policy") || strstr(c->options.at[i], "mapping_policy")) return true;
  const char *policy = getenv("PRTE_MCA_rmaps_default_mapping_policy"); /* ":oversubscribe" names no places */
  return (policy && *policy != ':') || getenv("OMPI_MCA_rmaps_base_mapping_policy") ||
         wtl_command_has(c, "--map-by -map-by --cpu-set --cpu-list -rf --rankfile --app -app");
}

/*
 * Returns the cores that a PE is bound to, in Open MPI's words, or NULL for the launcher's default. Open MPI 4 binds
 * each PE of one or two to a core. Open MPI 5 does so only without --oversubscribe, unless it is asked to.
 */
static const char *binding(const wtl_command *c, long n)
{
  cpu_set_t cpus;
  const char *const set[] = {getenv("OMPI_MCA_hwloc_base_binding_policy"),
                             getenv("PRTE_MCA_hwloc_default_binding_policy")};
  if (wtl_command_has(c, "--bind-to -bind-to")) return NULL; /* given twice, it is an error in Open MPI 5 */
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && n > CPU_COUNT(&cpus)) return "none";
  if (places_pes(c) || wtl_command_has_parts(c)) return NULL; /* in Open MPI 5 a second part would find no core left */
  for (size_t i = 0; i < sizeof set / sizeof set[0]; i++)
    if (set[i] && *set[i]) return set[i];
  return n <= 2 ? "core:overload-allowed" : NULL;
}

/* Lets PEs outnumber cores and slots. prterun warns about mpirun's option, and about its own given twice. */
static void oversubscribe(wtl_words *line, const wtl_command *c)
{
  const char *slash = strrchr(line->at[0], '/');
  if (strcmp(slash ? slash + 1 : line->at[0], "prterun") != 0) {
    wtl_arguments_add(line, "--oversubscribe");
  } else if (!wtl_command_has(c, "--map-by")) {
    wtl_arguments_add(line, "--map-by");
    wtl_arguments_add(line, ":oversubscribe");
  }
}

static bool compose(wtl_words *line, const wtl_command *c, char *error, size_t size)
{
  long n = c->n ? c->n : 1;
  const char *bound = binding(c, n);
  wtl_arguments_add(line, "-n");
  wtl_arguments_format(line, "%ld", n);
  oversubscribe(line, c);
  if (bound) {
    wtl_arguments_add(line, "--bind-to");
    wtl_arguments_add(line, bound);
  }
  export_settings(line, c);
  if (!check_hosts(c, error, size)) return false;
  add_hosts(line, c);
  return true;
}

/* After the loss of a node, Open MPI 5 ends the job with exit code 0 and this message. */
static int reported_code(const char *line)
{
  return strstr(line, "has lost communication with a remote daemon") ? WTL_EXIT_UNAVAILABLE : -1;
}

/* Its own exit code for an interrupted job is 1. A program may use this code itself. */
static int exit_code(int own, int reported, int signal)
{
  if (own == 0 && reported > 0) return reported;
  return own != 0 && signal ? 128 + signal : own;
}

static bool has_living_children(pid_t launcher)
{
  char pattern[64];
  glob_t found = {0};
  bool alive;
  snprintf(pattern, sizeof pattern, "/proc/%ld/task/*/children", (long)launcher);
  alive = glob(pattern, 0, NULL, &found) != 0; /* a kernel without this file */
  for (size_t i = 0; !alive && i < found.gl_pathc; i++) {
    FILE *f = fopen(found.gl_pathv[i], "re");
    int pid;
    while (f && !alive && fscanf(f, "%d", &pid) == 1) alive = !wtl_process_is_gone(pid);
    if (f) fclose(f);
  }
  globfree(&found);
  return alive;
}

static bool is_asleep(const char *thread)
{
  char path[512], state = '\0';
  FILE *f;
  snprintf(path, sizeof path, "%s/stat", thread);
  if ((f = fopen(path, "re")) == NULL) return true; /* the thread has ended */
  if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = '\0';
  fclose(f);
  return state == 'S';
}

/* A thread that waits for a core on a busy machine may be the one that the other threads wait for. */
static bool all_threads_sleep(pid_t launcher)
{
  char pattern[64];
  glob_t found = {0};
  snprintf(pattern, sizeof pattern, "/proc/%ld/task/*", (long)launcher);
  bool asleep = glob(pattern, 0, NULL, &found) == 0;
  for (size_t i = 0; asleep && i < found.gl_pathc; i++) asleep = is_asleep(found.gl_pathv[i]);
  globfree(&found);
  return asleep;
}

static long present_call(pid_t launcher)
{
  char path[64];
  long call = -1;
  FILE *f;
  snprintf(path, sizeof path, "/proc/%ld/syscall", (long)launcher);
  if ((f = fopen(path, "re")) == NULL) return -1;
  if (fscanf(f, "%ld", &call) != 1) call = -1;
  fclose(f);
  return call;
}

/* Is the reader of the job's output slow? The launcher writes to oshrun's own streams. */
static bool has_slow_reader(void)
{
  struct pollfd streams[] = {{.fd = STDOUT_FILENO, .events = POLLOUT}, {.fd = STDERR_FILENO, .events = POLLOUT}};
  return poll(streams, 2, 0) >= 0 && (!streams[0].revents || !streams[1].revents);
}

/*
 * Two cases in which Open MPI 4.1 does not end. If a PE died while it joined, it may deadlock on its own lock after all
 * PEs have ended. If a node is lost, it waits for that node's daemon until TCP gives up after a quarter of an hour.
 */
static bool is_stuck(pid_t launcher)
{
  if (wtl_tcp_is_unanswered(launcher, WTL_TCP_UNANSWERED_MS)) return true;
  return present_call(launcher) == SYS_futex && all_threads_sleep(launcher) && !has_living_children(launcher) &&
         !has_slow_reader();
}

const wtl_launcher wtl_launcher_openmpi = {
    .name = "openmpi",
    .wanted = "Open MPI's (mpirun.openmpi, prterun or mpirun)",
    .package = "openmpi-bin",
    .grammar =
        {.counts = "-n --n -np --np -c",
         .values =
             "-x --bind-to -bind-to --map-by -map-by --rank-by -rank-by -wdir --wdir -wd --wd -N -npernode --npernode "
             "--timeout --tmpdir -tmpdir --output-filename --cpu-set --cpu-list -rf --rankfile --stdin --xterm "
             "--prefix --path -path "
             "-am --am --tune -tune --app -app --default-hostfile -default-hostfile",
         .pairs = "--mca -mca --gmca -gmca",
         .files = "-rf --rankfile --app -app",
         .file_lists = "-am --am --tune -tune --default-hostfile -default-hostfile", /* the value may be "none" */
         .file_variables = "orte_rankfile rmaps_rank_file_path",
         .file_list_variables = "orte_default_hostfile prte_default_hostfile mca_base_param_files mca_param_files "
                                "mca_base_param_file_prefix mca_base_envar_file_prefix",
         .parameter_prefixes = "OMPI_MCA_ PRTE_MCA_"},
    .starts_here = true,
    .file_bytes = 8 << 20, /* shared memory of PMIx */
    .moving = "-wdir --wdir -wd --wd --path -path",
    .suits = suits,
    .find = find,
    .find_for = find_for,
    .environment = environment,
    .compose = compose,
    .report_stream = STDERR_FILENO,
    .reported_code = reported_code,
    .exit_code = exit_code,
    .prepare = wtl_sessions_make,
    .begin_part = wtl_sessions_hide,
    .is_stuck = is_stuck,
    .remove_remains = wtl_sessions_remove,
};
