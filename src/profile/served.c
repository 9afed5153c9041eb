/* served.c - keeps the rows of requests that a PE served. */
#include "profile/served.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX = 1024 }; /* so many more than rows that a search is short */

/* Returns the new row at *at of the index; NULL if there is no room or no memory. */
static wtl_served_row *add_row(wtl_served *s, uint16_t *at, int pe, uint16_t mark)
{
  if (s->used == WTL_SERVED_ROWS) return NULL;
  wtl_served_row **chunk = &s->chunk[s->used / WTL_SERVED_CHUNK];
  if (!*chunk && !(*chunk = calloc(WTL_SERVED_CHUNK, sizeof **chunk))) return NULL;
  wtl_served_row *row = wtl_served_row_at(s, s->used);
  row->used = true;
  row->pe = pe;
  row->mark = mark;
  *at = (uint16_t)++s->used;
  return row;
}

wtl_served_row *wtl_served_find(wtl_served *s, int pe, uint16_t mark)
{
  uint32_t i = (uint32_t)((((uint64_t)(uint32_t)pe << 16 | mark) * 0x9e3779b97f4a7c15ull) >> 32);
  s->common.used = true;
  s->common.pe = -1;
  if (!s->index && !(s->index = calloc(INDEX, sizeof *s->index))) return &s->common;
  for (;; i++) {
    uint16_t *at = &s->index[i % INDEX];
    wtl_served_row *row = *at ? wtl_served_row_at(s, *at - 1u) : add_row(s, at, pe, mark);
    if (!row) return &s->common;
    if (row->pe == pe && row->mark == mark) return s->last = row;
  }
}

double wtl_served_sum(const wtl_served *s, enum wtl_server server)
{
  double sum = wtl_served_ticks(&s->common.by[server]);
  for (uint32_t i = 0; i < s->used; i++) sum += wtl_served_ticks(&wtl_served_row_at(s, i)->by[server]);
  return sum;
}

static void add(wtl_served_row *to, const wtl_served_row *from)
{
  to->requests += from->requests;
  to->bytes += from->bytes;
  for (int i = 0; i < WTL_N_SERVERS; i++) {
    to->by[i].pieces += from->by[i].pieces;
    to->by[i].timed += from->by[i].timed;
    to->by[i].ticks += from->by[i].ticks;
  }
}

void wtl_served_add(wtl_served *to, const wtl_served *from)
{
  for (uint32_t i = 0; i < from->used; i++) {
    const wtl_served_row *row = wtl_served_row_at(from, i);
    add(wtl_served_find(to, row->pe, row->mark), row);
  }
  if (from->common.requests) add(&to->common, &from->common);
  to->common.pe = -1;
}

void wtl_served_free(wtl_served *s)
{
  free(s->index);
  for (int i = 0; i < WTL_SERVED_ROWS / WTL_SERVED_CHUNK; i++) free(s->chunk[i]);
  memset(s, 0, sizeof *s);
}
