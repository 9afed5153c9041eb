/* collective_check.c - compares the arguments of a collective among the PEs, and reports a difference. */
#include "shmem/collective_check.h"
#include "team/wait_until.h"

#include <stdio.h>

/* The words that a PE publishes, in this order. The call itself may differ between barriers. */
enum { KIND = WTL_PUBLISHED_SERIAL + 1, COUNT, ROOT, DST, SST, DEST, SOURCE, CALL, WORDS };
_Static_assert((int)WORDS == (int)WTL_PUBLISHED_WORDS, "there is a word for each");

/* A symmetric address is published as its place, which is the same on all PEs. */
#define IN_STATICS (UINT64_C(1) << 62)
#define NOWHERE UINT64_MAX

static uint64_t place_of(const wtl_pe *self, const void *p)
{
  size_t in_heap = (size_t)((const char *)p - self->heap), in_statics = (size_t)((const char *)p - self->statics);
  if (in_heap < self->heap_bytes) return in_heap;
  return in_statics < self->statics_bytes ? IN_STATICS + in_statics : NOWHERE;
}

static const char *place_text(uint64_t place, char *text, size_t size)
{
  if (place == NOWHERE) return "no symmetric memory";
  if (place < IN_STATICS)
    snprintf(text, size, "heap offset %llu", (unsigned long long)place);
  else
    snprintf(text, size, "offset %llu of the program's variables", (unsigned long long)(place - IN_STATICS));
  return text;
}

static void refuse_places(uint32_t call, const char *name, uint64_t mine, uint64_t theirs, int pe)
{
  char here[64], there[64];
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: PEs pass different arguments: %s is at %s here, at %s on PE %d; all PEs must pass the same",
              wtl_shmem_call_here(call), name, place_text(mine, here, sizeof here),
              place_text(theirs, there, sizeof there), pe);
}

static void refuse_values(uint32_t call, const char *name, uint64_t mine, uint64_t theirs, int pe)
{
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: PEs pass different arguments: %s=%lld here, %lld on PE %d; all PEs must pass the same",
              wtl_shmem_call_here(call), name, (long long)mine, (long long)theirs, pe);
}

/* Ends the job with an error: PE `pe` of the job has published `theirs`. */
static void refuse_unlike(uint32_t call, const wtl_shmem_collective_arguments *m, const uint64_t mine[],
                          const uint64_t theirs[], int pe)
{
  const char *names[] = {[COUNT] = m->count_name, [ROOT] = "PE_root", [DST] = "dst", [SST] = "sst"};
  if (mine[WTL_PUBLISHED_SERIAL] != theirs[WTL_PUBLISHED_SERIAL])
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: PE %d is not in this call: it has ended, or is in another one; all PEs of a team must make the "
                "same calls in the same order",
                wtl_shmem_call_here(call), pe);
  if (mine[KIND] != theirs[KIND])
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: PEs are in different calls: PE %d is in %s; all PEs of a team must make the same calls in the "
                "same order",
                wtl_shmem_call_here(call), pe, wtl_shmem_call_name((uint32_t)theirs[CALL]));
  for (int i = COUNT; i <= SST; i++)
    if (mine[i] != theirs[i]) refuse_values(call, names[i], mine[i], theirs[i], pe);
  int which = mine[DEST] != theirs[DEST] ? DEST : SOURCE;
  refuse_places(call, which == DEST ? "dest" : "source", mine[which], theirs[which], pe);
}

void wtl_shmem_compare_collective(wtl_pe *self, wtl_site *site, uint32_t call, wtl_team *t,
                                  const wtl_shmem_collective_arguments *m)
{
  bool moves = m->dest && (!m->count_name || m->count);
  uint64_t theirs[WORDS], mine[WORDS] = {
                              [KIND] = m->as == WTL_COMPARED_AS_ITSELF ? call : UINT64_MAX - m->as,
                              [COUNT] = m->count_name ? m->count : 0,
                              [ROOT] = (uint64_t)m->root,
                              [DST] = (uint64_t)m->dst,
                              [SST] = (uint64_t)m->sst,
                              [DEST] = moves ? place_of(self, m->dest) : 0,
                              [SOURCE] = moves && m->count_name ? place_of(self, m->source) : 0,
                              [CALL] = call,
                          };
  const wtl_area dest = {"dest", m->dest, m->dest_bytes}, source = {"source", m->source, m->source_bytes};
  if (wtl_areas_overlap(dest, source)) wtl_shmem_refuse_overlap(call, dest, source, false);
  if (t->n == 1 || (t->sync && self->threads_anywhere)) return; /* the active sets of threads share their words */
  int pe = wtl_team_compare(self, site, t, mine, theirs);
  if (pe >= 0) refuse_unlike(call, m, mine, theirs, pe);
}
