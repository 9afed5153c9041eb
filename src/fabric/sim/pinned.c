/* pinned.c - keeps the registered pages of a simulated PE as ranges, which grow together. */
#include "fabric/sim/pinned.h"

#include <stdlib.h>
#include <string.h>

/* The first range that ends at page `first` or later. */
static size_t find(const wtl_pinned *p, uintptr_t first)
{
  size_t lo = 0, hi = p->n;
  while (lo < hi) {
    size_t middle = lo + (hi - lo) / 2;
    if (p->ranges[middle].last < first)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static void insert(wtl_pinned *p, size_t at, struct wtl_pinned_range range)
{
  if (p->n == p->space) {
    p->space = p->space ? 2 * p->space : 16;
    if (!(p->ranges = realloc(p->ranges, p->space * sizeof *p->ranges))) abort();
  }
  memmove(p->ranges + at + 1, p->ranges + at, (p->n - at) * sizeof *p->ranges);
  p->ranges[at] = range;
  p->n++;
}

size_t wtl_pinned_add(wtl_pinned *p, const void *start, size_t n)
{
  uintptr_t first = (uintptr_t)start / WTL_PAGE_BYTES, last = ((uintptr_t)start + n - 1) / WTL_PAGE_BYTES + 1;
  struct wtl_pinned_range whole = {first, last};
  size_t at = find(p, first), end = at, known = 0;
  if (!n) return 0;
  for (; end < p->n && p->ranges[end].first <= last; end++) {
    struct wtl_pinned_range r = p->ranges[end];
    uintptr_t from = r.first > first ? r.first : first, to = r.last < last ? r.last : last;
    if (to > from) known += to - from;
    if (r.first < whole.first) whole.first = r.first;
    if (r.last > whole.last) whole.last = r.last;
  }
  if (end == at) {
    insert(p, at, whole);
  } else {
    p->ranges[at] = whole;
    memmove(p->ranges + at + 1, p->ranges + end, (p->n - end) * sizeof *p->ranges);
    p->n -= end - at - 1;
  }
  return last - first - known;
}

void wtl_pinned_free(wtl_pinned *p)
{
  free(p->ranges);
  *p = (wtl_pinned){0};
}
