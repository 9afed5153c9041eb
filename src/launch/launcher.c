/* launcher.c - the table of launchers and the choice among them. */
#include "launch/launcher.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/runtime_path.h"
#include "os/locale.h"

/* In the order in which they are tried. */
static const wtl_launcher *const launchers[] = {&wtl_launcher_srun, &wtl_launcher_openmpi, &wtl_launcher_mpich};

enum { N_LAUNCHERS = sizeof launchers / sizeof launchers[0] };

void wtl_launcher_refuse(const char *format, ...)
{
  WTL_LOCALE_APART;
  va_list args;
  va_start(args, format);
  fputs("oshrun: ", stderr);
  vfprintf(stderr, format, args);
  fputs("\ntry: oshrun --help\n", stderr);
  va_end(args);
  exit(WTL_EXIT_USAGE);
}

static const wtl_launcher *of_name(const char *name)
{
  for (size_t i = 0; i < N_LAUNCHERS; i++)
    if (strcmp(launchers[i]->name, name) == 0) return launchers[i];
  return NULL;
}

/* Returns the value of --launcher, or NULL. A word is this option only by the grammar of the launcher that it names. */
static const char *named(char **argv)
{
  const char *name = NULL;
  char error[512];
  for (size_t i = 0; i < N_LAUNCHERS; i++) {
    wtl_command c;
    wtl_command_read(&c, argv, &launchers[i]->grammar, error, sizeof error);
    wtl_command_free(&c);
    if (c.launcher && strcmp(c.launcher, launchers[i]->name) == 0) return c.launcher;
    if (c.launcher) name = c.launcher;
  }
  return name;
}

static const wtl_launcher *first_installed(char *path, size_t size)
{
  for (size_t i = 0; i < N_LAUNCHERS; i++)
    if (launchers[i]->suits() && launchers[i]->find(path, size)) return launchers[i];
  *path = '\0';
  return &wtl_launcher_openmpi;
}

const wtl_launcher *wtl_launcher_choose(wtl_command *c, char **argv, const char *setting, char *path, size_t size)
{
  const char *name = named(argv);
  const wtl_launcher *l = of_name(name ? name : setting);
  char error[512];
  if (name && !l && strcmp(name, "auto") != 0) wtl_launcher_refuse("--launcher %s: openmpi, mpich, srun or auto", name);
  if (!l)
    l = first_installed(path, size);
  else if (!l->find(path, size))
    *path = '\0';
  if (!wtl_command_read(c, argv, &l->grammar, error, sizeof error)) wtl_launcher_refuse("%s", error);
  if (l->find_for && *path) l->find_for(c, path, size);
  return l;
}

void wtl_launcher_missing(const wtl_command *c, const char *setting)
{
  const wtl_launcher *only = of_name(c->launcher ? c->launcher : setting);
  const char *between = "", *end = ")\n";
  fputs("oshrun: no launcher: searched PATH for ", stderr);
  for (size_t i = 0; i < N_LAUNCHERS; i++)
    if (launchers[i] == only || (!only && launchers[i]->suits())) {
      fprintf(stderr, "%s%s", between, launchers[i]->wanted);
      between = "; ";
    }
  between = " (Debian: apt install ";
  for (size_t i = 0; i < N_LAUNCHERS; i++)
    if (launchers[i] == only || (!only && launchers[i]->suits())) {
      fprintf(stderr, "%s%s", between, launchers[i]->package);
      between = " or ";
    }
  fputs(end, stderr);
  exit(WTL_EXIT_UNAVAILABLE);
}

int wtl_launcher_hosts(wtl_hosts *h, const wtl_command *c, char *error, size_t size)
{
  *h = (wtl_hosts){0};
  if (c->hosts && c->hostfile) {
    snprintf(error, size, "--host %s and --hostfile %s: give one of the two", c->hosts, c->hostfile);
    return -1;
  }
  if (c->hosts) return wtl_hosts_of_list(h, c->hosts, error, size) ? 1 : -1;
  if (c->hostfile) return wtl_hosts_of_file(h, c->hostfile, error, size) ? 1 : -1;
  return 0;
}

void wtl_launcher_variable(wtl_words *variables, const char *name, const char *value)
{
  if (!getenv(name)) wtl_arguments_format(variables, "%s=%s", name, value);
}

bool wtl_launcher_is_setting(const char *variable)
{
  static const char *const beginnings[] = {"WATTLE_", "SHMEM_", "SMA_", "UCX_", "FI_"};
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
    if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0) return true;
  return wtl_runtime_path_is(variable);
}
