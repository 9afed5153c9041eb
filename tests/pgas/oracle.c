/*
 * oracle.c - tests random programs against a sequential model.
 *
 * All PEs draw the same program from one seed. So each PE knows the operations of every PE in a phase, and keeps a
 * copy of all PEs' memory as it must be. A phase gives each chunk of memory of each PE one role, so that its end does
 * not depend on the interleaving:
 *
 *   written   one PE writes it, by puts and AMOs of any form, in its program order (a fence between two that overlap)
 *   counted   all PEs change its words by one commutative operation
 *   read      no PE writes it; any PE may get it and must find the model's data
 *
 * Phases end in a barrier, after which each PE compares its own memory with the model. Messages (data, fence, flag,
 * wait_until) cross phases. Sources and results of nbi operations are kept until the next quiet and checked then.
 *
 * usage: oracle FIRST_SEED SEEDS [large]. large: with some chunks of up to 2.5 MB
 */
#include <shmem.h>

#include "pes.h"

enum { CHUNK = 64, SMALL_CHUNKS = 32, CHUNKS = SMALL_CHUNKS + 4, PHASES = 25, OPS = 60, MAX_PES = 64, KEPT = 200 };
enum { SMALL_BYTES = CHUNK * SMALL_CHUNKS, MOST_BYTES = SMALL_BYTES + 5000 + 50000 + 400000 + 2500000 };
static const size_t large_chunks[] = {5000, 50000, 400000, 2500000};
enum role { READ, WRITTEN, ADDED, XORED, N_ROLES };

/* Memory that an nbi form uses until the next quiet, and its value then, if that is known. */
typedef struct kept {
  unsigned char *memory;
  const unsigned char *model; /* n bytes; NULL: `value`, of 8 bytes; n 0: not known */
  uint64_t value;
  size_t n;
  int pe;
} kept;

typedef struct world {
  int me, n, chunks;
  size_t bytes;
  unsigned char *mine;  /* symmetric */
  uint64_t *flags;      /* symmetric, one from each PE */
  unsigned char *model; /* n x bytes */
  unsigned char role[MAX_PES][CHUNKS], owner[MAX_PES][CHUNKS];
  enum {
    SETTLED,
    PUT_TO,
    FETCHED_FROM
  } fresh[MAX_PES][CHUNKS]; /* by the owner: since its last fence, its last quiet */
  kept kept[KEPT];
  int n_kept;
  uint64_t random, rounds;
  uint64_t operations, on_others; /* this PE's, and those on other PEs */
} world;

static uint64_t pick(world *w, uint64_t below)
{
  return next_random(&w->random) % below;
}

static unsigned char *model_of(world *w, int pe, size_t at)
{
  return w->model + (size_t)pe * w->bytes + at;
}

static size_t bytes_of(int c)
{
  return c < SMALL_CHUNKS ? CHUNK : large_chunks[c - SMALL_CHUNKS];
}

static size_t start_of(int c)
{
  size_t at = (size_t)(c < SMALL_CHUNKS ? c : SMALL_CHUNKS) * CHUNK;
  for (int k = SMALL_CHUNKS; k < c; k++) at += large_chunks[k - SMALL_CHUNKS];
  return at;
}

/* Most are small. */
static int pick_chunk(world *w)
{
  if (w->chunks == SMALL_CHUNKS || pick(w, 40)) return (int)pick(w, SMALL_CHUNKS);
  return SMALL_CHUNKS + (int)pick(w, CHUNKS - SMALL_CHUNKS);
}

static void assign_roles(world *w)
{
  for (int pe = 0; pe < w->n; pe++)
    for (int c = 0; c < w->chunks; c++) {
      w->role[pe][c] = (unsigned char)pick(w, c < SMALL_CHUNKS ? N_ROLES : WRITTEN + 1);
      w->owner[pe][c] = (unsigned char)pick(w, (uint64_t)w->n);
      w->fresh[pe][c] = SETTLED;
    }
}

/* --- what outlives a call ----------------------------------------------------------------------------------------- */

/* All that was begun is complete: looks at what was fetched, and gives the memory back. */
static void settle(world *w)
{
  for (int i = 0; i < w->n_kept; i++) {
    const kept *k = &w->kept[i];
    const void *want = k->model ? (const void *)k->model : &k->value;
    EXPECT(memcmp(k->memory, want, k->n) == 0, "%zu bytes of an nbi operation on PE %d", k->n, k->pe);
    free(k->memory);
  }
  w->n_kept = 0;
}

