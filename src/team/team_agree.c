/* team_agree.c - the agreement of the PEs of a team on entries for the new teams of a split (team.h has the
 * protocol). */
#include <string.h>

#include "team/team.h"
#include "team/barrier.h"
#include "pgas/far.h"

bool wtl_range_has(const wtl_range *r, int pe)
{
  int i = r->stride ? (pe - r->start) / r->stride : 0;
  return i >= 0 && i < r->n && r->start + i * r->stride == pe;
}

static bool may_choose(wtl_pe *self, const wtl_team *parent)
{
  uint64_t mine = 1ull << parent->entry, splits = atomic_fetch_or(&self->splits, mine);
  return (splits & (mine - 1)) == 0 && !atomic_exchange(&self->is_choosing, true);
}

static void has_chosen(wtl_pe *self)
{
  atomic_store(&self->is_choosing, false);
}

enum { FREE_ENTRIES, WORDS, NODE };
enum { NOT_NOW = 1 << WTL_ENTRY_OF_NODE }; /* a value of FREE_ENTRIES, which never contains this entry */

/* Takes the lowest `n` entries that are free in `free_entries`. */
static bool choose(uint64_t free_entries, int n, int entries[])
{
  for (int i = 0; i < n; i++) {
    if (!free_entries) return false;
    entries[i] = __builtin_ctzll(free_entries);
    free_entries &= free_entries - 1;
  }
  return true;
}

typedef struct agreement {
  uint64_t free_entries; /* on all members */
  bool chooses;          /* all PEs may choose */
  int other;             /* a member with another request; -1: none */
} agreement;

/* Reads the words of all PEs of the parent. */
static agreement read_all_words(wtl_pe *self, wtl_site *site, const wtl_split *s)
{
  const wtl_team *parent = s->parent;
  agreement a = {.free_entries = UINT64_MAX, .chooses = true, .other = -1};
  size_t offset = wtl_entry_offset(parent->entry) + offsetof(wtl_team_entry, exchange);
  bool is_member = wtl_range_has(&s->members, parent->me);
  for (int i = 0; i < parent->n; i++) {
    int pe = wtl_team_pe(self, parent, i);
    uint64_t exchange[NODE + 1];
    if (self->slot_of[pe] >= 0)
      memcpy(exchange, wtl_entry_of(self, pe, parent->entry)->exchange, sizeof exchange);
    else
      wtl_far_entry_get(self, site, exchange, sizeof exchange, pe, offset);
    s->node_of[i] = (int)exchange[NODE];
    a.chooses = a.chooses && exchange[FREE_ENTRIES] != NOT_NOW;
    if (!wtl_range_has(&s->members, i)) continue;
    a.free_entries &= exchange[FREE_ENTRIES];
    if (is_member && exchange[WORDS] != s->words) a.other = pe;
  }
  return a;
}

int wtl_team_agree(wtl_pe *self, wtl_site *site, wtl_split *s)
{
  wtl_team *parent = s->parent;
  uint64_t *mine = wtl_entry_of(self, self->me, parent->entry)->exchange;
  agreement all;
  /* No PE chooses before all have arrived. Otherwise a PE might first arrive in the split of another thread, which
   * would wait for this one. */
  if (self->threads_anywhere) wtl_team_barrier(self, site, parent);
  for (;;) {
    bool chooses = may_choose(self, parent);
    mine[FREE_ENTRIES] = chooses ? ~self->entries_taken : NOT_NOW;
    mine[WORDS] = s->words;
    mine[NODE] = (uint64_t)self->boot.node;
    wtl_team_barrier(self, site, parent);
    all = read_all_words(self, site, s);
    if (all.chooses) break;
    if (chooses) has_chosen(self);
    wtl_team_barrier(self, site, parent); /* all have read the words */
  }
  bool found = choose(all.free_entries, s->n, s->entries);
  for (int i = 0; found && i < s->n && wtl_range_has(&s->members, parent->me); i++)
    atomic_fetch_or(&self->entries_taken, 1ull << s->entries[i]);
  atomic_fetch_and(&self->splits, ~(1ull << parent->entry));
  has_chosen(self);
  if (all.other >= 0) return 1 + all.other;
  return found ? 0 : -1;
}
