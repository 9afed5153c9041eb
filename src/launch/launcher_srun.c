/* launcher_srun.c - Slurm's srun, if it offers PMIx. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launcher.h"
#include "launch/program_search.h"

static const char cpus_per_task_names[] = "-c --cpus-per-task";

/* Outside an allocation srun would queue for one. The user must ask for that. */
static bool suits(void)
{
  return getenv("SLURM_JOB_ID") != NULL;
}

static bool find(char *path, size_t size)
{
  return wtl_program_in_path("srun", path, size) && wtl_program_prints(path, "--mpi=list", "pmix");
}

static long number_of(const char *text, long otherwise)
{
  char *end;
  long n = text ? strtol(text, &end, 10) : 0;
  return text && end != text && n > 0 && n < INT_MAX ? n : otherwise;
}

static long variable(const char *name, long otherwise)
{
  return number_of(getenv(name), otherwise);
}

/*
 * Does this process belong to a step, such as a shell that `srun --pty` started? The highest numbers are Slurm's own
 * steps.
 */
static bool is_in_step(void)
{
  const char *step = getenv("SLURM_STEP_ID");
  return step && strtoul(step, NULL, 10) < 0xfffffff0;
}

/*
 * Returns the CPUs of the allocation, from "2(x3),1", and sets *smallest to those of its smallest node. Both are 0
 * without an allocation.
 */
static long cpus_allocated(long *smallest)
{
  long all = 0;
  const char *at = getenv("SLURM_JOB_CPUS_PER_NODE");
  *smallest = 0;
  while (at && *at) {
    long cpus = number_of(at, 0), times;
    const char *bracket = at + strspn(at, "0123456789");
    times = strncmp(bracket, "(x", 2) == 0 ? number_of(bracket + 2, 1) : 1;
    all += cpus * times;
    if (*smallest == 0 || cpus < *smallest) *smallest = cpus;
    at += strcspn(at, ",");
    at += *at == ',';
  }
  return all;
}

/* Lists each host once for each slot, and begins again from the first host if there are more PEs. */
static char *one_host_a_pe(const wtl_hosts *h, long n)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  for (long pe = 0; f && pe < n;)
    for (int i = 0; i < h->n && pe < n; i++)
      for (int k = 0; k < (h->at[i].slots ? h->at[i].slots : 1) && pe < n; k++)
        fprintf(f, "%s%s", pe++ ? "," : "", h->at[i].name);
  if (f) fclose(f);
  return text;
}

static char *host_names(const wtl_hosts *h, long most)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  for (int i = 0; f && i < h->n && (i < most || h->ranges); i++) fprintf(f, "%s%s", i ? "," : "", h->at[i].name);
  if (f) fclose(f);
  return text;
}

static void add_nodelist(wtl_words *line, char *names)
{
  wtl_arguments_format(line, "--nodelist=%s", names ? names : "");
  free(names);
}

static long at_most(long n, long most)
{
  return n < most ? n : most;
}

/* Places as many PEs on each host as it has slots. */
static bool add_slots(wtl_words *line, const wtl_hosts *h, long n, char *error, size_t size)
{
  if (h->ranges) {
    snprintf(error, size, "hosts with slots are named one by one for srun, not as NAME[FIRST-LAST]");
    return false;
  }
  wtl_arguments_add(line, "--distribution=arbitrary");
  add_nodelist(line, one_host_a_pe(h, n));
  return true;
}

static void add_names(wtl_words *line, const wtl_hosts *h, long n)
{
  if (!h->ranges) wtl_arguments_format(line, "--nodes=%ld", at_most(n, h->n));
  add_nodelist(line, host_names(h, n));
}

/* Returns the CPUs of the nodes that get PEs; 0 if the user gave slots. */
static long cpus_of(const wtl_hosts *h)
{
  long smallest, all = cpus_allocated(&smallest);
  if (h->slots) return 0;
  return h->n == 0 || h->ranges ? all : smallest * h->n;
}

static bool place(wtl_words *line, const wtl_command *c, const wtl_hosts *h, long n, char *error, size_t size)
{
  if (h->slots) return add_slots(line, h, n, error, size);
  if (h->n > 0)
    add_names(line, h, n);
  else if (n < variable("SLURM_JOB_NUM_NODES", 0) && !wtl_command_has(c, "-N --nodes")) /* srun would warn otherwise */
    wtl_arguments_format(line, "--nodes=%ld", n);
  return true;
}

