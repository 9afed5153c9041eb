/* The symmetric heap's calls: alignment, zeros, contents kept by realloc, symmetry of a long random trace, an exhausted
 * heap that recovers. */
#include <shmem.h>

#include "pes.h"

enum { SLOTS = 40, TURNS = 400 };

typedef struct block {
  unsigned char *p;
  size_t bytes;
  unsigned char mark;
} block;

static void fill(block *b, size_t bytes, unsigned char mark)
{
  b->bytes = bytes;
  b->mark = mark;
  if (b->p) memset(b->p, mark, bytes);
}

static void expect_mark(const block *b, size_t bytes, const char *when)
{
  for (size_t i = 0; i < bytes; i++)
    if (b->p[i] != b->mark) {
      EXPECT(b->p[i] == b->mark, "byte %zu of %zu %s", i, b->bytes, when);
      return;
    }
}

/* Whether all PEs got the same offset: the neighbour's block, by shmem_ptr, must be where the neighbour says it is. */
static void expect_symmetric(const void *p)
{
  int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
  static const uint64_t token = 0x5eed;
  uint64_t *word = (uint64_t *)(uintptr_t)p;
  *word = token + (uint64_t)me;
  shmem_barrier_all();
  EXPECT(shmem_uint64_g(word, right) == token + (uint64_t)right, "the block of PE %d lies elsewhere", right);
  shmem_barrier_all();
}

static void *allocate(uint64_t *random, size_t bytes)
{
  switch (next_random(random) % 4) {
  case 0: return shmem_malloc(bytes);
  case 1: {
    void *p = shmem_malloc_with_hints(bytes, SHMEM_MALLOC_ATOMICS_REMOTE);
    EXPECT(p, "%zu bytes with a hint", bytes);
    return p;
  }
  case 2: {
    unsigned char *p = shmem_calloc(bytes / 8 + 1, 8);
    for (size_t i = 0; p && i < bytes; i++)
      if (p[i]) {
        EXPECT(p[i] == 0, "calloc's byte %zu", i);
        break;
      }
    return p;
  }
  default: {
    size_t align = (size_t)16 << next_random(random) % 13;
    void *p = shmem_align(align, bytes);
    EXPECT(((uintptr_t)p & (align - 1)) == 0, "shmem_align(%zu)", align);
    return p;
  }
  }
}

static void random_trace(void)
{
  block slots[SLOTS] = {{0}};
  uint64_t random = 42; /* the same on all PEs */
  for (int turn = 0; turn < TURNS; turn++) {
    block *b = &slots[next_random(&random) % SLOTS];
    size_t bytes = 8 + next_random(&random) % ((size_t)1 << (4 + next_random(&random) % 13));
    if (!b->p) {
      b->p = allocate(&random, bytes);
      EXPECT(b->p && (uintptr_t)b->p % 16 == 0, "%zu bytes: no room or badly aligned", bytes);
      fill(b, bytes, (unsigned char)turn);
      if (turn % 16 == 0) {
        expect_symmetric(b->p);
        fill(b, bytes, (unsigned char)turn);
      }
    } else if (next_random(&random) % 3 == 0) {
      unsigned char *p = shmem_realloc(b->p, bytes);
      EXPECT(p != NULL, "realloc to %zu", bytes);
      b->p = p;
      expect_mark(b, b->bytes < bytes ? b->bytes : bytes, "after realloc");
      fill(b, bytes, (unsigned char)turn);
    } else {
      expect_mark(b, b->bytes, "before free");
      shmem_free(b->p);
      b->p = NULL;
    }
  }
  for (int i = 0; i < SLOTS; i++) {
    if (slots[i].p) expect_mark(&slots[i], slots[i].bytes, "at the end");
    shmem_free(slots[i].p);
  }
}

static void corners(void)
{
  EXPECT(shmem_malloc(0) == NULL, "malloc of nothing");
  EXPECT(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL, "calloc of nothing");
  shmem_free(NULL);
  void *p = shmem_realloc(NULL, 100);
  EXPECT(p != NULL, "realloc of NULL is malloc");
  EXPECT(shmem_realloc(p, 0) == NULL, "realloc to nothing frees");
  EXPECT(shmem_align((size_t)64 << 20, 64) == NULL, "no block is aligned so far");
  /* SHMEM_SYMMETRIC_SIZE of this test is 8M. */
  void *most = shmem_malloc((size_t)7 << 20);
  EXPECT(most != NULL, "7 of 8 MiB");
  EXPECT(shmem_malloc((size_t)7 << 20) == NULL, "twice as much as there is");
  EXPECT(shmem_realloc(most, (size_t)64 << 20) == NULL, "realloc beyond the heap");
  shmem_free(most);
  most = shmem_malloc((size_t)7 << 20);
  EXPECT(most != NULL, "an exhausted heap recovers");
  shmem_free(most);
  unsigned char *all = shmem_malloc(16);
  memset(all, 7, 16);
  all = shmem_realloc(all, (size_t)8 << 20);
  EXPECT(all && all[0] == 7 && all[15] == 7, "realloc to all that there is");
  shmem_free(all);
}

