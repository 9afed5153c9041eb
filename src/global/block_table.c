/* block_table.c - keeps the table of this PE's blocks of global memory, and copies of other PEs' tables
 * (block_table.h). */
#include "global/block_table.h"

#include <stdlib.h>

#include "base/error.h"
#include "pgas/rma.h"

/* The head of the table, at the front of each PE's global memory. */
typedef struct table_head {
  uint64_t turn; /* odd: a change is under way */
  uint64_t n, table;
} table_head;

/* A copy of another PE's table. */
typedef struct copy {
  wtl_block_entry *block;
  size_t n;
} copy;

struct wtl_block_table {
  pthread_mutex_t lock; /* protects the copies */
  table_head *mine;
  size_t capacity;
  size_t at; /* offset of `table_head` in a PE's memory: the same on all PEs */
  int n_pes;
  copy copies[]; /* by PE */
};

#define WORDS(thing) (sizeof(thing) / sizeof(uint64_t))

static wtl_block_entry *table_of(const table_head *t)
{
  return (wtl_block_entry *)(uintptr_t)t->table;
}

static void need_memory(const void *p)
{
  if (!p) wtl_pe_fail(WTL_EXIT_OSERR, "SHMEM_DEBUG: no memory to record what was allocated (raise WATTLE_GLOBAL_SIZE)");
}

static void *take(wtl_global *g, size_t bytes)
{
  void *p = wtl_heap_alloc(&g->heap, bytes, WTL_CACHE_LINE);
  need_memory(p);
  return p;
}

void wtl_blocks_start(wtl_pe *self, wtl_global *g)
{
  struct wtl_block_table *b = calloc(1, sizeof *b + (size_t)self->n * sizeof *b->copies);
  need_memory(b);
  pthread_mutex_init(&b->lock, NULL);
  b->capacity = 64;
  b->n_pes = self->n;
  b->mine = take(g, sizeof *b->mine);
  b->at = (size_t)((char *)b->mine - wtl_global_own(self));
  *b->mine = (table_head){.table = (uintptr_t)take(g, b->capacity * sizeof(wtl_block_entry))};
  g->blocks = b;
}

void wtl_blocks_stop(wtl_global *g)
{
  struct wtl_block_table *b = g->blocks;
  if (!b) return;
  for (int i = 0; i < b->n_pes; i++) free(b->copies[i].block);
  pthread_mutex_destroy(&b->lock);
  free(b);
  g->blocks = NULL;
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

/* Other PEs may read during a change. So words are stored one by one, between two increments of `turn`. */
static void set(uint64_t *word, uint64_t value)
{
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void set_block(wtl_block_entry *at, wtl_block_entry block)
{
  set(&at->start, block.start);
  set(&at->bytes, block.bytes);
}

void wtl_blocks_add(wtl_global *g, const void *p, size_t bytes)
{
  struct wtl_block_table *b = g->blocks;
  table_head *t = b->mine;
  wtl_block_entry *table = table_of(t), *old = NULL;
  if (t->n == b->capacity) {
    old = table;
    b->capacity *= 2;
    table = take(g, b->capacity * sizeof *table);
    for (uint64_t i = 0; i < t->n; i++) set_block(&table[i], old[i]);
  }
  set(&t->turn, t->turn + 1);
  set(&t->table, (uintptr_t)table);
  set_block(&table[t->n], (wtl_block_entry){(uintptr_t)p, bytes});
  set(&t->n, t->n + 1);
  set(&t->turn, t->turn + 1);
  if (old) wtl_heap_free(&g->heap, old);
}

void wtl_blocks_remove(wtl_global *g, const void *p)
{
  table_head *t = g->blocks->mine;
  wtl_block_entry *table = table_of(t);
  uint64_t i = 0;
  while (table[i].start != (uintptr_t)p) i++;
  set(&t->turn, t->turn + 1);
  set_block(&table[i], table[t->n - 1]);
  set(&t->n, t->n - 1);
  set(&t->turn, t->turn + 1);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Reads `n` words at an address of PE `pe`. */
static void fetch(wtl_pe *self, wtl_site *site, int pe, void *to, uint64_t from, size_t n)
{
  uint64_t *word = to, *there = (uint64_t *)(uintptr_t)from;
  _Atomic uint32_t left = 0;
  wtl_op op = {.self = self, .site = site, .pe = pe, .memory = WTL_GLOBAL, .left = &left};
  for (size_t i = 0; i < n; i++) wtl_amo(op, &there[i], (wtl_atomic){WTL_AMO_FETCH, sizeof *word, 0, 0}, &word[i]);
  wtl_far_wait(self, site, &left);
}

/* Reads all blocks of a PE as they were at one moment. */
static void read_blocks(wtl_pe *self, wtl_site *site, int pe, copy *c)
{
  uint64_t at = (uintptr_t)self->global_map.start[pe] + self->global->blocks->at;
  table_head before, after;
  do {
    fetch(self, site, pe, &before, at, WORDS(before));
    if (before.turn % 2 == 0) {
      need_memory(c->block = realloc(c->block, (before.n + 1) * sizeof *c->block));
      c->n = before.n;
      fetch(self, site, pe, c->block, before.table, c->n * WORDS(*c->block));
    }
    fetch(self, site, pe, &after, at, WORDS(after));
  } while (before.turn % 2 || before.turn != after.turn);
}

static wtl_block_entry find(const copy *c, uintptr_t p)
{
  for (size_t i = 0; i < c->n; i++)
    if (p - c->block[i].start < c->block[i].bytes) return c->block[i];
  return (wtl_block_entry){0};
}

wtl_block_entry wtl_block_at(wtl_pe *self, wtl_site *site, const void *p, int pe)
{
  struct wtl_block_table *b = self->global->blocks;
  pthread_mutex_lock(&b->lock);
  wtl_block_entry found = find(&b->copies[pe], (uintptr_t)p);
  if (!found.bytes || wtl_global_is_near(self, pe)) { /* the table of a near PE is read each time */
    read_blocks(self, site, pe, &b->copies[pe]);
    found = find(&b->copies[pe], (uintptr_t)p);
  }
  pthread_mutex_unlock(&b->lock);
  return found;
}

void wtl_blocks_forget(wtl_pe *self)
{
  struct wtl_block_table *b = self->global->blocks;
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  for (int i = 0; i < b->n_pes; i++) b->copies[i].n = 0;
  pthread_mutex_unlock(&b->lock);
}
