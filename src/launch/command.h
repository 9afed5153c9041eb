/*
 * command.h - the command line of `oshrun`.
 *
 * The launcher's own options pass through unchanged. Each launcher has other options that take the next word as their
 * value. So the command line is read in the grammar of one launcher.
 */
#ifndef WTL_LAUNCH_COMMAND_H
#define WTL_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/argument_list.h"

/* The options of a launcher. Each list separates its options by single spaces. */
typedef struct wtl_grammar {
  const char *counts; /* options whose value is the number of PEs */
  const char *values; /* options that take one value */
  const char *pairs;  /* options that take two values */

  /* Options that name input files. They are in `values`, too. */
  const char *files;      /* one file each */
  const char *file_lists; /* several files with commas; a word that is no file here is not checked */

  /* Variables that name input files. `--mca NAME VALUE` sets the variable PREFIX NAME. */
  const char *file_variables, *file_list_variables;
  const char *parameter_prefixes; /* "": the launcher has no such prefixes */
} wtl_grammar;

enum wtl_action { WTL_DO_RUN, WTL_DO_DRY_RUN, WTL_DO_FENCE, WTL_DO_HELP, WTL_DO_VERSION, WTL_DO_SETTINGS };

typedef struct wtl_command {
  enum wtl_action action;
  long n;                   /* number of PEs; 0: not given */
  const char *launcher;     /* value of --launcher; NULL: not given */
  const char *power_budget; /* value of --power-budget; NULL: not given */
  char *hosts;              /* values of --host, separated by commas; NULL: not given. Owned. */
  const char *hostfile;
  wtl_words options; /* options that go to the launcher */
  char **program;    /* the program and its arguments, ended by NULL; NULL: not given */
} wtl_command;

/*
 * Reads the words after argv[0]. Returns false on failure, with the reason in `error`. Reading ends at an action that
 * needs no program, such as help. The action WTL_DO_FENCE needs hosts but no program. The caller frees `c` with
 * wtl_command_free in any case.
 */
bool wtl_command_read(wtl_command *c, char **argv, const wtl_grammar *grammar, char *error, size_t size);

void wtl_command_free(wtl_command *c);

/* Is one of these options (a list as in a grammar) among the launcher's options, alone or as NAME=VALUE? */
bool wtl_command_has(const wtl_command *c, const char *names);

/* Does the job have several parts, as `a : b`? */
bool wtl_command_has_parts(const wtl_command *c);

/*
 * Returns the value of the option at[0] if its name is in `names`, in the forms below, else NULL. at[1] is the next
 * word or NULL.
 */
const char *wtl_option_value(const char *names, const char *const *at);

/*
 * Returns the value of the last option with one of these names, else NULL. Forms: NAME VALUE, NAME=VALUE, and -cVALUE
 * for a single letter.
 */
const char *wtl_command_value(const wtl_command *c, const char *names);

#endif
