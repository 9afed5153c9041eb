/*
 * oshrun - starts an OpenSHMEM program with the launcher there is.
 *
 * It checks the settings before any process starts, hands everything else to Open MPI's mpirun, passes signals and the
 * exit code through, and sees to it that neither of the two outlives the other or leaves anything in the temporary
 * directory.
 */
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/settings.h"
#include "node/remains.h"
#include "power/power.h"

static const char usage[] =
    "usage: oshrun [-n N] [LAUNCHER OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Starts PROGRAM as N processing elements (PEs) of an OpenSHMEM job.\n"
    "\n"
    "  -n N, -np N     number of PEs (default: 1); also -n=N, --np=N\n"
    "  --settings      list the settings (environment variables) and their values\n"
    "  --version       version of Wattle\n"
    "  --help          this text\n"
    "\n"
    "Other options before PROGRAM go to Open MPI's mpirun as they are, with their values: --host a,b, --hostfile F,\n"
    "--map-by X, --bind-to X, --mca NAME VALUE, -x NAME=VALUE ... Settings (WATTLE_*, SHMEM_*) are passed on to all\n"
    "nodes. Exit code: the program's; 128+signal if it, or the job, was ended by one; 64 for wrong usage, 78 for a\n"
    "wrong setting, 69 without a launcher.\n";

static volatile pid_t child;

/* --- the command line --- */

typedef struct plan {
  long n;
  char **options; /* for the launcher */
  int n_options;
  char **program;
  char *names; /* of the variables that are passed on, one after the other */
} plan;

static void refuse(const char *format, const char *value)
{
  fprintf(stderr, "oshrun: ");
  fprintf(stderr, format, value);
  fprintf(stderr, "\ntry: oshrun --help\n");
  exit(WTL_EXIT_USAGE);
}

static long parse_count(const char *text)
{
  char *end;
  long n;
  if (!*text) refuse("-n%s needs a number, 1 to 65536", text);
  errno = 0;
  n = strtol(text, &end, 10);
  if (errno || *end || end == text || n < 1 || n > 65536) refuse("-n %s: the number of PEs is 1 to 65536", text);
  return n;
}

/* Options that make the program's name one of another directory or machine. */
static bool moves_program(const plan *p)
{
  static const char *const moving[] = {"-wdir",      "--wdir",       "-wd",          "--wd",   "--path",
                                       "-path",      "-H",           "-host",        "--host", "-hostfile",
                                       "--hostfile", "-machinefile", "--machinefile"};
  for (int i = 0; i < p->n_options; i++)
    for (size_t k = 0; k < sizeof moving / sizeof moving[0]; k++) {
      size_t n = strlen(moving[k]);
      if (strncmp(p->options[i], moving[k], n) == 0 && (p->options[i][n] == '\0' || p->options[i][n] == '='))
        return true;
    }
  return false;
}

/* Is `word` one of the words of `list`, which are separated by single spaces? */
static bool in_list(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (const char *at = list; n && (at = strstr(at, word)) != NULL; at += n)
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
  return false;
}

/* mpirun's options that take their value as the next word, so that the value is not taken for the program. */
static bool takes_value(const char *option)
{
  return in_list("-H -host --host -hostfile --hostfile -machinefile --machinefile -x --bind-to -bind-to --map-by "
                 "-map-by --rank-by -rank-by -wdir --wdir -wd --wd -N -npernode --npernode --timeout --output-filename "
                 "--cpu-set --cpu-list -rf --rankfile --stdin --xterm --prefix --path -path -am --am --tune -tune "
                 "--app -app",
                 option);
}

/* "2" of "--np=2" or, where `next` is the following word, of "--np 2"; NULL where the option is another. */
static const char *count_given(const char *option, const char *next, bool *separate)
{
  size_t n = strcspn(option, "=");
  char name[8];
  if (n >= sizeof name) return NULL;
  snprintf(name, sizeof name, "%.*s", (int)n, option);
  if (!in_list("-n --n -np --np -c", name)) return NULL;
  *separate = option[n] == '\0';
  return *separate ? (next ? next : "") : option + n + 1;
}

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

