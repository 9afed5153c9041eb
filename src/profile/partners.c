/* partners.c - adds up runs of equal calls by partner and by size. */
#include "profile/partners.h"

#include <stdlib.h>
#include <string.h>

static int class_of(uint64_t bytes)
{
  int class = bytes ? 64 - __builtin_clzll(bytes) : 0;
  return class < WTL_PARTNERS_SIZES ? class : WTL_PARTNERS_SIZES - 1;
}

/* The row of a partner; NULL without memory, for no single partner and for PEs without a row. */
static wtl_partner *row_of(wtl_partners *p, int partner)
{
  if (partner < 0 || partner >= p->n) return NULL;
  if (!p->row) p->row = calloc((size_t)p->n, sizeof *p->row);
  return p->row ? &p->row[partner] : NULL;
}

/* The sizes of a call; NULL without memory. A program calls few routines that move bytes. */
static wtl_sizes *sizes_of(wtl_partners *p, uint32_t call)
{
  wtl_sizes *grown;
  for (int i = 0; i < p->n_sizes; i++)
    if (p->sizes[i].call == call) return &p->sizes[i];
  if (!(grown = realloc(p->sizes, ((size_t)p->n_sizes + 1) * sizeof *grown))) return NULL;
  p->sizes = grown;
  grown += p->n_sizes++;
  memset(grown, 0, sizeof *grown);
  grown->call = call;
  return grown;
}

void wtl_partners_add_run(wtl_partners *p, uint32_t call, uint64_t calls, const wtl_run *run)
{
  uint64_t times = calls - run->begun_at;
  if (times == 0) return;
  wtl_partner *row = row_of(p, run->partner);
  wtl_sizes *sizes = run->size ? sizes_of(p, call) : NULL;
  if (row) {
    row->calls += times;
    row->bytes += times * run->size;
  }
  if (sizes) sizes->count[class_of(run->size)] += times;
}

void wtl_partners_waited(wtl_partners *p, int partner, uint64_t ticks)
{
  wtl_partner *row = row_of(p, partner);
  if (row) row->wait_ticks += ticks;
}

void wtl_partners_add(wtl_partners *to, const wtl_partners *from)
{
  for (int i = 0; from->row && i < from->n; i++) {
    const wtl_partner *f = &from->row[i];
    wtl_partner *t = f->calls || f->wait_ticks ? row_of(to, i) : NULL;
    if (!t) continue;
    t->calls += f->calls;
    t->bytes += f->bytes;
    t->wait_ticks += f->wait_ticks;
  }
  for (int i = 0; i < from->n_sizes; i++) {
    wtl_sizes *t = sizes_of(to, from->sizes[i].call);
    for (int k = 0; t && k < WTL_PARTNERS_SIZES; k++) t->count[k] += from->sizes[i].count[k];
  }
}

void wtl_partners_free(wtl_partners *p)
{
  free(p->row);
  free(p->sizes);
  memset(p, 0, sizeof *p);
}
