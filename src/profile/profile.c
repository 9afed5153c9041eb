#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

_Thread_local wtl_thread_profile wtl_thread_sites;

void wtl_profile_start(wtl_profile *p, bool on)
{
  static _Atomic uint64_t generations;
  p->on = on;
  p->tables = NULL;
  p->generation = ++generations;
}

void wtl_profile_stop(wtl_profile *p)
{
  for (wtl_site_table *t = p->tables, *next; t; t = next) {
    next = t->next;
    free(t->slots);
    free(t);
  }
  p->tables = NULL;
  p->on = false;
  p->generation = 0; /* matches no thread, so a table that is gone is not used again */
}

/* No memory for a table: calls of all such threads go uncounted into this one. */
static wtl_site nowhere[1];
static wtl_site_table no_table = {.slots = nowhere};

wtl_site_table *wtl_profile_table(wtl_profile *p)
{
  wtl_site_table *t = calloc(1, sizeof *t);
  if (t) t->slots = calloc(FIRST_SLOTS, sizeof *t->slots);
  if (!t || !t->slots) {
    free(t);
    return &no_table;
  }
  t->mask = FIRST_SLOTS - 1;
  t->spare.calls = WTL_FIRST_CALLS + 1; /* past its first calls and between samples: what nobody counts nobody times */
  t->next = p->tables;
  while (!atomic_compare_exchange_weak(&p->tables, &t->next, t)) continue;
  wtl_thread_sites.table = t;
  wtl_thread_sites.generation = p->generation;
  return t;
}

static wtl_site *probe(wtl_site *slots, uint32_t mask, uintptr_t addr, uint32_t call)
{
  uint32_t i = wtl_site_hash(addr, call) & mask;
  while (slots[i].addr && (slots[i].addr != addr || slots[i].call != call)) i = (i + 1) & mask;
  return &slots[i];
}

static bool grow(wtl_site_table *t)
{
  uint32_t mask = t->mask * 2 + 1;
  wtl_site *slots = calloc((size_t)mask + 1, sizeof *slots);
  if (!slots) return false;
  for (uint32_t i = 0; i <= t->mask; i++)
    if (t->slots[i].addr) *probe(slots, mask, t->slots[i].addr, t->slots[i].call) = t->slots[i];
  free(t->slots);
  t->slots = slots;
  t->mask = mask;
  return true;
}

wtl_site *wtl_profile_find(wtl_site_table *t, uintptr_t addr, uint32_t call)
{
  wtl_site *site;
  if (t == &no_table || (t->used * 3 > t->mask * 2 && !grow(t))) return &t->spare;
  site = probe(t->slots, t->mask, addr, call);
  if (!site->addr) {
    site->addr = addr;
    site->call = call;
    t->used++;
  }
  return site;
}

uint64_t wtl_profile_bytes(const wtl_profile *p)
{
  uint64_t bytes = 0;
  for (const wtl_site_table *t = p->tables; t; t = t->next) bytes += t->bytes;
  return bytes;
}

double wtl_site_ticks(const wtl_site *s)
{
  uint64_t others = s->calls - s->exact_calls;
  if (others == 0) return (double)s->exact_ticks;
  if (s->sampled_calls)
    return (double)s->exact_ticks + (double)s->sampled_ticks / (double)s->sampled_calls * (double)others;
  if (s->exact_calls)
    return (double)s->exact_ticks / (double)s->exact_calls * (double)s->calls; /* too few calls for a sample */
  return NAN;
}

static void add(wtl_site *to, const wtl_site *s)
{
  to->addr = s->addr;
  to->call = s->call;
  to->calls += s->calls;
  to->bytes += s->bytes;
  to->exact_calls += s->exact_calls;
  to->exact_ticks += s->exact_ticks;
  to->sampled_calls += s->sampled_calls;
  to->sampled_ticks += s->sampled_ticks;
  to->waits += s->waits;
  for (int k = 0; k < WTL_N_STAGES; k++) to->wait_ticks[k] += s->wait_ticks[k];
}

wtl_site *wtl_profile_merge(wtl_profile *p, uint64_t *n)
{
  uint64_t used = 0, size = 8;
  wtl_site *all;
  *n = 0;
  for (wtl_site_table *t = p->tables; t; t = t->next) used += t->used;
  while (size < used * 2) size *= 2;
  if (!p->on || !(all = calloc(size, sizeof *all))) return NULL;
  for (wtl_site_table *t = p->tables; t; t = t->next)
    for (uint32_t i = 0; i <= t->mask; i++)
      if (t->slots[i].addr) add(probe(all, (uint32_t)size - 1, t->slots[i].addr, t->slots[i].call), &t->slots[i]);
  for (uint64_t i = 0; i < size; i++)
    if (all[i].addr) all[(*n)++] = all[i];
  return all;
}