static plan parse(int argc, char **argv)
{
  plan p = {.n = 1, .options = calloc((size_t)argc + 1, sizeof *p.options)};
  const char *count;
  bool separate;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    const char *a = argv[i];
    if (strcmp(a, "--") == 0) {
      i++;
      break;
    }
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (strcmp(a, "--version") == 0) {
      puts("oshrun (Wattle) " WTL_VERSION);
      exit(0);
    }
    if (strcmp(a, "--settings") == 0) {
      list_settings();
      exit(0);
    }
    if ((count = count_given(a, argv[i + 1], &separate)) != NULL) {
      p.n = parse_count(count);
      i += separate;
    } else if (in_list("--mca -mca --gmca -gmca", a)) {
      for (int k = 0; k < 3 && i < argc; k++) p.options[p.n_options++] = argv[k < 2 ? i++ : i];
    } else {
      p.options[p.n_options++] = argv[i];
      if (takes_value(a) && i + 1 < argc) p.options[p.n_options++] = argv[++i];
    }
  }
  if (i >= argc) refuse("no program given%s", "");
  p.program = argv + i;
  return p;
}

/* --- the launcher --- */

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

static bool is_file(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_program(const char *path)
{
  return is_file(path) && access(path, X_OK) == 0;
}

static bool in_path(const char *name, char *out, size_t size)
{
  char *path = strdup(getenv("PATH") ? getenv("PATH") : default_path), *save = NULL;
  bool found = false;
  for (char *dir = strtok_r(path, ":", &save); dir && !found; dir = strtok_r(NULL, ":", &save)) {
    snprintf(out, size, "%s/%s", dir, name);
    found = is_program(out);
  }
  free(path);
  return found;
}

/* MPICH's mpirun serves no PMIx: with it every process would be a job of its own. */
static bool is_open_mpi(const char *mpirun)
{
  char command[4200], line[256] = "";
  FILE *f;
  if (strchr(mpirun, '\'')) return false; /* no name for a shell */
  snprintf(command, sizeof command, "'%s' --version 2>/dev/null", mpirun);
  if (!(f = popen(command, "re"))) return false;
  bool read = fgets(line, sizeof line, f) != NULL;
  pclose(f);
  return read && (strstr(line, "Open MPI") || strstr(line, "OpenRTE") || strstr(line, "PRTE"));
}

static const char *find_launcher(void)
{
  static char path[4096];
  if (in_path("mpirun.openmpi", path, sizeof path)) return path; /* Debian's name for it, whatever `mpirun` is set to */
  if (in_path("prterun", path, sizeof path)) return path;
  if (in_path("mpirun", path, sizeof path) && is_open_mpi(path)) return path;
  fprintf(stderr, "oshrun: no launcher: neither mpirun.openmpi, prterun nor an mpirun of Open MPI is in PATH (Debian: "
                  "apt install openmpi-bin)\n");
  exit(WTL_EXIT_UNAVAILABLE);
}

static void check_program(const char *program)
{
  char path[4096];
  struct stat st;
  if (!*program) refuse("the program's name is empty%s", "");
  if (!strchr(program, '/') && in_path(program, path, sizeof path)) return;
  if (stat(program, &st) != 0)
    refuse(errno == ENOENT ? "%s: there is no such program" : "%s: cannot be reached", program);
  if (S_ISDIR(st.st_mode)) refuse("%s: is a directory, not a program", program);
  if (!is_program(program)) refuse("%s: is not executable", program);
}

static void check_settings(void)
{
  wtl_settings s;
  wtl_meter *meter;
  char errors[4096], *save = NULL;
  if (wtl_settings_parse(&s, errors, sizeof errors) == 0) {
    if ((meter = wtl_meter_open(&s, errors, sizeof errors)) != NULL) { /* the machine's profile and the sensor exist */
      wtl_meter_close(meter);
      return;
    }
  }
  for (char *line = strtok_r(errors, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
    fprintf(stderr, "oshrun: %s\n", line);
  exit(WTL_EXIT_CONFIG);
}

/* Does the user pass this variable on already? */
static bool exported(const plan *p, const char *name, size_t length)
{
  for (int i = 0; i + 1 < p->n_options; i++) {
    const char *what = p->options[i + 1];
    if (strcmp(p->options[i], "-x") == 0 && strncmp(what, name, length) == 0 &&
        (what[length] == '\0' || what[length] == '='))
      return true;
  }
  return false;
}

/* Open MPI refuses -x beside its other way to pass variables on. */
static bool has_environment_list(const plan *p)
{
  static const char name[] = "mca_base_env_list";
  for (int i = 0; i < p->n_options; i++)
    if (strcmp(p->options[i], name) == 0) return true;
  return getenv("OMPI_MCA_mca_base_env_list") != NULL;
}

/* The settings go along to other nodes, where mpirun would leave them behind. */
static int export_settings(plan *p, char **args)
{
  size_t room = 1;
  int n = 0;
  if (has_environment_list(p)) return 0;
  for (char **e = environ; *e; e++) room += strcspn(*e, "=") + 1;
  if (!(p->names = malloc(room))) return 0;
  char *at = p->names;
  for (char **e = environ; *e; e++) {
    size_t length = strcspn(*e, "=");
    if ((strncmp(*e, "WATTLE_", 7) != 0 && strncmp(*e, "SHMEM_", 6) != 0) || exported(p, *e, length)) continue;
    args[n++] = "-x";
    args[n++] = at;
    at = stpncpy(at, *e, length);
    *at++ = '\0';
  }
  return n;
}

static char **command_line(const char *launcher, plan *p)
{
  static char count[16];
  cpu_set_t cpus;
  int at = 0, n_program = 0, n_environment = 0;
  while (p->program[n_program]) n_program++;
  while (environ[n_environment]) n_environment++;
  char **args = calloc((size_t)(p->n_options + n_program + 2 * n_environment + 8), sizeof *args);
  snprintf(count, sizeof count, "%ld", p->n);
  args[at++] = (char *)(uintptr_t)launcher;
  args[at++] = "-n";
  args[at++] = count;
  args[at++] = "--oversubscribe";
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && p->n > CPU_COUNT(&cpus)) {
    args[at++] = "--bind-to";
    args[at++] = "none";
  }
  at += export_settings(p, args + at);
  for (int i = 0; i < p->n_options; i++) args[at++] = p->options[i];
  for (int i = 0; i < n_program; i++) args[at++] = p->program[i];
  return args;
}

/* Where Open MPI keeps its session directory. */
static const char *temporary_directory(void)
{
  static const char *const names[] = {"TMPDIR", "TEMP", "TMP"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (getenv(names[i])) return getenv(names[i]);
  return "/tmp";
}

/* --- running it --- */

/* Ctrl-C reaches the launcher by the terminal already; what another process sends us is passed on. */
static volatile sig_atomic_t ended_by; /* the signal that asked for the job's end */

static void pass_on(int signal, siginfo_t *info, void *context)
{
  int saved = errno;
  (void)context;
  if (signal != SIGUSR1 && signal != SIGUSR2) ended_by = signal;
  if (child > 0 && info->si_code != SI_KERNEL) kill(child, signal);
  errno = saved;
}

static void catch_signals(void)
{
  static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  struct sigaction a = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&a.sa_mask);
  for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) sigaction(passed[i], &a, NULL);
}

static void remove_remains(pid_t launcher)
{
  char pattern[4096];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/ompi.*.%u/pid.%ld", temporary_directory(), (unsigned)geteuid(), (long)launcher);
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) wtl_remains_remove(found.gl_pathv[i]);
  globfree(&found);
}

