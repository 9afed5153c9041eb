/* boot.c - selects a kind of boot from wtl_boot_kinds and starts it. */
#include "node/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "node/statics.h"
#include "os/os.h"

/* Returns the kind that the program has selected by its calls, or NULL. */
static const wtl_boot_ops *selected(void)
{
  for (size_t i = 0; wtl_boot_kinds[i]; i++)
    if (wtl_boot_kinds[i]->is_selected && wtl_boot_kinds[i]->is_selected()) return wtl_boot_kinds[i];
  return NULL;
}

/* Returns the kind named `wanted`. If `automatic` is set, returns the first kind that the environment offers. NULL:
 * none. */
static const wtl_boot_ops *find_kind(const char *wanted, bool automatic)
{
  for (size_t i = 0; wtl_boot_kinds[i]; i++) {
    const wtl_boot_ops *kind = wtl_boot_kinds[i];
    bool skipped = kind->is_skipped && kind->is_skipped();
    if (strcmp(kind->name, wanted) == 0 || (automatic && !skipped && kind->offered())) return kind;
  }
  return NULL;
}

/* Appends the reasons why kinds of the table up to `end` did not serve: " (pmix: ...; mpi: ...)". NULL: of all
 * kinds. */
static void append_notes(const wtl_boot_ops *end, char *text, size_t size)
{
  const char *between = " (";
  for (size_t i = 0; wtl_boot_kinds[i] && wtl_boot_kinds[i] != end; i++) {
    const wtl_boot_ops *kind = wtl_boot_kinds[i];
    const char *note = kind->note ? kind->note() : "";
    if (!*note) continue;
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s: %s", between, kind->name, note);
    between = "; ";
  }
  if (*between == ';') strncat(text, ")", size - strlen(text) - 1);
}

/* The variables in which launchers publish the number of processes and the rank of each. */
static const struct {
  const char *size, *rank, *launcher;
} promises[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
    {"PMI_SIZE", "PMI_RANK", "MPICH's mpiexec"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
};

static int env_int(const char *name, int otherwise)
{
  const char *text = getenv(name);
  char *end;
  long value;
  if (!text || !*text) return otherwise;
  value = strtol(text, &end, 10);
  return *end || value < 0 || value > 1 << 24 ? otherwise : (int)value;
}

int wtl_boot_env_rank(void)
{
  int rank = env_int("PMIX_RANK", -1);
  for (size_t i = 0; rank < 0 && i < sizeof promises / sizeof promises[0]; i++) rank = env_int(promises[i].rank, -1);
  return rank < 0 ? 0 : rank;
}

/* A launcher that started N processes must not get N jobs of one PE. */
static int check_promises(const wtl_boot *b, char *error, size_t size)
{
  char notes[1024] = "";
  append_notes(NULL, notes, sizeof notes);
  for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++) {
    int promised = env_int(promises[i].size, 0);
    if (promised <= b->n_pes || !getenv(promises[i].rank)) continue;
    snprintf(error, size,
             "%s=%d: %s started %d processes, but boot by %s finds %d%s. Start the program with oshrun, with an "
             "mpirun that serves PMIx (Open MPI 4 or later), with srun --mpi=pmix, or with the mpiexec of the MPI it "
             "uses; to run one PE alone, unset %s",
             promises[i].size, promised, promises[i].launcher, promised, b->ops->name, b->n_pes, notes,
             promises[i].size);
    return WTL_EXIT_UNAVAILABLE;
  }
  return 0;
}

int wtl_boot_start(wtl_boot *b, const wtl_settings *settings, char *error, size_t size)
{
  static const char *const names[] = {
      [WTL_BOOT_AUTO] = "auto", [WTL_BOOT_PMIX] = "pmix", [WTL_BOOT_MPI] = "mpi", [WTL_BOOT_SINGLE] = "single"};
  const char *wanted = names[settings->boot.number];
  memset(b, 0, sizeof *b);
  b->program = wtl_statics_program();
  b->one_program = true;
  b->ops = selected();
  if (!b->ops) b->ops = find_kind(wanted, settings->boot.number == WTL_BOOT_AUTO);
  if (!b->ops || (settings->boot.number == WTL_BOOT_PMIX && !b->ops->offered())) {
    const char *note = b->ops && b->ops->note ? b->ops->note() : "";
    snprintf(error, size, "WATTLE_BOOT=%s, but %s", wanted,
             *note ? note : "no launcher offers it here (PMIX_NAMESPACE is not set)");
    return WTL_EXIT_UNAVAILABLE;
  }
  const wtl_boot_ops *kind = b->ops;
  if (kind->start(b, error, size) != 0) return append_notes(kind, error, size), WTL_EXIT_UNAVAILABLE;
  b->slot_of = malloc((size_t)b->n_pes * sizeof *b->slot_of);
  if (!b->slot_of) return snprintf(error, size, "no memory for %d PEs", b->n_pes), WTL_EXIT_OSERR;
  for (int pe = 0; pe < b->n_pes; pe++) b->slot_of[pe] = -1;
  for (int slot = 0; slot < b->n_local; slot++) b->slot_of[b->local_pe[slot]] = slot;
  return selected() ? 0 : check_promises(b, error, size);
}

void wtl_boot_stop(wtl_boot *b)
{
  b->ops->stop(b);
  free(b->slot_of);
  b->slot_of = NULL;
}

static void *end_later(void *status)
{
  enum { LAUNCHERS_S = 10 };
  struct timespec left = {.tv_sec = LAUNCHERS_S};
  while (nanosleep(&left, &left) != 0) {}
  _exit((int)(intptr_t)status);
}

void wtl_boot_must_end(int status)
{
  pthread_t thread;
  wtl_thread_start(&thread, NULL, end_later, (void *)(intptr_t)status);
}

void wtl_boot_abort(wtl_boot *b, int status, const char *message)
{
  if (b->ops && b->ops->abort) {
    wtl_boot_must_end(status);
    b->ops->abort(b, status, message);
  }
  _exit(status);
}
