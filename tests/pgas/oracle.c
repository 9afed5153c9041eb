/*
 * Random programs against a sequential model.
 *
 * All PEs draw the same program from one seed, so each knows what every PE does in a phase, and keeps a copy of all PEs' memory as it must be.
 * A phase gives each chunk of memory of each PE one role, so that its end is determined whatever the interleaving:
 *   written   one PE writes it, by puts and AMOs of any form, in its program order (a fence between two that overlap)
 *   counted   all PEs change its words by one commutative operation
 *   read      nobody writes it; anybody may get it and must find what the model has
 * Phases end in a barrier, after which each PE compares its own memory with the model. Messages (data, fence, flag, wait_until) cross phases.
 *
 * usage: oracle FIRST_SEED SEEDS
 */
#include <shmem.h>

#include "pes.h"

enum { CHUNK = 64, CHUNKS = 32, BYTES = CHUNK * CHUNKS, PHASES = 25, OPS = 60, MAX_PES = 64 };
enum role { READ, WRITTEN, ADDED, XORED, N_ROLES };

typedef struct world {
  int me, n;
  unsigned char *mine;  /* symmetric, BYTES */
  uint64_t *flags;      /* symmetric, one from each PE */
  unsigned char *model; /* n x BYTES */
  unsigned char role[MAX_PES][CHUNKS], owner[MAX_PES][CHUNKS];
  bool fresh[MAX_PES][CHUNKS]; /* put to since the owner's last fence */
  uint64_t random, rounds;
} world;

static uint64_t pick(world *w, uint64_t below)
{
  return next_random(&w->random) % below;
}

static unsigned char *model_of(world *w, int pe, size_t at)
{
  return w->model + (size_t)pe * BYTES + at;
}

static void assign_roles(world *w)
{
  for (int pe = 0; pe < w->n; pe++)
    for (int c = 0; c < CHUNKS; c++) {
      w->role[pe][c] = (unsigned char)pick(w, N_ROLES);
      w->owner[pe][c] = (unsigned char)pick(w, (uint64_t)w->n);
      w->fresh[pe][c] = false;
    }
}

/* Any put of `n` bytes from `from`; the forms for words need an aligned target. */
static void put_somehow(world *w, void *to, const void *from, size_t n, int pe, uint64_t form)
{
  bool aligned = ((uintptr_t)to & 7) == 0 && ((uintptr_t)from & 7) == 0;
  uint64_t word;
  memcpy(&word, from, n < 8 ? n : 8);
  if (aligned && n == 8 && form % 4 == 0)
    shmem_uint64_p(to, word, pe);
  else if (aligned && n == 8 && form % 4 == 1)
    shmem_uint64_atomic_set(to, word, pe);
  else if (aligned && n % 8 == 0 && form % 4 == 2)
    shmem_put64(to, from, n / 8, pe);
  else if (form % 2)
    shmem_putmem(to, from, n, pe);
  else
    shmem_ctx_putmem_nbi(SHMEM_CTX_DEFAULT, to, from, n, pe);
  if (form % 4 == 3 || form % 2 == 0) shmem_quiet(); /* nbi: `from` is a variable of the caller */
}

static void order(world *w, int actor, uint64_t how)
{
  if (actor == w->me) {
    if (how % 3 == 0)
      shmem_quiet();
    else
      shmem_fence();
  }
  for (int pe = 0; pe < w->n; pe++)
    for (int c = 0; c < CHUNKS; c++)
      if (w->owner[pe][c] == actor) w->fresh[pe][c] = false;
}

static void write_chunk(world *w, int actor, int pe, int c)
{
  unsigned char from[CHUNK] __attribute__((aligned(8)));
  size_t at = pick(w, CHUNK), n = 1 + pick(w, CHUNK - at);
  uint64_t form = pick(w, 64);
  if (form % 2) at &= ~(size_t)7, n = 8 * (1 + n / 8);
  if (at + n > CHUNK) n = CHUNK - at;
  if (form >= 48) n = 8;
  if (at + n > CHUNK) at = CHUNK - n;
  for (size_t i = 0; i < CHUNK; i++) from[i] = (unsigned char)pick(w, 256);
  if (w->fresh[pe][c]) order(w, actor, form);
  w->fresh[pe][c] = true;
  if (actor == w->me) put_somehow(w, w->mine + (size_t)c * CHUNK + at, from, n, pe, form);
  memcpy(model_of(w, pe, (size_t)c * CHUNK + at), from, n);
}

