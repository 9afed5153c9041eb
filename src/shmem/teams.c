/* teams.c - the calls of OpenSHMEM that make and end teams and contexts. */
#include "shmem/teams.h"

#include <stdlib.h>

#include "am/am.h"
#include "team/context.h"
#include "team/team.h"
#include "shmem/collective_check.h"
#include "shmem/shmem_memory.h"
#include "team/wait_until.h"

_Static_assert((int)SHMEM_SYNC_SIZE == (int)WTL_ACTIVE_WORDS, "a pSync has the words that the runtime uses");

/* --- handles ------------------------------------------------------------------------------------------------------ */

static void refuse_team(const wtl_frame *f, const char *name, const void *handle)
{
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: %s=%p is no team of this PE (destroyed, never made, SHMEM_TEAM_INVALID, or made without this PE)",
              wtl_shmem_call_here(f->call), name, handle);
}

wtl_team *wtl_shmem_team_or_none(const wtl_frame *f, const char *name, const void *handle)
{
  wtl_team *t = handle == SHMEM_TEAM_WORLD ? f->self->world : wtl_team_find(f->self, (uintptr_t)handle);
  if (!t && handle != SHMEM_TEAM_INVALID) refuse_team(f, name, handle);
  return t;
}

wtl_team *wtl_shmem_team_named(const wtl_frame *f, const char *name, const void *handle)
{
  wtl_team *t = wtl_shmem_team_or_none(f, name, handle);
  if (!t) refuse_team(f, name, handle);
  return t;
}

static wtl_ctx *context_named(const wtl_frame *f, const void *handle)
{
  wtl_ctx *c = wtl_context_find(f->self, (uintptr_t)handle);
  if (!c)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: ctx=%p is no context of this PE (destroyed, never made, or SHMEM_CTX_INVALID); allowed: "
                "SHMEM_CTX_DEFAULT and what shmem_ctx_create and shmem_team_create_ctx gave",
                wtl_shmem_call_here(f->call), handle);
  if (f->self->check && c->is_private && !pthread_equal(c->owner, pthread_self()))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: ctx=%p is private to the thread that made it (SHMEM_CTX_PRIVATE)",
                wtl_shmem_call_here(f->call), handle);
  return c;
}

void wtl_shmem_in_context(wtl_frame *f, const void *handle)
{
  f->flow = context_named(f, handle)->flow;
}

int wtl_shmem_pe_in_context(wtl_frame *f, const void *handle, int pe)
{
  const wtl_ctx *c = context_named(f, handle);
  f->flow = c->flow;
  if ((unsigned)pe >= (unsigned)c->team->n)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: there is no PE %d; the team of ctx=%p has PEs 0 to %d",
                wtl_shmem_call_here(f->call), pe, handle, c->team->n - 1);
  return wtl_team_pe(f->self, c->team, pe);
}

/* The world needs no pSync, which some programs have on the stack. But threads may be in several sets of all PEs at
 * once, which differ only by their pSync. */
static bool is_world(const wtl_pe *self, int n, const long *sync)
{
  if (n < self->n) return false;
  return !self->threads_anywhere || wtl_symmetric_bytes(self, sync) < SHMEM_SYNC_SIZE * sizeof *sync;
}

wtl_team *wtl_shmem_active_set_of(const wtl_frame *f, wtl_team *set, int start, int log_stride, int n, long *sync)
{
  wtl_pe *self = f->self;
  int asked_stride = log_stride;
  if (n == 1) log_stride = 0; /* there is no next PE */
  bool good = start >= 0 && log_stride >= 0 && log_stride < 31 && n >= 1 &&
              start + ((long long)(n - 1) << log_stride) < self->n;
  if (!good)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: PE_start=%d, logPE_stride=%d, PE_size=%d is no active set of this job, which has PEs 0 to %d",
                wtl_shmem_call_here(f->call), start, asked_stride, n, self->n - 1);
  if (is_world(self, n, sync)) return self->world;
  wtl_check_symmetric(f, "pSync", sync, SHMEM_SYNC_SIZE * sizeof *sync, self->me);
  wtl_check_alignment(f, "pSync", sync, sizeof *sync);
  wtl_active_set(self, set, start, 1 << log_stride, n, sync);
  if (set->me < 0)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE is not in the active set PE_start=%d, logPE_stride=%d, PE_size=%d",
                wtl_shmem_call_here(f->call), start, asked_stride, n);
  return set;
}

/* --- teams -------------------------------------------------------------------------------------------------------- */

static bool is_within(const wtl_range *p, int n)
{
  long long last = p->start + (long long)p->stride * (p->n - 1);
  return p->n >= 1 && p->start >= 0 && p->start < n && last >= 0 && last < n && (p->stride != 0 || p->n == 1);
}

/* A number for the request, by which PEs notice that their requests differ. */
static uint64_t words_of(uint64_t a, uint64_t b, uint64_t c)
{
  const uint64_t odd = 0x9e3779b97f4a7c15u;
  return ((a * odd + b) * odd + c) * odd;
}

