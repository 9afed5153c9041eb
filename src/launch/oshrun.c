/*
 * oshrun.c - the program oshrun: starts an OpenSHMEM program with an installed launcher.
 *
 * It checks the settings before any process starts. It translates the command line for the launcher (launcher.h),
 * forwards signals and the exit code, and ends the launcher when it ends itself (run.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/settings.h"
#include "launch/firewall.h"
#include "launch/launcher.h"
#include "launch/leftovers.h"
#include "launch/limits.h"
#include "launch/program_search.h"
#include "launch/run.h"
#include "launch/runtime_path.h"
#include "power/power.h"

static const char usage[] =
    "Usage: oshrun [-n N] [OPTION]... [LAUNCHER OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Starts PROGRAM as N processing elements (PEs) of an OpenSHMEM job.\n"
    "\n"
    "  -n N, -np N      number of PEs (default: 1; under Slurm, the allocation's tasks); also -nN, -n=N, --np=N\n"
    "  --host LIST      hosts: a,b or, with the number of PEs on each, a:4,b:2\n"
    "  --hostfile FILE  file with one host on each line: a, a:4 or a slots=4\n"
    "  --launcher NAME  openmpi (mpirun), mpich (mpiexec), srun, or auto: srun with PMIx inside a Slurm allocation,\n"
    "                   otherwise Open MPI's, otherwise MPICH's (default: the value of WATTLE_LAUNCHER, or auto)\n"
    "  --power-budget W watts of the whole job: 400W, 300W/node, or 70% of what its PEs may draw\n"
    "  --dry-run        print the launcher's command line and start nothing\n"
    "  --fence-network  print rules for nft that protect the job's ports from other machines and users, for the hosts\n"
    "                   of --host or --hostfile and the ports of UCX_TCP_PORT_RANGE (libfabric:\n"
    "                   FI_TCP_PORT_LOW_RANGE, FI_TCP_PORT_HIGH_RANGE); start nothing\n"
    "  --settings       list the settings (environment variables) and their values\n"
    "  -V, --version    version of Wattle\n"
    "  --help           this text\n"
    "\n"
    "Other options before PROGRAM go to the launcher unchanged, with their values: --map-by X or -x NAME=VALUE to\n"
    "mpirun, -genv NAME VALUE to mpiexec, --cpus-per-task N to srun. Settings (WATTLE_*, SHMEM_*) are passed to all\n"
    "nodes. Exit code: that of the program; 128+signal if a signal ended the program or the job; 64 for wrong usage,\n"
    "69 without a launcher, 78 for a wrong setting.\n";

static void list_settings(void)
{
  wtl_settings s;
  char errors[4096], value[256];
  size_t count;
  const wtl_setting *row = wtl_settings_table(&count);
  if (wtl_settings_parse(&s, errors, sizeof errors) != 0) {
    fprintf(stderr, "%s", errors);
    exit(WTL_EXIT_CONFIG);
  }
  for (size_t i = 0; i < count; i++)
    printf("%s=%s\n    %s\n", row[i].name, wtl_settings_text(&s, i, value, sizeof value), row[i].help);
}

/* Returns the value of WATTLE_LAUNCHER; "auto" if the settings are wrong, which check_settings reports later. */
static const char *launcher_set(void)
{
  static const char *const names[] = {[WTL_LAUNCH_AUTO] = "auto",
                                      [WTL_LAUNCH_OPENMPI] = "openmpi",
                                      [WTL_LAUNCH_MPICH] = "mpich",
                                      [WTL_LAUNCH_SRUN] = "srun"};
  wtl_settings s;
  char errors[4096];
  return wtl_settings_parse(&s, errors, sizeof errors) == 0 ? names[s.launcher.number] : "auto";
}

