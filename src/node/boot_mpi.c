/*
 * boot_mpi.c - boot by MPI, for launchers whose MPI starts, such as MPICH's mpiexec.
 *
 * A published value is kept until the next fence, which exchanges all values. A lookup then searches this process's own
 * copy. So any thread may call it, and it needs no MPI. Fences run only while the PE starts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/hash.h"
#include "node/boot.h"
#include "node/boot_mpi.h"
#include "node/lifeline.h"

/* All values published between two fences. Those of PE i are the pairs "key\0value\0" from at[i] to at[i + 1]. */
typedef struct edition {
  char *text;
  size_t *at;
  struct edition *earlier;
} edition;

typedef struct mpi_state {
  wtl_mpi mpi;
  char *unsent; /* published since the last fence */
  size_t unsent_bytes;
  edition *editions; /* the latest first */
} mpi_state;

static int publish(wtl_boot *b, const char *key, const char *value)
{
  mpi_state *s = b->state;
  size_t n_key = strlen(key) + 1, n_value = strlen(value) + 1;
  char *more = realloc(s->unsent, s->unsent_bytes + n_key + n_value);
  if (!more) return -1;
  memcpy(more + s->unsent_bytes, key, n_key);
  memcpy(more + s->unsent_bytes + n_key, value, n_value);
  s->unsent = more;
  s->unsent_bytes += n_key + n_value;
  return 0;
}

static void drop(edition *e)
{
  free(e->text);
  free(e->at);
  free(e);
}

static int fence(wtl_boot *b)
{
  mpi_state *s = b->state;
  edition *e = calloc(1, sizeof *e);
  if (e) e->at = calloc((size_t)b->n_pes + 1, sizeof *e->at);
  if (!e || !e->at || s->mpi.ops->exchange(s->unsent, s->unsent_bytes, &e->text, e->at) != 0) {
    if (e) drop(e);
    return -1;
  }
  s->unsent_bytes = 0;
  if (!e->text) return drop(e), 0; /* no PE published a value */
  e->earlier = s->editions;
  s->editions = e;
  return 0;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  const mpi_state *s = b->state;
  const char *found = NULL;
  for (const edition *e = s->editions; e && !found; e = e->earlier)
    for (const char *at = e->text + e->at[pe], *end = e->text + e->at[pe + 1]; at < end; at += strlen(at) + 1) {
      bool is_it = strcmp(at, key) == 0;
      at += strlen(at) + 1;
      if (is_it) found = at; /* the last value counts */
    }
  if (!found) return -1;
  snprintf(value, size, "%s", found);
  return 0;
}

/* --- nodes --- */

static void append(char *text, size_t size, const char *more)
{
  size_t n = strlen(text);
  snprintf(text + n, size - n, "%s|", more);
}

/* Identifies a group of PEs that can share memory. They have the same running kernel, its name, and the process
 * numbers by which they open each other's memory. A launcher's nodes and MPI_COMM_TYPE_SHARED ignore containers. */
static uint64_t node_identity(void)
{
  char text[512] = "", word[128] = "";
  struct utsname name;
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (f && fgets(word, sizeof word, f)) append(text, sizeof text, word);
  if (f) fclose(f);
  if (uname(&name) == 0) append(text, sizeof text, name.nodename);
  ssize_t n = readlink("/proc/self/ns/pid", word, sizeof word - 1);
  if (n > 0) word[n] = '\0', append(text, sizeof text, word);
  return wtl_hash(WTL_HASH_NONE, text, strlen(text));
}

/* Each PE sends this to the others. */
typedef struct identity {
  uint64_t node, program;
} identity;

/* Nodes are numbered in the order of their first PEs. */
static int find_nodes(wtl_boot *b, const identity *of)
{
  b->local_pe = calloc((size_t)b->n_pes, sizeof *b->local_pe);
  b->leader_pe = calloc((size_t)b->n_pes, sizeof *b->leader_pe);
  if (!b->local_pe || !b->leader_pe) return -1;
  for (int pe = 0, node; pe < b->n_pes; pe++) {
    for (node = 0; node < b->n_nodes && of[b->leader_pe[node]].node != of[pe].node; node++) continue;
    if (node == b->n_nodes) b->leader_pe[b->n_nodes++] = pe;
    if (pe == b->pe) b->node = node, b->local_rank = b->n_local;
    if (of[pe].program != b->program) b->one_program = false;
    if (of[pe].node == of[b->pe].node) b->local_pe[b->n_local++] = pe;
  }
  return 0;
}

static int get_nodes(wtl_boot *b, mpi_state *s)
{
  identity mine = {node_identity(), b->program};
  char *all = NULL;
  size_t *at = calloc((size_t)b->n_pes + 1, sizeof *at);
  int rc = at ? s->mpi.ops->exchange(&mine, sizeof mine, &all, at) : -1;
  if (rc == 0) rc = find_nodes(b, (const identity *)(const void *)all);
  free(all);
  free(at);
  return rc;
}

/* --- start and stop --- */

static int start(wtl_boot *b, char *error, size_t size)
{
  mpi_state *s = calloc(1, sizeof *s);
  int rc;
  if (!s) return snprintf(error, size, "no memory to join the job"), -1;
  if ((rc = wtl_boot_mpi_load(&s->mpi, error, size)) != 0 ||
      (rc = s->mpi.ops->start(s->mpi.shared, &b->pe, &b->n_pes, error, size)) != 0) {
    free(s);
    return rc;
  }
  b->state = s;
  if (get_nodes(b, s) != 0) {
    snprintf(error, size, "boot by MPI (%s): the PEs cannot exchange where they run", s->mpi.library);
    return -1;
  }
  bool watched = wtl_boot_mpi_watch_launcher();
  /* Open MPI's launcher leaves files when it is killed. One PE of the node removes them. */
  wtl_lifeline_handed_over(watched && b->local_rank == 0 && getenv("PMIX_SERVER_TMPDIR"));
  return 0;
}

static void do_abort(wtl_boot *b, int status, const char *message)
{
  mpi_state *s = b->state;
  if (s) s->mpi.ops->abort(status);
}

static void stop(wtl_boot *b)
{
  mpi_state *s = b->state;
  s->mpi.ops->stop();
  for (edition *e = s->editions, *earlier; e; e = earlier) earlier = e->earlier, drop(e);
  free(s->unsent);
  free(s);
  free(b->local_pe);
  free(b->leader_pe);
  b->state = NULL;
}

const wtl_boot_ops wtl_boot_mpi = {.name = "mpi",
                                   .offered = wtl_boot_mpi_is_offered,
                                   .start = start,
                                   .publish = publish,
                                   .fence = fence,
                                   .lookup = lookup,
                                   .abort = do_abort,
                                   .stop = stop,
                                   .is_selected = wtl_boot_mpi_is_confined,
                                   .note = wtl_boot_mpi_note};
