/* served.c - keeps the rows of requests that a PE served. */
#include "profile/served.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this many rows a search would become long. */
enum { MOST = WTL_SERVED_ROWS / 4 * 3 };

wtl_served_row *wtl_served_find(wtl_served *s, int pe, uint16_t mark)
{
  uint32_t i = (uint32_t)((((uint64_t)(uint32_t)pe << 16 | mark) * 0x9e3779b97f4a7c15ull) >> 32);
  s->common.used = true;
  s->common.pe = -1;
  if (!s->row && !(s->row = calloc(WTL_SERVED_ROWS, sizeof *s->row))) return &s->common;
  for (;; i++) {
    wtl_served_row *row = &s->row[i % WTL_SERVED_ROWS];
    if (row->used && (row->pe != pe || row->mark != mark)) continue;
    if (!row->used && s->used == MOST) return &s->common;
    if (!row->used) {
      row->used = true;
      row->pe = pe;
      row->mark = mark;
      s->used++;
    }
    return s->last = row;
  }
}

double wtl_served_sum(const wtl_served *s, enum wtl_server server)
{
  double sum = wtl_served_ticks(&s->common.by[server]);
  for (int i = 0; s->row && i < WTL_SERVED_ROWS; i++) sum += wtl_served_ticks(&s->row[i].by[server]);
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
  if (!from->row) return;
  for (int i = 0; i < WTL_SERVED_ROWS; i++) {
    const wtl_served_row *row = &from->row[i];
    if (row->used) add(wtl_served_find(to, row->pe, row->mark), row);
  }
  if (from->common.requests) add(&to->common, &from->common);
  to->common.pe = -1;
}

void wtl_served_free(wtl_served *s)
{
  free(s->row);
  memset(s, 0, sizeof *s);
}