/* The owner alone acts on the word, so what it fetches is what the model has. */
static void swap_word(world *w, int actor, int pe, int c)
{
  size_t at = (size_t)c * CHUNK + 8 * pick(w, CHUNK / 8);
  uint64_t value = next_random(&w->random), form = pick(w, 4), old, got = 0;
  uint64_t *target = (uint64_t *)(void *)(w->mine + at);
  memcpy(&old, model_of(w, pe, at), 8);
  if (w->fresh[pe][c]) order(w, actor, form);
  if (actor == w->me) {
    shmem_quiet();
    switch (form) {
    case 0: got = shmem_uint64_atomic_swap(target, value, pe); break;
    case 1: got = shmem_uint64_atomic_compare_swap(target, old, value, pe); break;
    case 2:
      shmem_uint64_atomic_swap_nbi(&got, target, value, pe);
      shmem_quiet();
      break;
    default:
      got = shmem_uint64_atomic_fetch(target, pe);
      shmem_uint64_atomic_set(target, value, pe);
      break;
    }
    EXPECT(got == old, "fetched %llx from PE %d, must be %llx", (unsigned long long)got, pe, (unsigned long long)old);
  }
  w->fresh[pe][c] = true;
  memcpy(model_of(w, pe, at), &value, 8);
}

static void count_word(world *w, int actor, int pe, int c)
{
  size_t at = (size_t)c * CHUNK + 8 * pick(w, CHUNK / 8);
  uint64_t value = next_random(&w->random), form = pick(w, 3), now, got;
  uint64_t *target = (uint64_t *)(void *)(w->mine + at);
  bool add = w->role[pe][c] == ADDED;
  if (actor == w->me) {
    if (add && form == 0)
      shmem_uint64_atomic_add(target, value, pe);
    else if (add && form == 1)
      (void)shmem_uint64_atomic_fetch_add(target, value, pe);
    else if (add)
      shmem_ctx_uint64_atomic_fetch_add_nbi(SHMEM_CTX_DEFAULT, &got, target, value, pe);
    else if (form == 0)
      shmem_uint64_atomic_xor(target, value, pe);
    else if (form == 1)
      (void)shmem_uint64_atomic_fetch_xor(target, value, pe);
    else
      shmem_uint64_atomic_fetch_xor_nbi(&got, target, value, pe);
    shmem_quiet();
  }
  memcpy(&now, model_of(w, pe, at), 8);
  now = add ? now + value : now ^ value;
  memcpy(model_of(w, pe, at), &now, 8);
}

static void read_chunk(world *w, int actor, int pe, int c)
{
  unsigned char to[CHUNK] __attribute__((aligned(8)));
  size_t at = pick(w, CHUNK), n = 1 + pick(w, CHUNK - at), from = (size_t)c * CHUNK + at;
  uint64_t form = pick(w, 4);
  if (actor != w->me) return;
  memset(to, 0, sizeof to);
  if (form == 0)
    shmem_getmem(to, w->mine + from, n, pe);
  else if (form == 1)
    shmem_get8(to, w->mine + from, n, pe);
  else if (form == 2)
    shmem_getmem_nbi(to, w->mine + from, n, pe), shmem_quiet();
  else
    for (size_t i = 0; i < n; i++) to[i] = shmem_uint8_g(w->mine + from + i, pe);
  EXPECT(memcmp(to, model_of(w, pe, from), n) == 0, "%zu bytes at %zu of PE %d", n, from, pe);
}

static void one_operation(world *w, int actor)
{
  int pe = (int)pick(w, (uint64_t)w->n), c = (int)pick(w, CHUNKS);
  uint64_t kind = pick(w, 8);
  switch (w->role[pe][c]) {
  case READ: read_chunk(w, actor, pe, c); break;
  case WRITTEN:
    if (w->owner[pe][c] != actor) break;
    if (kind < 5)
      write_chunk(w, actor, pe, c);
    else if (kind < 7)
      swap_word(w, actor, pe, c);
    else
      order(w, actor, kind);
    break;
  default: count_word(w, actor, pe, c);
  }
}