static bool has_living_children(pid_t launcher)
{
  char pattern[64];
  glob_t found = {0};
  bool alive;
  snprintf(pattern, sizeof pattern, "/proc/%ld/task/*/children", (long)launcher);
  alive = glob(pattern, 0, NULL, &found) != 0; /* this kernel does not tell */
  for (size_t i = 0; !alive && i < found.gl_pathc; i++) {
    FILE *f = fopen(found.gl_pathv[i], "re");
    int pid;
    while (f && !alive && fscanf(f, "%d", &pid) == 1) alive = !wtl_process_is_gone(pid);
    if (f) fclose(f);
  }
  globfree(&found);
  return alive;
}

/* Open MPI 4.1 can deadlock with itself while it ends, if a PE died while it joined: nobody is left, and it waits for
 * its own lock. */
static bool is_stuck(pid_t launcher)
{
  char path[64];
  long call = -1;
  FILE *f;
  snprintf(path, sizeof path, "/proc/%ld/syscall", (long)launcher);
  if ((f = fopen(path, "re")) == NULL) return false;
  if (fscanf(f, "%ld", &call) != 1) call = -1;
  fclose(f);
  return call == SYS_futex && !has_living_children(launcher);
}

/* Waits for the launcher's end, and brings it about where it is stuck for 1.5 s. True if it was. */
static bool watch(pid_t launcher)
{
  struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, launcher, 0), .events = POLLIN};
  int stuck = 0;
  while (p.fd >= 0 && stuck < 3) {
    int n = poll(&p, 1, 500);
    if (n > 0) break;
    if (n == 0) stuck = is_stuck(launcher) ? stuck + 1 : 0;
  }
  if (p.fd >= 0) close(p.fd);
  if (stuck < 3) return false;
  fprintf(stderr, "oshrun: the launcher's PEs are gone, but it does not end; ended it\n");
  kill(launcher, SIGKILL);
  return true;
}

