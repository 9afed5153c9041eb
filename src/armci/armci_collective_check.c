/* armci_collective_check.c - with SHMEM_DEBUG, compares the calls and arguments of all processes before a collective
 * begins, as src/shmem/collective_check.c does for OpenSHMEM. Processes that wait for others in vain are reported,
 * too (check/deadlock.h). */
#include "armci/armci_front.h"
#include "record/record.h"
#include "team/team.h"

/* The words that a process publishes, in this order. The call itself may differ between barriers. */
enum { KIND = WTL_PUBLISHED_SERIAL + 1, BYTES, ROOT, CALL = WTL_PUBLISHED_WORDS - 1 };

static const char same_calls[] = "all processes must make the same calls in the same order";

/* The name of a call, which may be one of another front end. */
static const char *name_of(const wtl_pe *self, uint64_t call)
{
  return self->record->calls[call / WTL_CALLS_A_FRONT] ? wtl_call_of(self->record->calls, (uint32_t)call)->name
                                                       : "another library's call";
}

static void refuse_unlike(const wtl_frame *f, const uint64_t mine[], const uint64_t theirs[], int proc)
{
  const char *call = wtl_error_place(f->name);
  if (mine[WTL_PUBLISHED_SERIAL] != theirs[WTL_PUBLISHED_SERIAL])
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: PE %d is not in this call: it has ended, or is in another one; %s", call, proc,
                same_calls);
  if (mine[KIND] != theirs[KIND])
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: processes are in different calls: PE %d is in %s; %s", call, proc,
                name_of(f->self, theirs[CALL]), same_calls);
  int which = mine[BYTES] != theirs[BYTES] ? BYTES : ROOT;
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: processes pass different arguments: %s %lld here, %lld on PE %d", call,
              which == BYTES ? "the bytes are" : "the root is", (long long)mine[which], (long long)theirs[which], proc);
}

void armci_compare_collective(const wtl_frame *f, wtl_group *g, bool is_barrier, size_t bytes, int root)
{
  uint64_t theirs[WTL_PUBLISHED_WORDS],
      mine[WTL_PUBLISHED_WORDS] = {[KIND] = is_barrier ? (uint64_t)WTL_CALL_ARMCI_Barrier : f->call,
                                   [BYTES] = bytes,
                                   [ROOT] = (uint64_t)root,
                                   [CALL] = f->call};
  if (g->n == 1) return;
  int proc = g->is_world ? wtl_team_compare(f->self, f->site, f->self->world, mine, theirs)
                         : wtl_group_compare(f->self, f->site, g, mine, theirs);
  if (proc >= 0) refuse_unlike(f, mine, theirs, proc);
}
