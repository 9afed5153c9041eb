/* command.c - reads oshrun's own options and the program from a command line, in the grammar of one launcher. */
#include "launch/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/program_search.h"

enum { MOST_PES = 65536 };

/* oshrun's own options that take a value, in all their forms. */
static const char launcher_names[] = "--launcher", host_names[] = "-H -host --host",
                  hostfile_names[] = "-hostfile --hostfile -machinefile --machinefile",
                  power_names[] = "--power-budget";

static const struct {
  const char *names;
  enum wtl_action action;
} actions[] = {{"-h --help", WTL_DO_HELP},
               {"-V --version", WTL_DO_VERSION},
               {"--settings", WTL_DO_SETTINGS},
               {"--dry-run", WTL_DO_DRY_RUN},
               {"--fence-network", WTL_DO_FENCE}};

/*
 * Returns the value of `option` if its name is in `names`: "2" of "--np=2", or of "--np" with `next` "2"; else NULL.
 * Sets *separate if the value is the next word.
 */
static const char *value_of(const char *names, const char *option, const char *next, bool *separate)
{
  char name[32];
  size_t n = strcspn(option, "=");
  if (n >= sizeof name) return NULL;
  snprintf(name, sizeof name, "%.*s", (int)n, option);
  if (!wtl_program_in_list(names, name)) return NULL;
  *separate = option[n] == '\0';
  return *separate ? (next ? next : "") : option + n + 1;
}

/* Returns "2" of "-n2" if "-n" is in `names`; else NULL. */
static const char *joined_to(const char *names, const char *option)
{
  char letter[3] = {option[0], option[0] ? option[1] : '\0', '\0'};
  return option[0] == '-' && option[1] != '-' && wtl_program_in_list(names, letter) ? option + 2 : NULL;
}

static bool read_count(wtl_command *c, const char *text, char *error, size_t size)
{
  char *end;
  errno = 0;
  c->n = strtol(text, &end, 10);
  if (!errno && *text && !*end && c->n >= 1 && c->n <= MOST_PES) return true;
  if (!*text)
    snprintf(error, size, "-n needs a number, 1 to %d", MOST_PES);
  else
    snprintf(error, size, "-n %s: the number of PEs is 1 to %d", text, MOST_PES);
  return false;
}

static bool add_hosts(wtl_command *c, const char *list, char *error, size_t size)
{
  char *all;
  if (list[0] == '-') return snprintf(error, size, "--host: the hosts are missing before %s", list), false;
  if (asprintf(&all, "%s%s%s", c->hosts ? c->hosts : "", c->hosts ? "," : "", list) < 0)
    return snprintf(error, size, "no memory for the list of hosts"), false;
  free(c->hosts);
  c->hosts = all;
  return true;
}

/* Reads an option of oshrun's own that takes a value. Returns 1 if it was one, 0 if not, -1 if its value is wrong. */
static int read_own(wtl_command *c, const char *const *at, const wtl_grammar *g, bool *separate, char *error,
                    size_t size)
{
  const char *value;
  if ((value = value_of(g->counts, at[0], at[1], separate))) return read_count(c, value, error, size) ? 1 : -1;
  if (wtl_program_in_list(g->counts, "-n") && (value = joined_to("-n", at[0])) && *value >= '0' && *value <= '9')
    return read_count(c, value, error, size) ? 1 : -1; /* digits only: -npernode is another option */
  if ((value = value_of(launcher_names, at[0], at[1], separate))) return c->launcher = value, 1;
  if ((value = value_of(hostfile_names, at[0], at[1], separate))) return c->hostfile = value, 1;
  if ((value = value_of(power_names, at[0], at[1], separate))) {
    if (!*value) return snprintf(error, size, "--power-budget needs watts, as WATTLE_POWER_BUDGET takes them"), -1;
    return c->power_budget = value, 1;
  }
  if ((value = value_of(host_names, at[0], at[1], separate))) return add_hosts(c, value, error, size) ? 1 : -1;
  return 0;
}

static bool read_action(wtl_command *c, const char *word)
{
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    if (wtl_program_in_list(actions[i].names, word)) return c->action = actions[i].action, true;
  return false;
}

bool wtl_command_read(wtl_command *c, char **argv, const wtl_grammar *g, char *error, size_t size)
{
  *c = (wtl_command){0};
  char **at = argv + 1;
  for (; *at && at[0][0] == '-'; at++) {
    bool separate = false;
    if (strcmp(*at, "--") == 0) {
      at++;
      break;
    }
    if (read_action(c, *at)) {
      if (c->action != WTL_DO_DRY_RUN && c->action != WTL_DO_FENCE) return true;
      continue;
    }
    int own = read_own(c, (const char *const *)at, g, &separate, error, size);
    if (own < 0) return false;
    if (own > 0) {
      if (separate && at[1]) at++;
      continue;
    }
    int values = wtl_program_in_list(g->pairs, *at) ? 2 : wtl_program_in_list(g->values, *at);
    wtl_arguments_add(&c->options, *at);
    for (; values > 0 && at[1]; values--) wtl_arguments_add(&c->options, *++at);
  }
  c->program = *at ? at : NULL;
  if (c->program || c->action == WTL_DO_FENCE) return true;
  snprintf(error, size, "no program given");
  return false;
}

void wtl_command_free(wtl_command *c)
{
  wtl_arguments_free(&c->options);
  free(c->hosts);
  c->hosts = NULL;
}

const char *wtl_option_value(const char *names, const char *const *at)
{
  bool separate;
  const char *value = value_of(names, at[0], at[1], &separate);
  return value ? value : joined_to(names, at[0]);
}

const char *wtl_command_value(const wtl_command *c, const char *names)
{
  const char *found = NULL, *value;
  for (size_t i = 0; i < c->options.n; i++)
    if ((value = wtl_option_value(names, (const char *const *)c->options.at + i))) found = value;
  return found;
}

bool wtl_command_has(const wtl_command *c, const char *names)
{
  return wtl_command_value(c, names) != NULL;
}

bool wtl_command_has_parts(const wtl_command *c)
{
  for (char **word = c->program; word && *word; word++)
    if (strcmp(*word, ":") == 0) return true;
  return false;
}
