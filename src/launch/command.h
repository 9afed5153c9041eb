/*
 * command.h - what the user wrote behind `oshrun`.
 *
 * A launcher's own options pass through as they are. Which of them take a value as the next word differs from launcher
 * to launcher, so a command line is read in the grammar of one of them.
 */
#ifndef WTL_LAUNCH_COMMAND_H
#define WTL_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/launcher_words.h"

/* Lists of options, separated by single spaces. */
typedef struct wtl_grammar {
  const char *counts; /* their value is the number of PEs */
  const char *values; /* take one value */
  const char *pairs;  /* take two */

  /* --- of these, the options that name input files, which are in `values`, too --- */
  const char *files; /* one file each */
  const char
      *file_lists; /* with commas between them; what is no file is searched for elsewhere, or means something else */

  /* --- and the variables that do; `--mca NAME VALUE` sets the variable PREFIX NAME --- */
  const char *file_variables, *file_list_variables;
  const char *parameter_prefixes; /* "": there are none */
} wtl_grammar;

enum wtl_action { WTL_DO_RUN, WTL_DO_DRY_RUN, WTL_DO_FENCE, WTL_DO_HELP, WTL_DO_VERSION, WTL_DO_SETTINGS };

typedef struct wtl_command {
  enum wtl_action action;
  long n;               /* PEs; 0: not said */
  const char *launcher; /* --launcher's value; NULL: not given */
  char *hosts;          /* --host's values, with commas between them; NULL: not given. Owned. */
  const char *hostfile;
  wtl_words options; /* the launcher's */
  char **program;    /* and its arguments; ends with NULL. NULL where none is given. */
} wtl_command;

/*
 * Reads the words behind argv[0]. On failure returns false, with the reason in `error`. An action that needs no program
 * (help, for one) ends the reading; the fence's needs hosts, but no program. Whatever it returns, wtl_command_free gives back.
 */
bool wtl_command_read(wtl_command *c, char **argv, const wtl_grammar *grammar, char *error, size_t size);

void wtl_command_free(wtl_command *c);

/* Is one of these options (a list as in a grammar) among the launcher's, alone or as NAME=VALUE? */
bool wtl_command_has(const wtl_command *c, const char *names);

/* The value of the option at[0] if it is one of these, in the forms below, else NULL. at[1] is the next word or NULL. */
const char *wtl_option_value(const char *names, const char *const *at);

/* The value of the last of these options, be it NAME VALUE, NAME=VALUE or, for a single letter, -cVALUE; else NULL. */
const char *wtl_command_value(const wtl_command *c, const char *names);

#endif
