/*
 * group_arguments.c - compares the arguments of a collective among the members of an ARMCI group. Each member sends its
 * call and arguments to every other one, and all compare them before the call begins. So a member that waits knows
 * which others have not arrived.
 */
#include <string.h>

#include "base/error.h"
#include "check/deadlock.h"
#include "global/group.h"
#include "global/tagged.h"
#include "os/floats.h"
#include "os/os.h"
#include "profile/error_place.h"
#include "record/record.h"

/* A wait for the words of member `i`. Those of the members before it have arrived. */
typedef struct wait {
  wtl_pe *self;
  const wtl_group *group;
  int64_t tag;
  int i;
  const char *name; /* of the call */
  uint64_t began_ns;
} wait;

static bool has_sent(const wait *w, int i)
{
  return i == w->group->me || wtl_tagged_has_any(w->self, (wtl_envelope){w->group->pe[i], w->group->context, w->tag});
}

static bool has_arrived(void *arg)
{
  const wait *w = arg;
  return has_sent(w, w->i);
}

/* Reports a late member. Only the first member that waits reports it. */
static void report_late(void *arg)
{
  WTL_FLOATS_APART;
  const wait *w = arg;
  const wtl_group *g = w->group;
  double waited = (double)(wtl_clock_ns() - w->began_ns) * 1e-9;
  if (waited < WTL_LATE_AFTER * w->self->settings.patience.seconds) return;
  for (int i = 0; i < g->me; i++)
    if (i < w->i || has_sent(w, i)) return;
  if (atomic_exchange(&w->self->reported_late, true)) return;
  wtl_message_print("%s: has waited %.3g s for PE %d of a group of %d PEs, the first of them PE %d; it keeps waiting; "
                    "this is reported "
                    "once",
                    wtl_error_place(w->name), waited, g->pe[w->i], g->n, g->pe[0]);
}

int wtl_group_compare(wtl_pe *self, wtl_site *site, wtl_group *g, const uint64_t words[WTL_PUBLISHED_WORDS],
                      uint64_t theirs[WTL_PUBLISHED_WORDS])
{
  const size_t bytes = WTL_PUBLISHED_WORDS * sizeof *words, compared = bytes - sizeof *words; /* without the call */
  uint64_t first[WTL_PUBLISHED_WORDS], other[WTL_PUBLISHED_WORDS];
  const char *name = wtl_call_of(self->record->calls, (uint32_t)words[WTL_PUBLISHED_WORDS - 1])->name;
  wait w = {self, g, g->calls++, 0, name, wtl_clock_ns()};
  int found = -1;
  for (int i = 0; i < g->n; i++)
    if (i != g->me) wtl_tagged_send(self, site, g->pe[i], g->context, w.tag, words, bytes);
  for (; w.i < g->n; w.i++) {
    memcpy(other, words, bytes);
    if (w.i != g->me) {
      wtl_door_wait_with_checks(&self->door, site, WTL_WATCH_ALL, has_arrived, &w, self->settings.patience.seconds,
                                report_late);
      wtl_tagged_receive(self, site, name, (wtl_envelope){g->pe[w.i], g->context, w.tag}, other, bytes, NULL);
    }
    if (w.i == 0) memcpy(first, other, bytes);
    if (found < 0 && memcmp(first, other, compared) != 0) found = w.i;
  }
  if (found < 0) return -1;
  if (found == g->me) {
    memcpy(theirs, first, bytes);
    return g->pe[0];
  }
  wtl_group_barrier(self, site, g); /* the PE that differs reports the error and ends the job */
  return -1;
}
