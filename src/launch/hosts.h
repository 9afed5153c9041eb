/*
 * hosts.h - which nodes the user names: a list "a,b:2", or a file with a host a line, in Open MPI's words
 * ("b slots=2") or in MPICH's ("b:2").
 */
#ifndef WTL_LAUNCH_HOSTS_H
#define WTL_LAUNCH_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_host {
  char *name;
  int slots; /* 0: not said */
} wtl_host;

typedef struct wtl_hosts {
  wtl_host *at; /* n hosts in the user's order, each name once; owned */
  int n;
  bool slots;       /* some host has slots */
  bool ranges;      /* some name stands for several, as in "n[1-3]": n is not their number */
  bool slot_words;  /* of a file: some line says slots=N */
  bool slot_colons; /* of a file: some line says NAME:N */
} wtl_hosts;

/* Reads a list. On failure false, with the reason in `error`. Whatever it returns, wtl_hosts_free gives back. */
bool wtl_hosts_of_list(wtl_hosts *h, const char *list, char *error, size_t size);

/* Reads a file; '#' begins a comment. */
bool wtl_hosts_of_file(wtl_hosts *h, const char *path, char *error, size_t size);

/* "a:1,b:2" or, where no host has slots, "a,b"; the caller frees it. NULL: no memory. */
char *wtl_hosts_text(const wtl_hosts *h);

void wtl_hosts_free(wtl_hosts *h);

#endif
