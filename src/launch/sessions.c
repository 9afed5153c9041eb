/* sessions.c - makes a private folder for the session of Open MPI's launcher, and removes what a job leaves. */
#include "launch/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/leftovers.h"

/*
 * The variables of Open MPI 4 and of Open MPI 5's PRRTE. Both refuse the value for this host together with that for all
 * hosts.
 */
static const struct {
  const char *here, *everywhere;
} variables[] = {{"OMPI_MCA_orte_local_tmpdir_base", "OMPI_MCA_orte_tmpdir_base"},
                 {"PRTE_MCA_prte_local_tmpdir_base", "PRTE_MCA_prte_tmpdir_base"}};
enum { N_VARIABLES = sizeof variables / sizeof variables[0] };

static char folder[4096]; /* "": none */
static pid_t keeper;
static int held = -1; /* our end of the pipe to the keeper */

static bool is_set(const char *variable)
{
  const char *value = getenv(variable);
  return value && *value;
}

/*
 * Does the user name a folder? True also if it cannot be hidden from the programs (wtl_sessions_hide), because Open MPI
 * refuses -x together with its list of variables.
 */
static bool is_named_by_user(const wtl_command *c)
{
  for (int i = 0; i < N_VARIABLES; i++)
    if (is_set(variables[i].here) || is_set(variables[i].everywhere)) return true;
  if (is_set("OMPI_MCA_mca_base_env_list")) return true;
  for (size_t i = 0; i < c->options.n; i++)
    if (strstr(c->options.at[i], "tmpdir_base") || strcmp(c->options.at[i], "mca_base_env_list") == 0)
      return true; /* such as --mca orte_tmpdir_base DIR */
  return wtl_command_has(c, "-tmpdir --tmpdir");
}

/* Returns the folder that Open MPI would use. */
static const char *temporary_directory(void)
{
  static const char *const names[] = {"TMPDIR", "TEMP", "TMP"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (getenv(names[i])) return getenv(names[i]);
  return "/tmp";
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

/* Tries several times, because a process of the job that is ending may still add a file. */
static void remove_folder(void)
{
  for (int tries = 0; tries < 50 && access(folder, F_OK) == 0; tries++) {
    if (tries > 0) usleep(20000);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  }
}

/*
 * The keeper: waits until the other ends of its pipe are closed, removes the folder, and collects what processes left.
 * It ignores signals to the process group such as Ctrl-C, which oshrun handles.
 */
__attribute__((noreturn)) static void keep(int ended)
{
  sigset_t all;
  char none;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  setsid();
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; fd++) dup2(nothing, fd);
  dup2(ended, STDERR_FILENO + 1);
  syscall(SYS_close_range, STDERR_FILENO + 2, ~0u, 0); /* inherited: another process may wait for their end */
  while (read(STDERR_FILENO + 1, &none, 1) < 0 && errno == EINTR) continue;
  if (*folder) remove_folder();
  for (int tries = 0; tries < 20; tries++) { /* other processes of the job may still be ending */
    wtl_leftovers_collect();
    usleep(100000);
  }
  _exit(0);
}

/* `flags`: O_CLOEXEC if only oshrun holds the pipe. */
static void start_keeper(int flags)
{
  int ends[2];
  if (pipe2(ends, flags) != 0) return;
  keeper = fork();
  if (keeper == 0) {
    close(ends[1]);
    keep(ends[0]);
  }
  close(ends[0]);
  held = ends[1];
}

void wtl_sessions_make(const wtl_command *c)
{
  if (!is_named_by_user(c)) {
    snprintf(folder, sizeof folder, "%s/wattle-XXXXXX", temporary_directory());
    if (!mkdtemp(folder)) folder[0] = '\0';
  }
  start_keeper(0);
  for (int i = 0; *folder && i < N_VARIABLES; i++) setenv(variables[i].here, folder, 1);
}

void wtl_sessions_keep(const wtl_command *c)
{
  (void)c;
  start_keeper(O_CLOEXEC); /* MPICH's launcher would pass it on to the programs */
}

void wtl_sessions_hide(wtl_words *line, const wtl_command *c)
{
  if (c->action != WTL_DO_RUN || is_named_by_user(c)) return;
  wtl_arguments_add(line, "-x");
  wtl_arguments_format(line, "%s=", variables[0].here);
}

void wtl_sessions_remove(void)
{
  if (*folder) remove_folder();
  if (held >= 0) close(held);
  if (keeper > 0) kill(keeper, SIGKILL); /* another process may still hold the keeper's pipe */
  while (keeper > 0 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
}
