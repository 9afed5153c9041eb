/*
 * wattle_spank.c - Slurm's plugin wattle_spank.so: `srun --wattle` profiles a step as `wattle run` does.
 *
 * plugstack.conf:  required PREFIX/lib/wattle_spank.so [command=PATH] [dir=FOLDER] [repair=off] [WATTLE_NAME=VALUE]...
 *
 * DESIGN. Slurm loads the plugin into four kinds of processes.
 *
 *   srun         registers the options. With --wattle it runs `wattle collect --begin` before the launch, which makes
 *                the directory FOLDER/slurm-JOB.STEP and its manifest. It puts the folder into the environment as
 *                SLURM_WATTLE_DIR; a name that begins with SLURM_ reaches the nodes with any --export. When srun exits,
 *                it runs `wattle collect`, which completes the manifest and prints the tables.
 *   slurmstepd   sets WATTLE_PROFILE_DIR for the tasks, and with --wattle=mpi it preloads libwattle-mpi.so. When its
 *                tasks have ended and one of them failed, it runs wattle-profiles as the job's user, because the
 *                counts of a killed task are in the memory of its node. At a time limit no srun may be left by then.
 *   sbatch, salloc  register the options, so that Slurm passes them to each srun inside the job.
 *   slurmd       runs wattle-clock-repair as the job's user when a job has ended on a node. Slurm kills the guard of
 *                the clocks together with the job (src/guard).
 *
 * A failure of the plugin is a message, and the step runs without a profile. Only a wrong option stops it.
 *
 * Without --wattle, srun and slurmstepd only register the options. The library is never unloaded, because the handler
 * of srun's exit is in it. It links no library of Wattle, so a version of Slurm is all that it must match.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <slurm/spank.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sigpipe.h"
#include "os/locale.h"

SPANK_PLUGIN(wattle, 1)

#define DIRECTORY "SLURM_WATTLE_DIR"
#define OF_WATTLE_RUN "OSHRUN_LEAVES_PROFILES" /* set by `wattle run`, which collects the profiles of its job */
enum {
  FAILED = -1,
  PATH_SIZE = PATH_MAX + 64,
  MOST_SETTINGS = 64,
  MOST_FAILED = 1024,
  TOOL_S = 20,

  NOT_OF_A_STEP = 0x7fffffff
};

extern char **environ;

/* The arguments of plugstack.conf. The texts are those of Slurm, which it keeps. */
static struct config {
  const char *command;               /* NULL: bin/wattle of this installation */
  const char *folder;                /* for the directories of steps */
  char *settings[MOST_SETTINGS + 1]; /* NAME=VALUE; ends with NULL */
  size_t n_settings;
  bool repair;
} config = {.folder = "wattle-runs", .repair = true};

/* The options of the command line. */
static struct chosen {
  bool on, mpi;
  char folder[PATH_SIZE + 16]; /* "": the one of the configuration */
} chosen;

/* The step of this srun. */
static struct step {
  char directory[PATH_SIZE]; /* "": none */
  pid_t srun;
  struct timespec began;
} step;

/* ---- options ---- */

static int take_wattle(int val, const char *argument, int remote)
{
  (void)val, (void)remote;
  bool plain = !argument || !*argument || strcmp(argument, "(null)") == 0 || strcmp(argument, "shmem") == 0;
  chosen.on = true;
  chosen.mpi = !plain && strcmp(argument, "mpi") == 0;
  if (plain || chosen.mpi) return ESPANK_SUCCESS;
  slurm_error("--wattle=%s: expected --wattle, --wattle=shmem or --wattle=mpi", argument);
  return FAILED;
}

static int take_folder(int val, const char *argument, int remote)
{
  (void)val, (void)remote;
  if (argument && *argument && strlen(argument) < PATH_MAX) {
    snprintf(chosen.folder, sizeof chosen.folder, "%s", argument);
    return ESPANK_SUCCESS;
  }
  slurm_error("--wattle-dir=%.100s: expected a folder", argument ? argument : "");
  return FAILED;
}

static struct spank_option options[] = {
    {"wattle", "KIND", "show where time and joules of the step go; KIND: mpi for an MPI program, else shmem", 2, 0,
     take_wattle},
    {"wattle-dir", "FOLDER", "folder for the profiles of --wattle, shared by all nodes (default: wattle-runs)", 1, 1,
     take_folder},
};

/* ---- configuration ---- */