static void quiet(world *w)
{
  shmem_quiet();
  settle(w);
}

static kept *keep(world *w, size_t bytes, int pe)
{
  if (w->n_kept == KEPT) quiet(w);
  kept *k = &w->kept[w->n_kept++];
  *k = (kept){.memory = calloc(1, bytes), .pe = pe};
  return k;
}

static void *keep_copy(world *w, const void *from, size_t n, int pe)
{
  return memcpy(keep(w, n, pe)->memory, from, n);
}

static uint64_t *keep_fetch(world *w, int pe, const uint64_t *known)
{
  kept *k = keep(w, 8, pe);
  if (known) k->n = 8, k->value = *known;
  return (uint64_t *)(void *)k->memory;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* Any put of `n` bytes from `from`; the forms for words need an aligned target. */
static void put_somehow(world *w, void *to, const void *from, size_t n, int pe, uint64_t form)
{
  bool aligned = ((uintptr_t)to & 7) == 0 && ((uintptr_t)from & 7) == 0;
  uint64_t word;
  memcpy(&word, from, n < 8 ? n : 8);
  if (aligned && n == 8 && form % 6 == 0)
    shmem_uint64_p(to, word, pe);
  else if (aligned && n == 8 && form % 6 == 1)
    shmem_uint64_atomic_set(to, word, pe);
  else if (aligned && n % 8 == 0 && form % 6 == 2)
    shmem_put64(to, from, n / 8, pe);
  else if (aligned && n % 8 == 0 && form % 6 == 3)
    shmem_put64_nbi(to, keep_copy(w, from, n, pe), n / 8, pe);
  else if (form % 2)
    shmem_putmem(to, from, n, pe);
  else
    shmem_ctx_putmem_nbi(SHMEM_CTX_DEFAULT, to, keep_copy(w, from, n, pe), n, pe);
  if (form % 16 == 0) quiet(w);
}

static void order(world *w, int actor, bool completely)
{
  if (actor == w->me) {
    if (completely)
      quiet(w);
    else
      shmem_fence();
  }
  for (int pe = 0; pe < w->n; pe++)
    for (int c = 0; c < w->chunks; c++)
      if (w->owner[pe][c] == actor && (completely || w->fresh[pe][c] == PUT_TO)) w->fresh[pe][c] = SETTLED;
}

/* Before an operation on a chunk that the actor may have changed: at least what is needed so that it comes after. */
static void order_chunk(world *w, int actor, int pe, int c, uint64_t how)
{
  if (w->fresh[pe][c] != SETTLED) order(w, actor, how % 3 == 0 || w->fresh[pe][c] == FETCHED_FROM);
}

/* A place within a chunk: short ones are as likely as long ones, and half of those of large chunks are most of it. */
static size_t pick_place(world *w, int c, size_t *at)
{
  size_t room = bytes_of(c), n = 1 + pick(w, room) % ((size_t)1 << (1 + pick(w, 22)));
  if (c >= SMALL_CHUNKS && pick(w, 2)) n = room - pick(w, room / 2);
  *at = pick(w, room - n + 1);
  return n;
}

static void write_chunk(world *w, int actor, int pe, int c)
{
  size_t at, n = pick_place(w, c, &at), room = bytes_of(c);
  uint64_t form = pick(w, 96), state = next_random(&w->random);
  if (form % 2) at &= ~(size_t)7, n = (n + 7) & ~(size_t)7;
  if (form >= 72) n = 8;
  if (n > room) n = room;
  if (at + n > room) at = room - n;
  uint64_t *from = malloc(n + 8);
  for (size_t i = 0; i <= n / 8; i++) from[i] = c < SMALL_CHUNKS ? next_random(&state) : (state += 0x9e3779b97f4a7c15u);
  order_chunk(w, actor, pe, c, form);
  w->fresh[pe][c] = PUT_TO;
  if (actor == w->me) put_somehow(w, w->mine + start_of(c) + at, from, n, pe, form);
  memcpy(model_of(w, pe, start_of(c) + at), from, n);
  free(from);
}

/* The owner alone acts on the word, so what it fetches is what the model has. */
static void swap_word(world *w, int actor, int pe, int c)
{
  size_t at = start_of(c) + 8 * pick(w, bytes_of(c) / 8);
  uint64_t value = next_random(&w->random), form = pick(w, 6), old, got = 0;
  uint64_t *target = (uint64_t *)(void *)(w->mine + at);
  memcpy(&old, model_of(w, pe, at), 8);
  order_chunk(w, actor, pe, c, form);
  if (actor == w->me) {
    switch (form) {
    case 0: got = shmem_uint64_atomic_swap(target, value, pe); break;
    case 1: got = shmem_uint64_atomic_compare_swap(target, old, value, pe); break;
    case 2:
      shmem_uint64_atomic_swap_nbi(keep_fetch(w, pe, &old), target, value, pe);
      got = old;
      break;
    case 3:
      shmem_uint64_atomic_compare_swap_nbi(keep_fetch(w, pe, &old), target, old, value, pe);
      got = old;
      break;
    default:
      got = shmem_uint64_atomic_fetch(target, pe);
      shmem_uint64_atomic_set(target, value, pe);
      break;
    }
    EXPECT(got == old, "fetched %llx from PE %d, must be %llx", (unsigned long long)got, pe, (unsigned long long)old);
  }
  w->fresh[pe][c] = form == 2 || form == 3 ? FETCHED_FROM : PUT_TO;
  memcpy(model_of(w, pe, at), &value, 8);
}

static void count_word(world *w, int actor, int pe, int c)
{
  size_t at = start_of(c) + 8 * pick(w, CHUNK / 8);
  uint64_t value = next_random(&w->random), form = pick(w, 3), now;
  uint64_t *target = (uint64_t *)(void *)(w->mine + at);
  bool add = w->role[pe][c] == ADDED;
  if (actor == w->me) {
    if (add && form == 0)
      shmem_uint64_atomic_add(target, value, pe);
    else if (add && form == 1)
      (void)shmem_uint64_atomic_fetch_add(target, value, pe);
    else if (add)
      shmem_ctx_uint64_atomic_fetch_add_nbi(SHMEM_CTX_DEFAULT, keep_fetch(w, pe, NULL), target, value, pe);
    else if (form == 0)
      shmem_uint64_atomic_xor(target, value, pe);
    else if (form == 1)
      (void)shmem_uint64_atomic_fetch_xor(target, value, pe);
    else
      shmem_uint64_atomic_fetch_xor_nbi(keep_fetch(w, pe, NULL), target, value, pe);
  }
  memcpy(&now, model_of(w, pe, at), 8);
  now = add ? now + value : now ^ value;
  memcpy(model_of(w, pe, at), &now, 8);
}

static void read_chunk(world *w, int actor, int pe, int c)
{
  size_t at, n = pick_place(w, c, &at), from = start_of(c) + at;
  uint64_t form = pick(w, 4);
  if (actor != w->me) return;
  kept *k = keep(w, n, pe);
  k->n = n;
  k->model = model_of(w, pe, from);
  if (form == 0 || (form == 3 && n > CHUNK))
    shmem_getmem(k->memory, w->mine + from, n, pe);
  else if (form == 1)
    shmem_get8(k->memory, w->mine + from, n, pe);
  else if (form == 2)
    shmem_getmem_nbi(k->memory, w->mine + from, n, pe);
  else
    for (size_t i = 0; i < n; i++) k->memory[i] = shmem_uint8_g(w->mine + from + i, pe);
  if (form != 2) EXPECT(memcmp(k->memory, k->model, n) == 0, "%zu bytes at %zu of PE %d", n, from, pe);
}

static void count(world *w, int actor, int pe)
{
  if (actor != w->me) return;
  w->operations++;
  w->on_others += pe != w->me;
}

static void one_operation(world *w, int actor)
{
  int pe = (int)pick(w, (uint64_t)w->n), c = pick_chunk(w);
  uint64_t kind = pick(w, 8);
  if (w->role[pe][c] != WRITTEN || w->owner[pe][c] == actor) count(w, actor, pe);
  switch (w->role[pe][c]) {
  case READ: read_chunk(w, actor, pe, c); break;
  case WRITTEN:
    if (w->owner[pe][c] != actor) break;
    if (kind < 5)
      write_chunk(w, actor, pe, c);
    else if (kind < 7)
      swap_word(w, actor, pe, c);
    else
      order(w, actor, kind % 2);
    break;
  default: count_word(w, actor, pe, c);
  }
}

/* A chunk of PE `to` that `from` may write; -1: none. Large ones are as likely as they are among all. */
static int pick_message(world *w, int from, int to)
{
  int found = -1;
  uint64_t seen = 0;
  for (int c = 0; c < w->chunks; c++)
    if (w->role[to][c] == WRITTEN && w->owner[to][c] == from && pick(w, ++seen) == 0) found = c;
  return found;
}

/* Each PE sends to one other a chunk of its own writing, then a flag. A PE that gets a flag must find the chunk. Sends
 * come before waits. */
static void messages(world *w)
{
  int to[MAX_PES], chunk[MAX_PES];
  w->rounds++;
  for (int from = 0; from < w->n; from++) {
    to[from] = (int)pick(w, (uint64_t)w->n);
    chunk[from] = pick_message(w, from, to[from]);
    if (chunk[from] < 0) continue;
    count(w, from, to[from]);
    write_chunk(w, from, to[from], chunk[from]);
    order(w, from, false);
    if (from == w->me) shmem_uint64_p(&w->flags[from], w->rounds, to[from]);
  }
  for (int from = 0; from < w->n; from++) {
    if (chunk[from] < 0 || to[from] != w->me) continue;
    shmem_uint64_wait_until(&w->flags[from], SHMEM_CMP_GE, w->rounds);
    size_t at = start_of(chunk[from]);
    EXPECT(memcmp(w->mine + at, model_of(w, w->me, at), bytes_of(chunk[from])) == 0, "message %llu of PE %d",
           (unsigned long long)w->rounds, from);
  }
}

/* Whole-memory operations between phases, and the comparison that each phase ends with. */
static void finish_phase(world *w)
{
  shmem_barrier_all();
  settle(w);
  EXPECT(memcmp(w->mine, model_of(w, w->me, 0), w->bytes) == 0, "memory after a phase");
  int root = (int)pick(w, (uint64_t)w->n), c = (int)pick(w, SMALL_CHUNKS), other = (int)pick(w, SMALL_CHUNKS);
  size_t n = pick(w, CHUNK + 1);
  shmem_barrier_all(); /* no PE writes while another compares */
  if (c == other) return;
  shmem_uchar_broadcast(SHMEM_TEAM_WORLD, w->mine + (size_t)c * CHUNK, w->mine + (size_t)other * CHUNK, n, root);
  for (int pe = 0; pe < w->n; pe++)
    memcpy(model_of(w, pe, (size_t)c * CHUNK), model_of(w, root, (size_t)other * CHUNK), n);
  shmem_sync_all(); /* others may still be in the broadcast */
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
    shmem_global_exit(1); /* later results would mean nothing */
  }
}