static int run(char **args)
{
  pid_t me = getpid();
  int status;
  child = fork();
  if (child < 0) {
    fprintf(stderr, "oshrun: fork: %s\n", strerror(errno));
    return WTL_EXIT_OSERR;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* mpirun ends its job and cleans up on SIGTERM */
    if (getppid() != me) _exit(WTL_EXIT_UNAVAILABLE);
    execv(args[0], args);
    fprintf(stderr, "oshrun: %s: %s\n", args[0], strerror(errno));
    _exit(WTL_EXIT_UNAVAILABLE);
  }
  catch_signals();
  bool stuck = watch(child);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return WTL_EXIT_OSERR;
  remove_remains(child); /* it may have been killed, or told twice to end at once */
  /* Open MPI's own code for an interrupted job is 1, which a program may mean otherwise. */
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && ended_by) return 128 + ended_by;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (!stuck)
    fprintf(stderr, "oshrun: the launcher was ended by signal %d (%s); its PEs end with it\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

static void prepare_environment(void)
{
  char path[4096];
  setenv("PATH", default_path, 0);
  if (geteuid() == 0) { /* Open MPI refuses root unless told twice */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  /* A node that vanishes must end the job within seconds; Open MPI by itself asks after five minutes. */
  setenv("OMPI_MCA_oob_tcp_keepalive_time", "5", 0);
  setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "2", 0);
  setenv("OMPI_MCA_oob_tcp_keepalive_probes", "3", 0);
  /* Open MPI refuses one node, too, where it finds nothing to reach other nodes with, unless told that there are none.
   */
  if (!in_path("ssh", path, sizeof path) && !in_path("rsh", path, sizeof path)) setenv("OMPI_MCA_plm", "isolated", 0);
}

int main(int argc, char **argv)
{
  plan p = parse(argc, argv);
  check_settings();
  if (!moves_program(&p)) check_program(p.program[0]);
  const char *launcher = find_launcher();
  prepare_environment();
  char **line = command_line(launcher, &p);
  int status = run(line);
  free(line);
  free(p.options);
  free(p.names);
  return status;
}