/* Calls that do nothing wait for no PE: here one PE makes them alone. */
static void nothing_waits_for_nobody(void)
{
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    EXPECT(!shmem_malloc(0) && !shmem_align(64, 0) && !shmem_malloc_with_hints(0, 0), "memory for nothing");
    EXPECT(!shmem_calloc(0, 8) && !shmem_calloc(8, 0) && !shmem_realloc(NULL, 0), "memory for nothing");
    shmem_free(NULL);
  }
  shmem_barrier_all();
}

/* Programs ask for different sizes: all PEs get the largest, so what comes later lies at the same place on all of
 * them. */
static void sizes_may_differ(void)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
  size_t mine = 1000 * (size_t)(me + 1), rights = 1000 * (size_t)(right + 1);
  unsigned char *p = shmem_malloc(mine), *zeros = shmem_calloc(mine, 2), *last;
  EXPECT(p && zeros, "memory");
  p = shmem_realloc(p, 2 * mine);
  EXPECT(p != NULL, "memory");
  last = shmem_malloc(8);
  expect_symmetric(last);
  for (size_t i = 0; i < 2 * mine; i++)
    if (zeros[i]) {
      EXPECT(!zeros[i], "byte %zu", i);
      break;
    }
  for (size_t i = 0; i < 2 * rights; i++) shmem_uchar_p(p + i, (unsigned char)me, right);
  shmem_barrier_all();
  block b = {p, 2 * mine, (unsigned char)((me + n - 1) % n)};
  expect_mark(&b, b.bytes, "of another size");
  shmem_free(last);
  shmem_free(zeros);
  shmem_free(p);
}

/* A block that fills the heap can be made smaller, and its space is then free for others. */
static void shrinking_never_fails(void)
{
  unsigned char *p = shmem_malloc((size_t)8 << 20), *q, *other;
  EXPECT(p != NULL, "all of 8 MiB");
  memset(p, 0x5a, (size_t)8 << 20);
  q = shmem_realloc(p, (size_t)6 << 20);
  EXPECT(q == p, "a little smaller");
  q = shmem_realloc(p, (size_t)8 << 20);
  EXPECT(q == p, "as large as it was");
  q = shmem_realloc(p, (size_t)4 << 20);
  EXPECT(q != NULL, "half");
  block b = {q, (size_t)4 << 20, 0x5a};
  expect_mark(&b, b.bytes, "after shrinking");
  b.p = shmem_realloc(q, 1000);
  EXPECT(b.p != NULL, "small");
  expect_mark(&b, 1000, "after shrinking more");
  other = shmem_malloc((size_t)6 << 20);
  EXPECT(other != NULL, "what shrinking freed");
  shmem_free(other);
  shmem_free(b.p);
}

static int by_address(const void *a, const void *b)
{
  const char *p = *(char *const *)a, *q = *(char *const *)b;
  return (p > q) - (p < q);
}

/* Small blocks at each 512 KiB leave no piece that is larger, but where some of them are given back. */
static void shrinking_never_fails_where_there_is_no_other_room(void)
{
  const size_t apart = (size_t)512 << 10;
  enum { MOST = 64, GONE = 4 };
  char *pins[MOST], *p, *q;
  size_t n = 0;
  while (n < MOST && (pins[n] = shmem_align(apart, 8))) n++;
  EXPECT(n > 3 * GONE && n < MOST, "%zu blocks at 512 KiB each", n);
  qsort(pins, n, sizeof *pins, by_address);
  for (size_t i = 0; i < GONE; i++) shmem_free(pins[GONE + i]);
  p = shmem_malloc(GONE * apart);
  EXPECT(p > pins[GONE - 1] && p < pins[2 * GONE], "the one large piece");
  memset(p, 0x3c, GONE * apart);
  q = shmem_realloc(p, apart + 1000);
  EXPECT(q == p, "a third, with no room elsewhere");
  block b = {(unsigned char *)q, apart + 1000, 0x3c};
  expect_mark(&b, b.bytes, "after shrinking in place");
  shmem_free(q);
  for (size_t i = 0; i < n; i++)
    if (i < GONE || i >= 2 * GONE) shmem_free(pins[i]);
}

/* A block that another PE has allocated may be written to at once: here, too, it is no free block any more. */
static void a_block_may_be_written_to_at_once(void)
{
  int me = shmem_my_pe(), n = shmem_n_pes();
  for (int i = 0; i < 1000; i++) {
    unsigned char mark = (unsigned char)(i % 251 + 1), mine[96];
    unsigned char *p = shmem_malloc(sizeof mine * (size_t)n);
    memset(mine, mark, sizeof mine);
    for (int pe = 0; pe < n; pe++) shmem_putmem(p + sizeof mine * (size_t)me, mine, sizeof mine, pe);
    shmem_barrier_all();
    block b = {p, sizeof mine * (size_t)n, mark};
    expect_mark(&b, b.bytes, "written to at once");
    shmem_free(p);
  }
}

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  shmem_init();
  nothing_waits_for_nobody();
  a_block_may_be_written_to_at_once();
  corners();
  sizes_may_differ();
  shrinking_never_fails();
  shrinking_never_fails_where_there_is_no_other_room();
  random_trace();
  corners();
  shmem_finalize();
  return failures != 0;
}