static void take_argument(char *word)
{
  if (strncmp(word, "command=", 8) == 0 && word[8])
    config.command = word + 8;
  else if (strncmp(word, "dir=", 4) == 0 && word[4])
    config.folder = word + 4;
  else if (strcmp(word, "repair=off") == 0 || strcmp(word, "repair=on") == 0)
    config.repair = word[8] == 'n';
  else if (strncmp(word, "WATTLE_", 7) == 0 && strchr(word, '=') && config.n_settings < MOST_SETTINGS)
    config.settings[config.n_settings++] = word;
  else
    slurm_error("wattle_spank.so: %s in plugstack.conf: expected command=PATH, dir=FOLDER, repair=off or "
                "WATTLE_NAME=VALUE",
                word);
}

static void configure(int argc, char **argv)
{
  config.n_settings = 0;
  memset(config.settings, 0, sizeof config.settings);
  for (int i = 0; i < argc; i++) take_argument(argv[i]);
}

/* Slurm calls this in each process that loads the plugin, except in that of an epilogue. */
int slurm_spank_init(spank_t sp, int argc, char **argv)
{
  spank_context_t here = spank_context();
  configure(argc, argv);
  if (here != S_CTX_LOCAL && here != S_CTX_REMOTE && here != S_CTX_ALLOCATOR) return ESPANK_SUCCESS;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (spank_option_register(sp, &options[i]) != ESPANK_SUCCESS)
      slurm_error("wattle_spank.so: Slurm does not take the option --%s", options[i].name);
  return ESPANK_SUCCESS;
}

/* Writes PREFIX/name into `path`, where this library is PREFIX/lib/wattle_spank.so. Returns whether it is there. */
static bool in_home(const char *name, char path[PATH_SIZE])
{
  Dl_info here;
  char real[PATH_MAX];
  *path = '\0';
  if (!dladdr(&config, &here) || !realpath(here.dli_fname, real)) return false;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(real, '/');
    if (slash) *slash = '\0';
  }
  snprintf(path, PATH_SIZE, "%s/%s", real, name);
  return access(path, R_OK) == 0;
}

/* ---- srun ---- */

/* Returns this environment with the variables of `more` (ends with NULL) in place of its own ones. NULL: no memory. */
static char **environment_with(char *const *more)
{
  size_t n = 0, added = 0;
  while (environ[n]) n++;
  while (more[added]) added++;
  char **all = calloc(n + added + 1, sizeof *all);
  if (!all) return NULL;
  memcpy(all, more, added * sizeof *all);
  for (size_t i = 0, at = added; i < n; i++) {
    bool replaced = false;
    for (size_t k = 0; k < added; k++) replaced |= strncmp(environ[i], more[k], strcspn(more[k], "=") + 1) == 0;
    if (!replaced) all[at++] = environ[i];
  }
  return all;
}

/*
 * Runs `wattle` with these words and waits. Its standard input is empty, and `more` (ends with NULL) is added to the
 * environment. Returns its exit code, or -1 with a message if it does not run.
 */