/* Each PE sends to one other a chunk of its own writing, then a flag; who gets a flag must find the chunk. Sends come before waits. */
static void messages(world *w)
{
  int to[MAX_PES], chunk[MAX_PES];
  w->rounds++;
  for (int from = 0; from < w->n; from++) {
    to[from] = (int)pick(w, (uint64_t)w->n);
    chunk[from] = -1;
    for (int c = 0; c < CHUNKS; c++)
      if (w->role[to[from]][c] == WRITTEN && w->owner[to[from]][c] == from) chunk[from] = c;
    if (chunk[from] < 0) continue;
    order(w, from, 1);
    write_chunk(w, from, to[from], chunk[from]);
    order(w, from, 1);
    if (from == w->me) shmem_uint64_p(&w->flags[from], w->rounds, to[from]);
  }
  for (int from = 0; from < w->n; from++) {
    if (chunk[from] < 0 || to[from] != w->me) continue;
    shmem_uint64_wait_until(&w->flags[from], SHMEM_CMP_GE, w->rounds);
    size_t at = (size_t)chunk[from] * CHUNK;
    EXPECT(memcmp(w->mine + at, model_of(w, w->me, at), CHUNK) == 0, "message %llu of PE %d",
           (unsigned long long)w->rounds, from);
  }
}

/* Whole-memory operations between phases, and the comparison that each phase ends with. */
static void finish_phase(world *w)
{
  shmem_barrier_all();
  EXPECT(memcmp(w->mine, model_of(w, w->me, 0), BYTES) == 0, "memory after a phase");
  int root = (int)pick(w, (uint64_t)w->n), c = (int)pick(w, CHUNKS), other = (int)pick(w, CHUNKS);
  size_t n = pick(w, CHUNK + 1);
  shmem_barrier_all(); /* nobody writes while another compares */
  if (c == other) return;
  shmem_uchar_broadcast(SHMEM_TEAM_WORLD, w->mine + (size_t)c * CHUNK, w->mine + (size_t)other * CHUNK, n, root);
  for (int pe = 0; pe < w->n; pe++)
    memcpy(model_of(w, pe, (size_t)c * CHUNK), model_of(w, root, (size_t)other * CHUNK), n);
}

static void run_seed(world *w, uint64_t seed)
{
  w->random = seed;
  for (int phase = 0; phase < PHASES; phase++) {
    assign_roles(w);
    for (int i = 0; i < OPS; i++)
      for (int actor = 0; actor < w->n; actor++) one_operation(w, actor);
    messages(w);
    finish_phase(w);
    if (failures == 0) continue;
    fprintf(stderr, "PE %d: seed %llu, phase %d\n", w->me, (unsigned long long)seed, phase);
    shmem_global_exit(1); /* what follows means nothing any more */
  }
}

static world *make_world(unsigned char *memory)
{
  world *w = calloc(1, sizeof *w);
  w->me = shmem_my_pe();
  w->n = shmem_n_pes();
  w->mine = memory;
  w->flags = shmem_calloc(MAX_PES, sizeof *w->flags);
  w->model = calloc((size_t)w->n, BYTES);
  return w;
}

static void run_world(unsigned char *memory, uint64_t first, uint64_t seeds)
{
  world *w = make_world(memory);
  for (uint64_t seed = first; seed < first + seeds; seed++) run_seed(w, seed);
  shmem_free(w->flags);
  free(w->model);
  free(w);
}

#ifndef WTL_THREADS
static _Alignas(64) unsigned char fixed[BYTES];
#endif

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  shmem_init();
  unsigned char *memory = shmem_calloc(1, BYTES);
  run_world(memory, first, seeds);
#ifndef WTL_THREADS
  run_world(fixed, first + 1000000, seeds);
#endif
  shmem_free(memory);
  shmem_finalize();
  return failures != 0;
}