static world *make_world(unsigned char *memory, bool large)
{
  world *w = calloc(1, sizeof *w);
  w->me = shmem_my_pe();
  w->n = shmem_n_pes();
  w->chunks = large ? CHUNKS : SMALL_CHUNKS;
  w->bytes = large ? MOST_BYTES : SMALL_BYTES;
  w->mine = memory;
  w->flags = shmem_calloc(MAX_PES, sizeof *w->flags);
  w->model = calloc((size_t)w->n, w->bytes);
  return w;
}

/* FNV-1a. */
static uint64_t hash(const unsigned char *bytes, size_t n)
{
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}

/* Prints the number of operations and the memory at the end, which are the same on every network. */
static void run_world(unsigned char *memory, bool large, uint64_t first, uint64_t seeds)
{
  world *w = make_world(memory, large);
  for (uint64_t seed = first; seed < first + seeds; seed++) run_seed(w, seed);
  printf("PE %d: %llu operations, %llu of them on other PEs; memory %016llx\n", w->me,
         (unsigned long long)w->operations, (unsigned long long)w->on_others,
         (unsigned long long)hash(w->mine, w->bytes));
  shmem_free(w->flags);
  free(w->model);
  free(w);
}

#ifndef WTL_THREADS
static _Alignas(64) unsigned char fixed[MOST_BYTES];
#endif

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  bool large = argc > 3;
  shmem_init();
  unsigned char *memory = shmem_calloc(1, large ? MOST_BYTES : SMALL_BYTES);
  run_world(memory, large, first, seeds);
#ifndef WTL_THREADS
  run_world(fixed, large, first + 1000000, seeds);
#endif
  shmem_free(memory);
  shmem_finalize();
  return failures != 0;
}