static int run_wattle(char *const *words, char *const *more)
{
  char path[PATH_SIZE], **all = environment_with(more);
  int error, status;
  pid_t pid;
  posix_spawn_file_actions_t files;
  if (!all) return -1;
  if (config.command)
    snprintf(path, sizeof path, "%s", config.command);
  else
    in_home("bin/wattle", path);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  error = posix_spawn(&pid, path, &files, NULL, words, all);
  posix_spawn_file_actions_destroy(&files);
  free(all);
  if (error) {
    slurm_error("--wattle: %s: %s; command=PATH in plugstack.conf names the command wattle", path, strerror(error));
    return -1;
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Completes the manifest when srun exits, and shows the tables. */
static void collect(int status, void *arg)
{
  WTL_LOCALE_APART;
  struct timespec now;
  char code[16], wall[32], line[PATH_SIZE + 100];
  (void)arg;
  if (getpid() != step.srun || !*step.directory) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  snprintf(code, sizeof code, "%d", status & 255);
  snprintf(wall, sizeof wall, "%.3f",
           (double)(now.tv_sec - step.began.tv_sec) + 1e-9 * (double)(now.tv_nsec - step.began.tv_nsec));
  char *words[] = {"wattle", "collect", "--exit-code", code, "--wall", wall, step.directory, NULL};
  if (run_wattle(words, (char *[]){NULL}) == 0) return;
  int n = snprintf(line, sizeof line, "srun: --wattle: the profiles are in %s; `wattle collect` reads them\n",
                   step.directory);
  (void)!wtl_write(STDERR_FILENO, line, (size_t)n);
}

/* Writes the absolute path of the folder for the directories of steps. */
static bool name_folder(char path[PATH_SIZE])
{
  const char *folder = *chosen.folder ? chosen.folder : config.folder;
  char here[PATH_MAX] = "";
  if (*folder != '/' && !getcwd(here, sizeof here)) {
    slurm_error("--wattle: there is no current folder: %s; give an absolute one by --wattle-dir", strerror(errno));
    return false;
  }
  int n = snprintf(path, PATH_SIZE, "%s%s%s", here, *here ? "/" : "", folder);
  if (n > 0 && n < PATH_MAX) return true;
  slurm_error("--wattle-dir=%.100s...: the path is too long", folder);
  return false;
}

/* Writes the path of the directory of a try of a step, from 1. A step of a requeued job has the number of its first
 * try. Returns whether it is there. */
static bool name_try(char path[PATH_SIZE], const char *folder, const char *job, const char *number, unsigned try)
{
  char again[16] = "";
  if (try > 1) snprintf(again, sizeof again, "-%u", try);
  int n = snprintf(path, PATH_SIZE, "%s/slurm-%s.%s%s", folder, job, number, again);
  return n > 0 && n < PATH_SIZE && access(path, F_OK) == 0;
}

/* Returns the number of tries of a step that have a directory. `path`: of the next one. */
static unsigned tries(char path[PATH_SIZE], const char *folder, const char *job, const char *number)
{
  unsigned n = 0;
  while (name_try(path, folder, job, number, n + 1)) n++;
  return n;
}

/* Makes the directory of the step with its manifest. */
static bool begin(spank_t sp, uint32_t job, uint32_t number)
{
  char job_text[40], step_text[40], n_text[16], **argv = NULL;
  int argc = 0;
  uint32_t n_tasks = 1; /* the profiles say later how many PEs there are */
  spank_get_item(sp, S_JOB_ARGV, &argc, &argv);
  spank_get_item(sp, S_JOB_TOTAL_TASK_COUNT, &n_tasks);
  snprintf(n_text, sizeof n_text, "%u", n_tasks);
  snprintf(job_text, sizeof job_text, "SLURM_JOB_ID=%u", job);
  snprintf(step_text, sizeof step_text, "SLURM_STEP_ID=%u", number);
  tries(step.directory, getenv(DIRECTORY), strchr(job_text, '=') + 1, strchr(step_text, '=') + 1);
  char *first[] = {"wattle", "collect", "--begin", "-n", n_text, step.directory, chosen.mpi ? "--mpi" : "--", NULL};
  size_t n = sizeof first / sizeof *first - 1;
  char **words = calloc(n + (size_t)argc + 2, sizeof *words);
  if (!words) return false;
  memcpy(words, first, n * sizeof *words);
  if (chosen.mpi) words[n++] = "--";
  memcpy(words + n, argv, (size_t)argc * sizeof *words);
  int code = run_wattle(words, (char *[]){job_text, step_text, NULL});
  free(words);
  return code == 0;
}

/* In srun, when the options are known. Slurm copies the environment for the parts of a heterogeneous step before the
 * step has a number, so the nodes find the directory of the step in the folder (`find_directory`). The steps by which a
 * launcher under `wattle run` starts its daemons have none, because that command has one. */
int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
  char folder[PATH_SIZE];
  (void)sp, (void)argc, (void)argv;
  if (!chosen.on || spank_context() != S_CTX_LOCAL) return ESPANK_SUCCESS;
  unsetenv(DIRECTORY); /* that of a step around this one */
  if (!getenv(OF_WATTLE_RUN) && name_folder(folder)) setenv(DIRECTORY, folder, 1);
  return ESPANK_SUCCESS;
}

/* In srun, when the step has a number and before it starts. A heterogeneous step has one directory. Slurm calls this
 * for any part of it, and the nodes know the job of the first one. */
int slurm_spank_local_user_init(spank_t sp, int argc, char **argv)
{
  uint32_t job = 0, number = 0;
  const char *first = getenv("SLURM_HET_SIZE") ? getenv("SLURM_JOB_ID") : NULL;
  (void)argc, (void)argv;
  if (!chosen.on || *step.directory || !getenv(DIRECTORY)) return ESPANK_SUCCESS;
  spank_get_item(sp, S_JOB_ID, &job);
  if (first) job = (uint32_t)strtoul(first, NULL, 10);
  if (spank_get_item(sp, S_JOB_STEPID, &number) == ESPANK_SUCCESS && number <= NOT_OF_A_STEP &&
      begin(sp, job, number)) {
    clock_gettime(CLOCK_MONOTONIC, &step.began);
    step.srun = getpid();
    on_exit(collect, NULL);
    return ESPANK_SUCCESS;
  }
  slurm_error("--wattle: no profile of step %u.%u: there is no directory for it; --wattle-dir names another folder",
              job, number);
  *step.directory = '\0';
  unsetenv(DIRECTORY);
  return ESPANK_SUCCESS;
}

/* ---- programs with the user's rights ---- */

struct job {
  uint32_t number;
  const struct passwd *user;
};

/* Becomes the user of a job, with that user's groups, and executes the program. Does not return. */
static void execute_as(const struct passwd *user, char *const *words, char *const *all, int out)
{
  if (geteuid() == 0 &&
      (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 || chdir("/") != 0) _exit(126);
  alarm(TOOL_S);
  execve(words[0], words, all);
  _exit(127);
}

/* Runs a program (words[0]) as the user of a job. Puts its messages into Slurm's log, if `say`. `settings` ends with
 * NULL. Returns whether it went well. */
static bool run_as(struct job of, char *const *words, char *const *settings, bool say)
{
  int ends[2], status = 0;
  size_t n = 0;
  char line[4096], home[PATH_SIZE], *all[MOST_SETTINGS + 3] = {"PATH=/usr/bin:/bin", home};
  snprintf(home, sizeof home, "HOME=%s", of.user->pw_dir);
  for (; settings[n] && n < MOST_SETTINGS; n++) all[2 + n] = settings[n];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pid_t pid = fork();
  if (pid == 0) execute_as(of.user, words, all, ends[1]);
  close(ends[1]);
  FILE *said = fdopen(ends[0], "r");
  while (pid > 0 && said && fgets(line, sizeof line, said)) {
    line[strcspn(line, "\n")] = '\0';
    if (say) slurm_info("wattle: job %u of %s: %s", of.number, of.user->pw_name, line);
  }
  if (said) fclose(said);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- the nodes ---- */

/* The profiled step of this slurmstepd. */
static struct tasks {
  char folder[PATH_SIZE + 16];       /* of the profiles; "": none */
  char *settings[MOST_SETTINGS + 1]; /* of the tasks, for the joules of those that were killed */
  char *failed[MOST_FAILED + 1];     /* as wattle-profiles reads them */
  size_t n_failed, n_ended;
} tasks;

static bool preload(spank_t sp)
{
  char library[PATH_SIZE], others[8192] = "", value[sizeof library + sizeof others];
  if (!in_home("lib/libwattle-mpi.so", library)) {
    slurm_error("--wattle=mpi: %s is missing on this node", library);
    return false;
  }
  if (strpbrk(library, " :")) {
    slurm_error("--wattle=mpi: %s: the loader takes no path with a space or a colon for preloading", library);
    return false;
  }
  spank_getenv(sp, "LD_PRELOAD", others, sizeof others);
  snprintf(value, sizeof value, "%s%s%s", library, *others ? ":" : "", others);
  return spank_setenv(sp, "LD_PRELOAD", value, 1) == ESPANK_SUCCESS;
}

/* Sets the defaults of the site; the user's own values have precedence. Keeps those by which joules are modelled. */
static void set_defaults(spank_t sp)
{
  static const char *const of_joules[] = {"WATTLE_METER", "WATTLE_MACHINE"};
  char value[4096];
  for (size_t i = 0; i < config.n_settings; i++) {
    const char *text = strchr(config.settings[i], '=');
    char *name = strndup(config.settings[i], (size_t)(text - config.settings[i]));
    if (name) spank_setenv(sp, name, text + 1, 0);
    free(name);
  }
  for (size_t i = 0, n = 0; i < sizeof of_joules / sizeof *of_joules; i++)
    if (spank_getenv(sp, of_joules[i], value, sizeof value) == ESPANK_SUCCESS &&
        asprintf(&tasks.settings[n], "%s=%s", of_joules[i], value) > 0)
      n++;
}

/* Writes the path of the directory that srun made for this try of the step. */
static bool find_directory(spank_t sp, char directory[PATH_SIZE])
{
  char folder[PATH_SIZE], job[16], number[16];
  if (spank_getenv(sp, DIRECTORY, folder, sizeof folder) != ESPANK_SUCCESS ||
      spank_getenv(sp, "SLURM_JOB_ID", job, sizeof job) != ESPANK_SUCCESS ||
      spank_getenv(sp, "SLURM_STEP_ID", number, sizeof number) != ESPANK_SUCCESS)
    return false;
  name_try(directory, folder, job, number, tries(directory, folder, job, number));
  return true;
}

/* On each node, with the user's rights, before the tasks start. A batch script has no directory. */
int slurm_spank_user_init(spank_t sp, int argc, char **argv)
{
  char directory[PATH_SIZE], folder[PATH_SIZE + 16];
  (void)argc, (void)argv;
  if (!chosen.on || !find_directory(sp, directory)) return ESPANK_SUCCESS;
  snprintf(folder, sizeof folder, "%s/profile", directory);
  if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
    slurm_error("--wattle: %s: %s on this node; name a folder that all nodes share by --wattle-dir", folder,
                strerror(errno));
    return ESPANK_SUCCESS;
  }
  if (chosen.mpi && !preload(sp)) return ESPANK_SUCCESS;
  set_defaults(sp);
  spank_setenv(sp, "WATTLE_PROFILE", "on", 1);
  spank_setenv(sp, "WATTLE_PROFILE_DIR", folder, 1);
  snprintf(tasks.folder, sizeof tasks.folder, "%s", folder);
  return ESPANK_SUCCESS;
}

/* Writes the profiles of tasks of this node that could not do so. */
static void collect_here(spank_t sp)
{
  char path[PATH_SIZE], text[4096], *words[MOST_FAILED + 5] = {path, "collect", tasks.folder, "now"};
  struct passwd entry, *user = NULL;
  uid_t uid;
  uint32_t job = 0;
  memcpy(words + 4, tasks.failed, sizeof tasks.failed);
  spank_get_item(sp, S_JOB_ID, &job);
  if (!in_home("bin/wattle-profiles", path) || spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS ||
      getpwuid_r(uid, &entry, text, sizeof text, &user) != 0 || !user)
    return;
  if (!run_as((struct job){job, user}, words, tasks.settings, false))
    slurm_error("--wattle: profiles of killed tasks are missing: %s failed", path);
}

/* In slurmstepd, when a task has ended, and before srun knows it. */
int slurm_spank_task_exit(spank_t sp, int argc, char **argv)
{
  int status = 0;
  pid_t pid = 0;
  uint32_t n = 0;
  struct timespec now;
  (void)argc, (void)argv;
  if (!*tasks.folder) return ESPANK_SUCCESS;
  spank_get_item(sp, S_TASK_EXIT_STATUS, &status);
  spank_get_item(sp, S_TASK_PID, &pid);
  spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &n);
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (status != 0 && tasks.n_failed < MOST_FAILED &&
      asprintf(&tasks.failed[tasks.n_failed], "%d=%d:%d:%lld%09ld", pid, WIFSIGNALED(status) ? WTERMSIG(status) : -1,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1, (long long)now.tv_sec, now.tv_nsec) > 0)
    tasks.n_failed++;
  if (++tasks.n_ended == n && tasks.n_failed > 0) collect_here(sp);
  return ESPANK_SUCCESS;
}

/* ---- the epilogue ---- */

/*
 * When a job has ended on a node. A failure is logged and the node stays in use: Slurm would drain it for an error
 * here.
 */
int slurm_spank_job_epilog(spank_t sp, int argc, char **argv)
{
  uid_t uid;
  uint32_t job = 0;
  char path[PATH_SIZE], text[4096];
  struct passwd entry, *user = NULL;
  configure(argc, argv);
  if (!config.repair || spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS) return ESPANK_SUCCESS;
  spank_get_item(sp, S_JOB_ID, &job);
  if (!in_home("bin/wattle-clock-repair", path))
    slurm_error("wattle: %s is missing, so clocks of killed jobs are not restored; repair=off leaves this out", path);
  else if (getpwuid_r(uid, &entry, text, sizeof text, &user) != 0 || !user)
    slurm_error("wattle: job %u: user %u is unknown on this node, so no clocks are restored", job, (unsigned)uid);
  else if (!run_as((struct job){job, user}, (char *[]){path, NULL}, config.settings, true))
    slurm_error("wattle: job %u of %s: clocks or power limits may have stayed changed (%s)", job, user->pw_name, path);
  return ESPANK_SUCCESS;
}
