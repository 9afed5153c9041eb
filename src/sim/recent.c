/* recent.c - keeps the last use of each page that a PE copies. */
#include "sim/recent.h"

#include <stdint.h>
#include <stdlib.h>

enum { PAGE_SHIFT = 12, PAGE = 1 << PAGE_SHIFT, LEAST_SPACE = 64 };

/* A pass over a page: until as many bytes as the page has were moved in it, they come from the same level. */
typedef struct pass {
  uintptr_t page; /* 0: the entry is free */
  uint64_t begun; /* bytes that the PE had moved before */
  uint32_t moved; /* bytes of the page */
  enum wtl_sim_level level;
} pass;

static struct {
  pass *passes; /* a hash table with a power of two as its size */
  size_t space, n;
  uint64_t moved; /* bytes, by this PE */
} recent;

/* The entry of a page, or the free one for it. */
static pass *find(uintptr_t page)
{
  size_t last = recent.space - 1, i = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 32) & last;
  while (recent.passes[i].page && recent.passes[i].page != page) i = (i + 1) & last;
  return &recent.passes[i];
}

static void grow(void)
{
  pass *before = recent.passes;
  size_t n = recent.space;
  recent.space = n ? 2 * n : LEAST_SPACE;
  if (!(recent.passes = calloc(recent.space, sizeof *recent.passes))) abort();
  for (size_t i = 0; i < n; i++)
    if (before[i].page) *find(before[i].page) = before[i];
  free(before);
}

static enum wtl_sim_level use(uintptr_t page, uint32_t n, size_t whole)
{
  if (2 * recent.n >= recent.space) grow();
  pass *p = find(page);
  if (!p->page) {
    *p = (pass){page, recent.moved, n, wtl_sim_level_of(whole)};
    recent.n++;
  } else if (p->moved + n > PAGE) {
    *p = (pass){page, recent.moved, n, wtl_sim_level_of(recent.moved - p->begun)};
  } else {
    p->moved += n;
  }
  recent.moved += n;
  return p->level;
}

void wtl_recent_use(const void *at, size_t n, size_t whole, size_t bytes[WTL_SIM_LEVELS])
{
  uintptr_t begin = (uintptr_t)at, end = begin + n;
  while (begin < end) {
    uintptr_t next = ((begin >> PAGE_SHIFT) + 1) << PAGE_SHIFT;
    uint32_t part = (uint32_t)((next < end ? next : end) - begin);
    bytes[use(begin >> PAGE_SHIFT, part, whole)] += part;
    begin = next;
  }
}

enum wtl_sim_level wtl_recent_pass(size_t bytes)
{
  recent.moved += bytes;
  return wtl_sim_level_of(bytes);
}
