/*
 * launcher.h - the launchers oshrun knows. One interface, one file for each, one table (launcher.c).
 */
#ifndef WTL_LAUNCH_LAUNCHER_H
#define WTL_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/command.h"
#include "launch/hosts.h"

typedef struct wtl_launcher {
  const char *name;    /* as --launcher and WATTLE_LAUNCHER have it */
  const char *wanted;  /* what is looked for in PATH, for errors */
  const char *package; /* Debian's, which has it */
  wtl_grammar grammar;
  bool starts_here;         /* PEs of this host are its own children, each with some open files */
  unsigned long file_bytes; /* the largest of the files that it, or its MPI, needs for itself */
  const char *moving;       /* its options that make the program's name one of another directory or machine */
  /* Is it taken here without being asked for by name? */
  bool (*suits)(void);
  /* Where it is: true with its path in `path`. */
  bool (*find)(char *path, size_t size);
  /* Adds the variables it needs (wtl_launcher_variable). NULL: none. */
  void (*environment)(wtl_words *variables);
  /* Appends what stands between the launcher's path and the program. False with the reason in `error`. */
  bool (*compose)(wtl_words *line, const wtl_command *c, char *error, size_t size);

  /* --- around its life; NULL where there is nothing to do --- */
  void (*prepare)(const wtl_command *c); /* before it begins */
  /* Adds what each part of a job needs (`a : b` has two); NULL: nothing. */
  void (*begin_part)(wtl_words *line, const wtl_command *c);
  int speaks_on;                      /* STDOUT_FILENO or STDERR_FILENO: where it says how PEs ended; 0: nowhere */
  int (*code_said)(const char *line); /* the exit code of which a line tells; -1: of none */
  /* The job's code, from the launcher's own, the first that it said (or -1), and the signal that asked for the end (or
   * 0). */
  int (*exit_code)(int own, int said, int signal);
  bool (*is_stuck)(pid_t launcher); /* waits for itself, its PEs gone? */
  void (*remove_remains)(void);     /* what was prepared, and what one that was killed leaves on disk */
} wtl_launcher;

extern const wtl_launcher wtl_launcher_openmpi, wtl_launcher_mpich, wtl_launcher_srun;

/*
 * Reads the command line in the grammar of the launcher it is for, which is the one that --launcher names, else
 * `setting` (the value of WATTLE_LAUNCHER), else the first of the table that suits and is there. `path` receives where
 * it is, or "" where it is not. Ends the process where the line is wrong.
 */
const wtl_launcher *wtl_launcher_choose(wtl_command *c, char **argv, const char *setting, char *path, size_t size);

/* Says which launchers were looked for and what to install, and ends the process. */
void wtl_launcher_missing(const wtl_command *c, const char *setting) __attribute__((noreturn));

/* Says the reason and ends the process with the exit code of wrong usage. */
void wtl_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/*
 * Ends the process where an input file of the launcher, named by an option or a variable, is not a regular file that can
 * be read. Launchers wait for ever for the writer of a FIFO.
 */
void wtl_inputs_check(const wtl_launcher *l, const wtl_command *c);

/* The hosts the user names, by list or by file: 1, or 0 where there are none, or -1 with the reason in `error`. */
int wtl_launcher_hosts(wtl_hosts *h, const wtl_command *c, char *error, size_t size);

/* Adds NAME=VALUE where the environment has no NAME. */
void wtl_launcher_variable(wtl_words *variables, const char *name, const char *value);

/* Is this variable ("NAME=VALUE") a setting, of Wattle's or of UCX's, which the PEs of all nodes must have? */
bool wtl_is_setting(const char *variable);

#endif