static void check_settings(void)
{
  wtl_settings s;
  wtl_machine *machine;
  char errors[4096], *save = NULL;
  if (wtl_settings_parse(&s, errors, sizeof errors) == 0) {
    /* The sensor is not opened here: the job does this, and a Redfish controller may take seconds. */
    if (s.meter.number == WTL_METER_NONE) return;
    machine = wtl_machine_load(s.machine.text, s.sysfs.text, errors, sizeof errors);
    if (!machine && wtl_machine_may_be_missing(&s)) return;
    wtl_machine_free(machine);
    if (machine) return;
  }
  for (char *line = strtok_r(errors, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
    fprintf(stderr, "oshrun: %s\n", line);
  exit(WTL_EXIT_CONFIG);
}

static void check_program(const char *program)
{
  char path[4096];
  struct stat st;
  if (!*program) wtl_launcher_refuse("the program's name is empty");
  if (!strchr(program, '/') && wtl_program_in_path(program, path, sizeof path)) return;
  if (stat(program, &st) != 0)
    wtl_launcher_refuse(errno == ENOENT ? "%s: there is no such program" : "%s: cannot be reached", program);
  if (S_ISDIR(st.st_mode)) wtl_launcher_refuse("%s: is a directory, not a program", program);
  if (!wtl_program_is_executable(program)) wtl_launcher_refuse("%s: is not executable", program);
}

/* Returns the exit code. Standard output may have no reader, or its file system may be full. */
static int end_of_output(void)
{
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : WTL_EXIT_OSERR;
}

/* Runs an action that needs no launcher and ends the process. */
static void do_without_launcher(const wtl_command *c)
{
  switch (c->action) {
  case WTL_DO_HELP: fputs(usage, stdout); break;
  case WTL_DO_VERSION: puts("oshrun (Wattle) " WTL_VERSION); break;
  case WTL_DO_SETTINGS: list_settings(); break;
  case WTL_DO_FENCE: wtl_firewall_print(c); break;
  case WTL_DO_RUN:
  case WTL_DO_DRY_RUN: return;
  }
  exit(end_of_output());
}

static wtl_words command_line(const wtl_launcher *l, const char *path, const wtl_command *c)
{
  wtl_words line = {0};
  char error[512];
  wtl_arguments_add(&line, path);
  if (!l->compose(&line, c, error, sizeof error)) wtl_launcher_refuse("%s", error);
  if (l->begin_part) l->begin_part(&line, c);
  for (size_t i = 0; i < c->options.n; i++) wtl_arguments_add(&line, c->options.at[i]);
  for (char **word = c->program; *word; word++) {
    wtl_arguments_add(&line, *word);
    if (l->begin_part && strcmp(*word, ":") == 0) l->begin_part(&line, c);
  }
  return line;
}

/* Prints the command line in the form that a shell would run. */
static int print_line(const wtl_words *variables, const wtl_words *line)
{
  wtl_arguments_print(variables, stdout);
  if (variables->n > 0) putchar(' ');
  wtl_arguments_print(line, stdout);
  putchar('\n');
  return end_of_output();
}

static void set_variables(wtl_words *variables)
{
  for (size_t i = 0; i < variables->n; i++) {
    char *equals = strchr(variables->at[i], '=');
    *equals = '\0';
    setenv(variables->at[i], equals + 1, 1);
  }
}

int main(int argc, char **argv)
{
  wtl_command c;
  wtl_words variables = {0};
  char path[4096];
  wtl_run_reset();
  setenv("PATH", wtl_default_path, 0);
  const char *setting = launcher_set();
  const wtl_launcher *l = wtl_launcher_choose(&c, argv, setting, path, sizeof path);
  do_without_launcher(&c);
  if (c.power_budget) setenv("WATTLE_POWER_BUDGET", c.power_budget, 1);
  check_settings();
  wtl_inputs_check(l, &c);
  if (!c.hosts && !c.hostfile && !wtl_command_has(&c, l->moving)) check_program(c.program[0]);
  if (!*path) wtl_launcher_missing(&c, setting);
  if (l->environment) l->environment(&variables);
  wtl_runtime_path_set(&variables);
  wtl_words line = command_line(l, path, &c);
  int code;
  if (c.action == WTL_DO_DRY_RUN) {
    code = print_line(&variables, &line);
  } else {
    set_variables(&variables);
    wtl_limits_prepare(l, &c);
    code = wtl_run(l, &c, line.at);
    wtl_leftovers_collect();
  }
  wtl_arguments_free(&variables);
  wtl_arguments_free(&line);
  wtl_command_free(&c);
  return code;
}