static void make(wtl_frame *f, const wtl_split *s, const wtl_new_team *p, int entry)
{
  if (!wtl_range_has(&p->pes, s->parent->me)) return;
  wtl_team *t = wtl_team_make(f->self, s, &p->pes, entry);
  if (p->mask & SHMEM_TEAM_NUM_CONTEXTS) t->n_contexts = p->config->num_contexts;
  *p->team = (shmem_team_t)t->handle;
}

/* Reports that there is no free team entry. A team has the same entry on all its PEs. */
static void report_no_entry(const wtl_frame *f)
{
  wtl_message_print(
      "%s: no team can be made: its PEs are in %d other teams together, the most at a time (shmem_team_destroy frees "
      "one); the call returns -1 on all PEs",
      wtl_shmem_call_here(f->call), WTL_MOST_TEAMS - WTL_FIRST_FREE_ENTRY);
}

/* Makes the `s->n` teams. If n is 0, there can be no such team. */
static int split(wtl_frame *f, wtl_split *s, const wtl_new_team *const teams[])
{
  wtl_pe *self = f->self;
  if (WTL_UNLIKELY(self->compares))
    wtl_shmem_compare_collective(self, f->site, f->call, s->parent, &(wtl_shmem_collective_arguments){0});
  s->node_of = malloc((size_t)s->parent->n * sizeof *s->node_of);
  if (!s->node_of) wtl_pe_fail(WTL_EXIT_OSERR, "%s: no memory for a team", wtl_shmem_call_here(f->call));
  int rc = wtl_team_agree(self, f->site, s);
  if (rc > 0)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: PEs pass different arguments: PE %d passes other values than this one",
                wtl_shmem_call_here(f->call), rc - 1);
  if (rc < 0 && s->parent->me == s->members.start) report_no_entry(f);
  for (int i = 0; rc == 0 && i < s->n; i++) make(f, s, teams[i], s->entries[i]);
  wtl_teams_made(self, f->site, s->parent);
  free(s->node_of);
  return s->n ? rc : -1;
}

static void check_config(const wtl_frame *f, const shmem_team_config_t *config, long mask)
{
  wtl_check_that(f, (mask & ~SHMEM_TEAM_NUM_CONTEXTS) == 0, "config_mask", mask, "0 and SHMEM_TEAM_NUM_CONTEXTS");
  wtl_check_local(f, "config", config, mask ? sizeof *config : 0);
}

/* Checks the configuration of a team to be made, which is read. */
static void check_new_team(const wtl_frame *f, const wtl_new_team *p)
{
  check_config(f, p->config, p->mask);
  if (p->mask && f->self->check)
    wtl_check_that(f, p->config->num_contexts >= 0, "num_contexts", p->config->num_contexts, "0 and more");
}

int wtl_shmem_split_strided(wtl_frame *f, shmem_team_t parent, const wtl_new_team *p)
{
  wtl_team *t = wtl_shmem_team_or_none(f, "parent_team", parent);
  wtl_split s = {.parent = t, .members = p->pes, .n = 1};
  s.words = words_of((uint32_t)p->pes.start, (uint32_t)p->pes.stride, (uint32_t)p->pes.n);
  check_new_team(f, p);
  *p->team = SHMEM_TEAM_INVALID;
  if (!t) return -1;
  /* Programs split a team into several by one call, each PE for its own team. So the requests of other PEs are not
   * compared. */
  if (!is_within(&p->pes, t->n)) s.members = (wtl_range){.stride = 1, .n = t->n}, s.n = 0;
  return split(f, &s, &p);
}

int wtl_shmem_split_2d(wtl_frame *f, shmem_team_t parent, int xrange, wtl_new_team *row, wtl_new_team *column)
{
  wtl_team *t = wtl_shmem_team_or_none(f, "parent_team", parent);
  check_new_team(f, row);
  check_new_team(f, column);
  *row->team = *column->team = SHMEM_TEAM_INVALID;
  if (!t || xrange < 1) return -1;
  int width = xrange < t->n ? xrange : t->n, x = t->me % width, first = t->me - x, left = t->n - first;
  row->pes = (wtl_range){first, 1, left < width ? left : width};
  column->pes = (wtl_range){x, width, (t->n - x + width - 1) / width};
  /* The entries of a row and of a column must differ where they cross, so all PEs agree on both. */
  wtl_split s = {.parent = t, .members = {.stride = 1, .n = t->n}, .n = 2};
  s.words = words_of((uint32_t)xrange, 2, 2);
  return split(f, &s, (const wtl_new_team *const[]){row, column});
}

int wtl_shmem_get_config(wtl_frame *f, shmem_team_t team, long mask, shmem_team_config_t *config)
{
  const wtl_team *t = wtl_shmem_team_or_none(f, "team", team);
  check_config(f, config, mask);
  if (!t) return -1;
  if (mask & SHMEM_TEAM_NUM_CONTEXTS) config->num_contexts = t->n_contexts;
  return 0;
}

