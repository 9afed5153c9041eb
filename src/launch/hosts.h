/*
 * hosts.h - the hosts that the user names: a list "a,b:2", or a file with one host a line. A file gives slots in the
 * form of Open MPI ("b slots=2") or of MPICH ("b:2").
 */
#ifndef WTL_LAUNCH_HOSTS_H
#define WTL_LAUNCH_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_host {
  char *name;
  int slots; /* 0: not given */
} wtl_host;

typedef struct wtl_hosts {
  wtl_host *at; /* n hosts in the user's order, each name once; owned */
  int n;
  bool slots;       /* at least one host has slots */
  bool ranges;      /* at least one name means several hosts, such as "n[1-3]"; n is then not their number */
  bool slot_words;  /* of a file: at least one line has slots=N */
  bool slot_colons; /* of a file: at least one line has NAME:N */
} wtl_hosts;

/*
 * Reads a list. Returns false on failure, with the reason in `error`. The caller frees `h` with wtl_hosts_free in any
 * case.
 */
bool wtl_hosts_of_list(wtl_hosts *h, const char *list, char *error, size_t size);

/* Reads a file, with the same result as above. '#' begins a comment. */
bool wtl_hosts_of_file(wtl_hosts *h, const char *path, char *error, size_t size);

/* Returns "a:1,b:2", or "a,b" if no host has slots. The caller frees it. NULL: no memory. */
char *wtl_hosts_text(const wtl_hosts *h);

void wtl_hosts_free(wtl_hosts *h);

#endif