static bool compose(wtl_words *line, const wtl_command *c, char *error, size_t size)
{
  wtl_hosts h;
  bool allocated = suits();
  long n = c->n ? c->n : allocated ? variable("SLURM_NTASKS", 1) : 1;
  long per_task = number_of(wtl_command_value(c, cpus_per_task_names), variable("SLURM_CPUS_PER_TASK", 1));
  if (!wtl_command_has(c, "--mpi")) wtl_arguments_add(line, "--mpi=pmix");
  wtl_arguments_format(line, "--ntasks=%ld", n);
  wtl_arguments_add(line, "--kill-on-bad-exit=1"); /* a PE that fails ends the job */
  wtl_arguments_add(line, "--quit-on-interrupt");  /* one Ctrl-C is enough */
  if (!wtl_command_has(c, "--export")) wtl_arguments_add(line, "--export=ALL");
  if (!wtl_command_has(c, "-i --input")) wtl_arguments_add(line, "--input=0"); /* only PE 0 reads standard input */
  if (is_in_step()) wtl_arguments_add(line, "--overlap"); /* that step holds the cores that ours needs */
  bool good = wtl_launcher_hosts(&h, c, error, size) >= 0 && place(line, c, &h, n, error, size);
  /* Since Slurm 22.05 srun does not take this value from the allocation, only from its options. */
  if (allocated && per_task > 1 && !wtl_command_has(c, cpus_per_task_names))
    wtl_arguments_format(line, "--cpus-per-task=%ld", per_task);
  if (allocated && n * per_task > cpus_of(&h)) wtl_arguments_add(line, "--overcommit");
  wtl_hosts_free(&h);
  return good;
}

/*
 * Finds the code in "srun: error: NODE: task 1: Exited with exit code 3" or "srun: error: NODE: tasks 0-1: Killed".
 * srun's own code is the highest of all PEs. This includes PEs that it killed because another one had failed.
 */
static int reported_code(const char *line)
{
  const char *at = strncmp(line, "srun: error: ", 13) == 0 ? strstr(line, ": task") : NULL;
  int code;
  if (!at || !(at = strstr(at + 2, ": "))) return -1;
  at += 2;
  if (sscanf(at, "Exited with exit code %d", &code) == 1) return code >= 0 && code < 256 ? code : -1;
  for (int number = 1; number < 32; number++) {
    const char *name = strsignal(number);
    if (strncmp(at, name, strlen(name)) == 0) return 128 + number;
  }
  return -1;
}

/* The codes 137 and 143 may be those of PEs that srun itself ended. */
static int exit_code(int own, int reported, int signal)
{
  if (own != 0 && signal) return 128 + signal;
  return reported >= 0 && (own == 128 + 9 || own == 128 + 15) ? reported : own;
}

const wtl_launcher wtl_launcher_srun = {
    .name = "srun",
    .wanted = "an srun that offers pmix (srun --mpi=list)",
    .package = "slurm-client",
    .grammar =
        {.counts = "-n -np --np --ntasks",
         .values =
             "-A -b -B -c -C -d -D -e -G -i -J -L -m -M -N -o -p -q -r -S -t -T -w -W -x --account --acctg-freq --bb "
             "--bbf "
             "--bcast-exclude --begin --chdir --cluster-constraint --clusters --comment --constraint --container "
             "--core-spec --cores-per-socket --cpu-bind --cpu-freq --cpus-per-gpu --cpus-per-task --deadline "
             "--delay-boot "
             "--dependency --distribution --epilog --error --exclude --export --extra-node-info --gpu-bind --gpu-freq "
             "--gpus --gpus-per-node --gpus-per-socket --gpus-per-task --gres --gres-flags --het-group --hint --input "
             "--job-name --jobid --licenses --mail-type --mail-user --mcs-label --mem --mem-bind --mem-per-cpu "
             "--mem-per-gpu --mincpus --mpi --network --nodelist --nodes --ntasks-per-core --ntasks-per-gpu "
             "--ntasks-per-node --ntasks-per-socket --output --partition --power --priority --profile --prolog --qos "
             "--relative --reservation --signal --slurmd-debug --sockets-per-node --switches --task-epilog "
             "--task-prolog "
             "--thread-spec --threads --threads-per-core --time --time-min --tmp --wait --wckey",
         .pairs = "",
         .files = "--bbf",
         .file_lists = "-w --nodelist -x --exclude",
         .file_variables = "SLURM_HOSTFILE",
         .file_list_variables = "",
         .parameter_prefixes = ""},
    .moving = "-D --chdir -w --nodelist --multi-prog --bcast",
    .suits = suits,
    .find = find,
    .compose = compose,
    .report_stream = STDERR_FILENO,
    .reported_code = reported_code,
    .exit_code = exit_code,
};
