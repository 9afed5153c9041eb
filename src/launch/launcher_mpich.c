/* launcher_mpich.c - MPICH's mpiexec, also called Hydra. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launcher.h"
#include "launch/program_search.h"
#include "launch/sessions.h"

static bool suits(void)
{
  return true;
}

static bool find(char *path, size_t size)
{
  if (wtl_program_in_path("mpiexec.hydra", path, size) || wtl_program_in_path("mpiexec.mpich", path, size)) return true;
  return wtl_program_in_path("mpiexec", path, size) && wtl_program_prints(path, "--version", "HYDRA");
}

/* Inside Slurm it starts its daemons with srun. These must not look like PEs that srun's PMIx serves. */
static void environment(wtl_words *variables)
{
  if (getenv("SLURM_JOB_ID")) wtl_launcher_variable(variables, "SLURM_MPI_TYPE", "none");
}

/* Does the user set this variable on the command line? */
static bool is_given(const wtl_command *c, const char *name, size_t length)
{
  for (size_t i = 0; i + 2 < c->options.n; i++)
    if (wtl_program_in_list("-genv --genv -env --env", c->options.at[i]) && strlen(c->options.at[i + 1]) == length &&
        strncmp(c->options.at[i + 1], name, length) == 0)
      return true;
  return false;
}

/* Exports all variables to all nodes. If the user names the variables to export, the settings are added to these. */
static void export_settings(wtl_words *line, const wtl_command *c)
{
  if (!wtl_command_has(c, "-genvnone --genvnone -genvlist --genvlist -envnone --envnone -envlist --envlist")) {
    wtl_arguments_add(line, "-genvall");
    return;
  }
  for (char **e = environ; e && *e; e++) {
    size_t length = strcspn(*e, "=");
    if (!wtl_launcher_is_setting(*e) || is_given(c, *e, length)) continue;
    wtl_arguments_add(line, "-genv");
    wtl_arguments_format(line, "%.*s", (int)length, *e);
    wtl_arguments_add(line, (*e)[length] ? *e + length + 1 : "");
  }
}

static bool compose(wtl_words *line, const wtl_command *c, char *error, size_t size)
{
  wtl_hosts h;
  int hosts = wtl_launcher_hosts(&h, c, error, size);
  if (hosts > 0 && c->hostfile && !h.slot_words) { /* a file that Hydra can read */
    wtl_arguments_add(line, "-f");
    wtl_arguments_add(line, c->hostfile);
  } else if (hosts > 0) {
    char *text = wtl_hosts_text(&h);
    wtl_arguments_add(line, "-hosts");
    wtl_arguments_add(line, text ? text : "");
    free(text);
  }
  wtl_hosts_free(&h);
  export_settings(line, c);
  wtl_arguments_add(line, "-n");
  wtl_arguments_format(line, "%ld", c->n ? c->n : 1);
  return hosts >= 0;
}

/*
 * Its own exit code for a PE that a signal ended is the signal's number. A program may use this code itself. So the
 * code is taken from the line that it prints, too.
 */
static int reported_code(const char *line)
{
  const char *at = strstr(line, "TERMINATED WITH THE EXIT STRING: ");
  int number;
  if (!at || !(at = strrchr(at, '(')) || sscanf(at, "(signal %d)", &number) != 1) return -1;
  return number > 0 && number < 128 ? 128 + number : -1; /* a program may print such a line, too */
}

/* Its own exit code for an interrupted job can be any, even 0. */
static int exit_code(int own, int reported, int signal)
{
  if (signal) return 128 + signal;
  return reported >= 0 && (own == reported || own == reported - 128) ? reported : own;
}

const wtl_launcher wtl_launcher_mpich = {
    .name = "mpich",
    .wanted = "MPICH's (mpiexec.hydra, mpiexec.mpich or mpiexec)",
    .package = "mpich",
    .grammar =
        {.counts = "-n --n -np --np",
         .values =
             "-genvlist --genvlist -envlist --envlist -f --f -hosts --hosts -wdir --wdir -configfile --configfile "
             "-launcher "
             "-launcher-exec --launcher-exec -rmk --rmk -topolib --topolib -bind-to --bind-to -map-by --map-by "
             "-membind "
             "--membind -demux --demux -iface --iface -ppn --ppn -outfile-pattern --outfile-pattern -errfile-pattern "
             "--errfile-pattern -prepend-pattern --prepend-pattern -nameserver --nameserver -order-nodes --order-nodes "
             "-localhost --localhost -usize --usize -gpus-per-proc --gpus-per-proc -path --path -arch --arch",
         .pairs = "-genv --genv -env --env",
         .files = "-f --f -configfile --configfile",
         .file_lists = "",
         .file_variables = "HYDRA_HOST_FILE HYDRA_CONFIG_FILE",
         .file_list_variables = "",
         .parameter_prefixes = ""},
    .starts_here = true,
    .file_bytes = 8 << 20, /* shared memory that MPICH's UCX makes for each PE */
    .moving = "-wdir --wdir -path --path -hosts --hosts -f --f",
    .suits = suits,
    .find = find,
    .environment = environment,
    .compose = compose,
    .report_stream = STDOUT_FILENO,
    .reported_code = reported_code,
    .exit_code = exit_code,
    .prepare = wtl_sessions_keep,
    .remove_remains = wtl_sessions_remove,
};
