/*
 * wattle_spank.c - Slurm's plugin wattle_spank.so: `srun --wattle` profiles a step as `wattle run` does.
 *
 * plugstack.conf:  required PREFIX/lib/wattle_spank.so [command=PATH] [dir=FOLDER] [repair=off] [WATTLE_NAME=VALUE]...
 *
 * DESIGN. Slurm loads the plugin into four kinds of processes.
 *
 *   srun         registers the options. With --wattle it runs `wattle collect --begin` before the launch, which makes
 *                the directory FOLDER/slurm-JOB.STEP and its manifest. It puts the directory into the environment as
 *                SLURM_WATTLE_DIR; a name that begins with SLURM_ reaches the nodes with any --export. When srun exits,
 *                it runs `wattle collect`, which completes the manifest and prints the tables.
 *   slurmstepd   sets WATTLE_PROFILE_DIR for the tasks, and with --wattle=mpi it preloads libwattle-mpi.so.
 *   sbatch, salloc  register the options, so that Slurm passes them to each srun inside the job.
 *   slurmd       runs wattle-clock-repair as the job's user when a job has ended on a node. Slurm kills the guard of
 *                the clocks together with the job (src/guard).
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
enum { FAILED = -1, PATH_SIZE = PATH_MAX + 64, MOST_SETTINGS = 64, REPAIR_S = 20, NOT_OF_A_STEP = 0x7fffffff };

extern char **environ;

/* The arguments of plugstack.conf. The texts are those of Slurm, which it keeps. */
static struct config {
  const char *command;                 /* NULL: bin/wattle of this installation */
  const char *folder;                  /* for the directories of steps */
  const char *settings[MOST_SETTINGS]; /* NAME=VALUE */
  size_t n_settings;
  bool repair;
} config = {.folder = "wattle-runs", .repair = true};

