/* plugin.c - gathers and exchanges bytes, by teams or by active sets (MODE=legacy in the environment). */
#include "plugin.h"

#include <shmem.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long *sync;
static bool legacy;

static size_t in_words(int bytes)
{
  return (size_t)(bytes + 3) & ~(size_t)3;
}

/* Each PE gives `from_parts` parts of `bytes` bytes and receives n. */
static int move(const void *from, void *to, int bytes, int from_parts)
{
  int n = shmem_n_pes(), failed = 0;
  size_t part = legacy ? in_words(bytes) : (size_t)bytes;
  char *mine = shmem_malloc(part * (size_t)from_parts), *theirs = shmem_malloc(part * (size_t)n);
  if (!mine || !theirs) return 1;
  for (int i = 0; i < from_parts; i++) memcpy(mine + (size_t)i * part, (const char *)from + i * bytes, (size_t)bytes);
  shmem_barrier_all();
  if (legacy && from_parts == 1)
    shmem_collect32(theirs, mine, part / 4, 0, 0, n, sync);
  else if (legacy)
    shmem_alltoall32(theirs, mine, part / 4, 0, 0, n, sync);
  else if (from_parts == 1)
    failed = shmem_uint8_fcollect(SHMEM_TEAM_WORLD, (uint8_t *)theirs, (uint8_t *)mine, part);
  else
    failed = shmem_uint8_alltoall(SHMEM_TEAM_WORLD, (uint8_t *)theirs, (uint8_t *)mine, part);
  shmem_barrier_all();
  for (int i = 0; i < n; i++) memcpy((char *)to + i * bytes, theirs + (size_t)i * part, (size_t)bytes);
  shmem_barrier_all();
  shmem_free(mine);
  shmem_free(theirs);
  return failed;
}

static int gather(const void *from, void *to, int bytes)
{
  return move(from, to, bytes, 1);
}

static int exchange(const void *from, void *to, int bytes)
{
  return move(from, to, bytes, shmem_n_pes());
}

static int barrier(void)
{
  return shmem_team_sync(SHMEM_TEAM_WORLD);
}

static void end(void)
{
  shmem_free(sync);
  shmem_finalize();
}

int plugin_init(calls *c)
{
  size_t size = SHMEM_COLLECT_SYNC_SIZE > SHMEM_ALLTOALL_SYNC_SIZE ? SHMEM_COLLECT_SYNC_SIZE : SHMEM_ALLTOALL_SYNC_SIZE;
  const char *mode = getenv("MODE");
  legacy = mode && strcmp(mode, "legacy") == 0;
  shmem_init();
  if (!(sync = shmem_malloc(size * sizeof *sync))) return 1;
  for (size_t i = 0; i < size; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  *c = (calls){shmem_my_pe(), shmem_n_pes(), gather, exchange, barrier, end};
  return 0;
}