void wtl_shmem_team_destroy(wtl_frame *f, shmem_team_t team)
{
  wtl_team *t = wtl_shmem_team_or_none(f, "team", team);
  if (!t) return;
  if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s lasts as long as the program", wtl_shmem_call_here(f->call),
                team == SHMEM_TEAM_WORLD ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
  for (wtl_ctx *c = NULL; (c = wtl_context_next(f->self, t, c)) != NULL;) {
    wtl_check_that(f, !c->is_private, "team", (long long)(intptr_t)team,
                   "teams whose private contexts are destroyed (SHMEM_CTX_PRIVATE)");
    wtl_context_free(f->self, f->site, wtl_shmem_call_name(f->call), c);
  }
  if (WTL_UNLIKELY(f->self->compares))
    wtl_shmem_compare_collective(f->self, f->site, f->call, t, &(wtl_shmem_collective_arguments){0});
  wtl_team_free(f->self, f->site, t);
}

int wtl_shmem_translate(wtl_frame *f, shmem_team_t from, int pe, shmem_team_t to)
{
  wtl_team *source = wtl_shmem_team_or_none(f, "src_team", from), *dest = wtl_shmem_team_or_none(f, "dest_team", to);
  if (!source || !dest || pe < 0 || pe >= source->n) return -1;
  return wtl_team_number(f->self, dest, wtl_team_pe(f->self, source, pe));
}

void *wtl_shmem_team_ptr(wtl_frame *f, shmem_team_t team, const void *dest, int pe)
{
  wtl_team *t = wtl_shmem_team_or_none(f, "team", team);
  if (!t || pe < 0 || pe >= t->n) return NULL;
  return wtl_shmem_ptr(f->self, dest, wtl_team_pe(f->self, t, pe));
}

/* --- contexts ----------------------------------------------------------------------------------------------------- */

int wtl_shmem_ctx_create(wtl_frame *f, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
  wtl_team *t = wtl_shmem_team_or_none(f, "team", team);
  const long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  wtl_check_that(f, (options & ~known) == 0, "options", options,
                 "0 and SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE");
  wtl_ctx *c = t ? wtl_context_make(f->self, t, options, options & SHMEM_CTX_PRIVATE) : NULL;
  *ctx = c ? (shmem_ctx_t)atomic_load(&c->handle) : SHMEM_CTX_INVALID;
  return c ? 0 : -1;
}

void wtl_shmem_ctx_destroy(wtl_frame *f, shmem_ctx_t ctx)
{
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: SHMEM_CTX_DEFAULT lasts as long as the program", wtl_shmem_call_here(f->call));
  wtl_context_free(f->self, f->site, wtl_shmem_call_name(f->call), context_named(f, ctx));
}

int wtl_shmem_ctx_get_team(wtl_frame *f, shmem_ctx_t ctx, shmem_team_t *team)
{
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return -1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : (shmem_team_t)context_named(f, ctx)->team_handle;
  return 0;
}

/* On one node no operation waits for more. To other nodes small operations of a batch travel together, by hardware
 * too. */
void wtl_shmem_session(wtl_frame *f, shmem_ctx_t ctx, bool starts, long options)
{
  if (ctx == SHMEM_CTX_INVALID) return;
  const long known = SHMEM_CTX_SESSION_BATCH | SHMEM_CTX_SESSION_SAME_AMO; /* SAME_AMO would gain nothing */
  wtl_check_that(f, (options & ~known) == 0, "options", options,
                 "0, SHMEM_CTX_SESSION_BATCH, SHMEM_CTX_SESSION_SAME_AMO and both");
  wtl_net_flow *flow = ctx == SHMEM_CTX_DEFAULT ? NULL : context_named(f, ctx)->flow;
  if (!f->self->net || (starts && !(options & SHMEM_CTX_SESSION_BATCH))) return;
  wtl_net_batch(f->self->net, flow, starts);
}

void wtl_shmem_pe_quiet(wtl_frame *f, shmem_ctx_t ctx, const int *pes, size_t n)
{
  if (ctx == SHMEM_CTX_INVALID) return;
  wtl_check_count(f, n, sizeof *pes);
  wtl_check_local(f, "target_pes", pes, n * sizeof *pes);
  for (size_t i = 0; i < n; i++) {
    int pe = pes[i];
    if (ctx == SHMEM_CTX_DEFAULT)
      wtl_check_pe(f, pe);
    else
      pe = wtl_shmem_pe_in_context(f, ctx, pe);
    wtl_pe_quiet(f->self, f->flow, f->site, pe);
  }
}

int wtl_shmem_am_target(wtl_frame *f, shmem_ctx_t ctx, int dest, uint64_t **done)
{
  *done = NULL;
  if (ctx == SHMEM_CTX_DEFAULT) {
    wtl_check_pe(f, dest);
    return dest;
  }
  wtl_ctx *c = context_named(f, ctx);
  dest = wtl_shmem_pe_in_context(f, ctx, dest);
  *done = wtl_context_am_begins(c);
  return dest;
}

void wtl_shmem_ctx_am_quiet(wtl_frame *f, shmem_ctx_t ctx)
{
  if (ctx == SHMEM_CTX_DEFAULT)
    wtl_am_quiet(f->self, f->site, wtl_shmem_call_name(f->call));
  else
    wtl_context_am_quiet(f->self, f->site, wtl_shmem_call_name(f->call), context_named(f, ctx));
}
