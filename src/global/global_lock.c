/* global_lock.c - queue locks whose longs lie in global memory (global_lock.h). */
#include "global/global_lock.h"

#include <stdio.h>

#include "global/global.h"
#include "team/lock.h"

static long *word_of(const wtl_queue_lock *l, int pe)
{
  const wtl_lock_at *at = l->at;
  return &at->words[pe][at->index];
}

static wtl_watch watch(const wtl_pe *self, const wtl_queue_lock *l)
{
  return wtl_global_watch(self, word_of(l, self->me));
}

static void name(const wtl_queue_lock *l, char *text, size_t size)
{
  snprintf(text, size, "mutex %d of process %d", ((const wtl_lock_at *)l->at)->number, l->home);
}

static const wtl_lock_memory global_memory = {WTL_GLOBAL, word_of, watch, name};

static wtl_queue_lock lock_of(const wtl_lock_at *at)
{
  return (wtl_queue_lock){&global_memory, at, at->home};
}

void wtl_global_lock_set(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call)
{
  wtl_queue_lock l = lock_of(at);
  wtl_queue_lock_set(self, site, &l, call);
}

bool wtl_global_lock_test(wtl_pe *self, wtl_site *site, const wtl_lock_at *at)
{
  wtl_queue_lock l = lock_of(at);
  return wtl_queue_lock_test(self, site, &l);
}

void wtl_global_lock_clear(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call)
{
  wtl_queue_lock l = lock_of(at);
  wtl_global_fence(self, site, -1);
  wtl_queue_lock_clear(self, site, &l, call);
}
