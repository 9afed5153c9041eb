/*
 * inputs.c - checks the input files of the launchers: lists of hosts and ranks, parameters, further parts of the
 * command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "launch/launcher.h"
#include "launch/program_search.h"

static void check_file(const char *source, const char *path)
{
  const char *reason;
  int fd = wtl_regular_file_open(path, &reason);
  if (fd < 0) wtl_launcher_refuse("%s %s: %s", source, path, reason);
  close(fd);
}

/* Checks each name of the list that is a file here. The launcher searches for the others in folders of its own. */
static void check_list(const char *source, const char *list)
{
  struct stat st;
  char *all = strdup(list), *save = NULL;
  for (char *path = all ? strtok_r(all, ",", &save) : NULL; path; path = strtok_r(NULL, ",", &save))
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) check_file(source, path);
  free(all);
}

/* Checks `--mca NAME VALUE`; at[0] is the option. */
static void check_parameter(const wtl_grammar *g, const char *const *at)
{
  if (!*g->parameter_prefixes || !wtl_program_in_list(g->pairs, at[0]) || !at[1] || !at[2]) return;
  if (wtl_program_in_list(g->file_variables, at[1])) check_file(at[1], at[2]);
  if (wtl_program_in_list(g->file_list_variables, at[1])) check_list(at[1], at[2]);
}

static void check_options(const wtl_grammar *g, const wtl_command *c)
{
  char source[64];
  if (c->hostfile) check_file("--hostfile", c->hostfile);
  for (size_t i = 0; i < c->options.n; i++) {
    const char *const *at = (const char *const *)c->options.at + i, *value;
    snprintf(source, sizeof source, "%.*s", (int)strcspn(at[0], "="), at[0]);
    if ((value = wtl_option_value(g->files, at))) check_file(source, value);
    if ((value = wtl_option_value(g->file_lists, at))) check_list(source, value);
    check_parameter(g, at);
  }
}

/* Checks the parts after the first of `a : b`. Each has options of its own. */
static void check_parts(const wtl_grammar *g, char **program)
{
  char error[512];
  for (char **word = program; word && *word; word++) {
    wtl_command part;
    if (strcmp(*word, ":") != 0) continue;
    wtl_command_read(&part, word, g, error, sizeof error); /* the launcher reports errors in it */
    check_options(g, &part);
    wtl_command_free(&part);
  }
}

static void check_variable(const char *names, const char *prefix, void check(const char *, const char *))
{
  char variable[128];
  for (const char *at = names; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    snprintf(variable, sizeof variable, "%s%.*s", prefix, (int)n, at);
    const char *value = getenv(variable);
    if (value && *value) check(variable, value);
    at += n;
  }
}

void wtl_inputs_check(const wtl_launcher *l, const wtl_command *c)
{
  const wtl_grammar *g = &l->grammar;
  check_options(g, c);
  check_parts(g, c->program);
  for (const char *at = g->parameter_prefixes;; at += strspn(at, " ")) {
    char prefix[32];
    size_t n = strcspn(at, " ");
    snprintf(prefix, sizeof prefix, "%.*s", (int)n, at);
    check_variable(g->file_variables, prefix, check_file);
    check_variable(g->file_list_variables, prefix, check_list);
    at += n;
    if (!*at) return;
  }
}
