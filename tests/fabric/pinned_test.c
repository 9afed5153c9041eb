/* pinned_test.c - tests that the pages of a simulated network card are counted once each, against an array of flags. */
#include <stdlib.h>
#include <string.h>

#include "power/check.h"
#include "fabric/records.h"
#include "fabric/sim/pinned.h"

enum { PAGES = 300 };

static char *page(size_t i)
{
  return (char *)(uintptr_t)((1000 + i) * WTL_PAGE_BYTES);
}

static void a_range_counts_its_pages(void)
{
  wtl_pinned p = {0};
  CHECK(wtl_pinned_add(&p, page(0) + 100, 1) == 1 && wtl_pinned_add(&p, page(0), WTL_PAGE_BYTES) == 0);
  CHECK(wtl_pinned_add(&p, page(1) - 1, 2) == 1); /* the last byte of the first page and one of the next */
  CHECK(wtl_pinned_add(&p, page(5), 0) == 0);
  CHECK(p.n == 1);
  wtl_pinned_free(&p);
}

static void each_page_counts_once(void)
{
  wtl_pinned p = {0};
  bool is_known[PAGES] = {false};
  uint64_t random = 5;
  for (int round = 0; round < 5000; round++) {
    size_t first = next_random(&random) % PAGES, n = 1 + next_random(&random) % (round % 3 ? 3 : 40), added = 0;
    if (first + n > PAGES) n = PAGES - first;
    for (size_t i = first; i < first + n; i++) added += !is_known[i], is_known[i] = true;
    CHECK(wtl_pinned_add(&p, page(first), n * WTL_PAGE_BYTES) == added);
    for (size_t i = 1; i < p.n; i++) CHECK(p.ranges[i - 1].last < p.ranges[i].first);
    if (round % 200 == 0) {
      wtl_pinned_free(&p);
      memset(is_known, 0, sizeof is_known);
    }
  }
  wtl_pinned_free(&p);
}

TESTS(TEST(a_range_counts_its_pages), TEST(each_page_counts_once))