/* The options of the command line. */
static struct chosen {
  bool on, mpi;
  char folder[PATH_SIZE]; /* "": the one of the configuration */
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

static int take_argument(const char *word)
{
  if (strncmp(word, "command=", 8) == 0 && word[8])
    config.command = word + 8;
  else if (strncmp(word, "dir=", 4) == 0 && word[4])
    config.folder = word + 4;
  else if (strcmp(word, "repair=off") == 0 || strcmp(word, "repair=on") == 0)
    config.repair = word[8] == 'n';
  else if (strncmp(word, "WATTLE_", 7) == 0 && strchr(word, '=') && config.n_settings < MOST_SETTINGS)
    config.settings[config.n_settings++] = word;
  else {
    slurm_error("wattle_spank.so: %s in plugstack.conf: expected command=PATH, dir=FOLDER, repair=off or "
                "WATTLE_NAME=VALUE",
                word);
    return FAILED;
  }
  return ESPANK_SUCCESS;
}

static int configure(int argc, char **argv)
{
  config.n_settings = 0;
  for (int i = 0; i < argc; i++)
    if (take_argument(argv[i]) != ESPANK_SUCCESS) return FAILED;
  return ESPANK_SUCCESS;
}

/* Slurm calls this in each process that loads the plugin, except in that of an epilogue. */
int slurm_spank_init(spank_t sp, int argc, char **argv)
{
  spank_context_t here = spank_context();
  if (configure(argc, argv) != ESPANK_SUCCESS) return FAILED;
  if (here != S_CTX_LOCAL && here != S_CTX_REMOTE && here != S_CTX_ALLOCATOR) return ESPANK_SUCCESS;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (spank_option_register(sp, &options[i]) != ESPANK_SUCCESS) return FAILED;
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

static int name_directory(uint32_t job, uint32_t number)
{
  const char *folder = *chosen.folder ? chosen.folder : config.folder;
  char here[PATH_MAX] = "";
  if (*folder != '/' && !getcwd(here, sizeof here)) {
    slurm_error("--wattle: there is no current folder: %s; give an absolute one by --wattle-dir", strerror(errno));
    return FAILED;
  }
  int n = snprintf(step.directory, sizeof step.directory, "%s%s%s/slurm-%u.%u", here, *here ? "/" : "", folder, job,
                   number);
  if (n > 0 && (size_t)n < sizeof step.directory) return ESPANK_SUCCESS;
  slurm_error("--wattle-dir=%.100s...: the path is too long", folder);
  return FAILED;
}

/* Makes the directory of the step with its manifest. */
static int begin(spank_t sp, uint32_t job, uint32_t number)
{
  char job_text[40], step_text[40], tasks[16], **argv = NULL;
  int argc = 0;
  uint32_t n_tasks = 1; /* the profiles say later how many PEs there are */
  spank_get_item(sp, S_JOB_ARGV, &argc, &argv);
  spank_get_item(sp, S_JOB_TOTAL_TASK_COUNT, &n_tasks);
  if (name_directory(job, number) != ESPANK_SUCCESS) return FAILED;
  snprintf(tasks, sizeof tasks, "%u", n_tasks);
  snprintf(job_text, sizeof job_text, "SLURM_JOB_ID=%u", job);
  snprintf(step_text, sizeof step_text, "SLURM_STEP_ID=%u", number);
  char *first[] = {"wattle", "collect", "--begin", "-n", tasks, step.directory, chosen.mpi ? "--mpi" : "--", NULL};
  size_t n = sizeof first / sizeof *first - 1;
  char **words = calloc(n + (size_t)argc + 2, sizeof *words);
  if (!words) return FAILED;
  memcpy(words, first, n * sizeof *words);
  if (chosen.mpi) words[n++] = "--";
  memcpy(words + n, argv, (size_t)argc * sizeof *words);
  int code = run_wattle(words, (char *[]){job_text, step_text, NULL});
  free(words);
  if (code == 0) return ESPANK_SUCCESS;
  slurm_error("--wattle: no profile of step %u.%u: there is no directory for it; --wattle-dir names another folder",
              job, number);
  *step.directory = '\0';
  return FAILED;
}

/* In srun, when the step has a number and before it starts. A heterogeneous step has one directory. */
int slurm_spank_local_user_init(spank_t sp, int argc, char **argv)
{
  uint32_t job = 0, number = 0;
  (void)argc, (void)argv;
  if (!chosen.on || *step.directory) return ESPANK_SUCCESS;
  unsetenv(DIRECTORY); /* that of a step around this one */
  if (spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS ||
      spank_get_item(sp, S_JOB_STEPID, &number) != ESPANK_SUCCESS || number > NOT_OF_A_STEP)
    return ESPANK_SUCCESS;
  if (begin(sp, job, number) != ESPANK_SUCCESS) return FAILED;
  setenv(DIRECTORY, step.directory, 1);
  clock_gettime(CLOCK_MONOTONIC, &step.began);
  step.srun = getpid();
  return on_exit(collect, NULL) == 0 ? ESPANK_SUCCESS : FAILED;
}

/* ---- the nodes ---- */

static int preload(spank_t sp)
{
  char library[PATH_SIZE], others[8192] = "", value[sizeof library + sizeof others];
  if (!in_home("lib/libwattle-mpi.so", library)) {
    slurm_error("--wattle=mpi: %s is missing on this node", library);
    return FAILED;
  }
  if (strpbrk(library, " :")) {
    slurm_error("--wattle=mpi: %s: the loader takes no path with a space or a colon for preloading", library);
    return FAILED;
  }
  spank_getenv(sp, "LD_PRELOAD", others, sizeof others);
  snprintf(value, sizeof value, "%s%s%s", library, *others ? ":" : "", others);
  return spank_setenv(sp, "LD_PRELOAD", value, 1) == ESPANK_SUCCESS ? ESPANK_SUCCESS : FAILED;
}

/* On each node, with the user's rights, before the tasks start. A batch script has no directory. */
int slurm_spank_user_init(spank_t sp, int argc, char **argv)
{
  char directory[PATH_SIZE], folder[PATH_SIZE + 16];
  (void)argc, (void)argv;
  if (!chosen.on || spank_getenv(sp, DIRECTORY, directory, sizeof directory) != ESPANK_SUCCESS) return ESPANK_SUCCESS;
  snprintf(folder, sizeof folder, "%s/profile", directory);
  if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
    slurm_error("--wattle: %s: %s on this node; name a folder that all nodes share by --wattle-dir", folder,
                strerror(errno));
    return FAILED;
  }
  for (size_t i = 0; i < config.n_settings; i++) {
    const char *value = strchr(config.settings[i], '=');
    char *name = strndup(config.settings[i], (size_t)(value - config.settings[i]));
    if (name) spank_setenv(sp, name, value + 1, 0); /* the user's own value has precedence */
    free(name);
  }
  spank_setenv(sp, "WATTLE_PROFILE", "on", 1);
  spank_setenv(sp, "WATTLE_PROFILE_DIR", folder, 1);
  return chosen.mpi ? preload(sp) : ESPANK_SUCCESS;
}

/* ---- the epilogue ---- */

/* Becomes the user, with that user's groups, and executes wattle-clock-repair. Does not return. */
static void repair_as(const struct passwd *user, const char *path, int out)
{
  char home[PATH_SIZE], *all[MOST_SETTINGS + 3] = {"PATH=/usr/bin:/bin", home};
  snprintf(home, sizeof home, "HOME=%s", user->pw_dir);
  for (size_t i = 0; i < config.n_settings; i++) all[2 + i] = (char *)config.settings[i];
  if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
    _exit(126);
  if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 || chdir("/") != 0) _exit(126);
  alarm(REPAIR_S);
  execve(path, (char *[]){"wattle-clock-repair", NULL}, all);
  _exit(127);
}

/* Runs the repair and puts its messages into Slurm's log. */
static void repair(uint32_t job, const struct passwd *user, const char *path)
{
  int ends[2], status = 0;
  char line[4096];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t pid = fork();
  if (pid == 0) repair_as(user, path, ends[1]);
  close(ends[1]);
  FILE *said = fdopen(ends[0], "r");
  while (pid > 0 && said && fgets(line, sizeof line, said)) {
    line[strcspn(line, "\n")] = '\0';
    slurm_info("wattle: job %u of %s: %s", job, user->pw_name, line);
  }
  if (said) fclose(said);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    slurm_error("wattle: job %u of %s: clocks or power limits may have stayed changed (%s)", job, user->pw_name, path);
}

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
  if (configure(argc, argv) != ESPANK_SUCCESS || !config.repair ||
      spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS)
    return ESPANK_SUCCESS;
  spank_get_item(sp, S_JOB_ID, &job);
  if (!in_home("bin/wattle-clock-repair", path))
    slurm_error("wattle: %s is missing, so clocks of killed jobs are not restored; repair=off leaves this out", path);
  else if (getpwuid_r(uid, &entry, text, sizeof text, &user) != 0 || !user)
    slurm_error("wattle: job %u: user %u is unknown on this node, so no clocks are restored", job, (unsigned)uid);
  else
    repair(job, user, path);
  return ESPANK_SUCCESS;
}
