/*
 * launcher.h - the launchers that oshrun can use.
 *
 * DESIGN. A launcher is a constant of the type below, in a file of its own, and one row of the table in launcher.c.
 * oshrun reads its command line in the launcher's grammar (command.h). `compose` writes the launcher's command line,
 * and run.h runs it, forwards signals and derives the job's exit code. Some launchers report the code of a PE only in
 * their output, so run.c reads that. sessions.h makes and removes the folder of Open MPI's session.
 */
#ifndef WTL_LAUNCH_LAUNCHER_H
#define WTL_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/command.h"
#include "launch/hosts.h"

typedef struct wtl_launcher {
  const char *name;    /* value of --launcher and WATTLE_LAUNCHER */
  const char *wanted;  /* the programs searched for in PATH, for error messages */
  const char *package; /* Debian's package */
  wtl_grammar grammar;
  bool starts_here;         /* PEs of this host are its children, and it opens some files for each */
  unsigned long file_bytes; /* size of the largest file that the launcher or its MPI needs for itself, in bytes */
  const char *moving;       /* its options after which the program's name refers to another directory or machine */
  /* May it be chosen here if the user names no launcher? */
  bool (*suits)(void);
  /* Writes its path to `path`. Returns false if it is not installed. */
  bool (*find)(char *path, size_t size);
  /* Writes another path to `path` where this job needs another program of the launcher. NULL: never. */
  void (*find_for)(const wtl_command *c, char *path, size_t size);
  /* Adds the variables that it needs (wtl_launcher_variable). NULL: none. */
  void (*environment)(wtl_words *variables);
  /* Appends the words between the launcher's path and the program. Returns false with the reason in `error`. */
  bool (*compose)(wtl_words *line, const wtl_command *c, char *error, size_t size);

  /* The functions below are NULL if there is nothing to do. */
  void (*prepare)(const wtl_command *c); /* called before it starts */
  /* Appends the words that each part of a job needs (`a : b` has two parts). */
  void (*begin_part)(wtl_words *line, const wtl_command *c);
  int report_stream; /* STDOUT_FILENO or STDERR_FILENO: its stream that reports how PEs ended; 0: none */
  int (*reported_code)(const char *line); /* the exit code that a line reports; -1: none */
  /*
   * Returns the job's exit code. own: the launcher's code. reported: the first code that it reported, or -1. signal:
   * the signal that asked for the job's end, or 0.
   */
  int (*exit_code)(int own, int reported, int signal);
  bool (*is_stuck)(pid_t launcher); /* Is it in a deadlock, with its PEs gone? */
  void (*remove_remains)(void);     /* removes files made by `prepare`, and files left by a launcher that was killed */
} wtl_launcher;

extern const wtl_launcher wtl_launcher_openmpi, wtl_launcher_mpich, wtl_launcher_srun;

/*
 * Chooses the launcher and reads the command line in its grammar. The choice is the value of --launcher, else `setting`
 * (the value of WATTLE_LAUNCHER), else the first of the table that suits and is installed. `path` receives its path, or
 * "" if it is not installed. Ends the process if the command line is wrong.
 */
const wtl_launcher *wtl_launcher_choose(wtl_command *c, char **argv, const char *setting, char *path, size_t size);

/* Reports the launchers that were searched for and the packages to install, and ends the process. */
void wtl_launcher_missing(const wtl_command *c, const char *setting) __attribute__((noreturn));

/* Reports the reason and ends the process with the exit code of wrong usage. */
void wtl_launcher_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/*
 * Checks the launcher's input files that an option or a variable names. Ends the process if one is not a readable
 * regular file: a launcher waits for ever for the writer of a FIFO.
 */
void wtl_inputs_check(const wtl_launcher *l, const wtl_command *c);

/*
 * Reads the hosts that the user names by list or by file. Returns 1, 0 if there are none, or -1 with the reason in
 * `error`. The caller frees `h` with wtl_hosts_free.
 */
int wtl_launcher_hosts(wtl_hosts *h, const wtl_command *c, char *error, size_t size);

/* Adds NAME=VALUE unless the environment has NAME. */
void wtl_launcher_variable(wtl_words *variables, const char *name, const char *value);

/* Is this variable ("NAME=VALUE") a setting of Wattle or UCX, or runtime_path.h's? The PEs of all nodes need these. */
bool wtl_launcher_is_setting(const char *variable);

#endif
