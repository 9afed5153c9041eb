/*
 * flood.c - tests that many operations of all PEs on all others, completed by the next quiet, need bounded memory.
 *
 * The data must be right. The peak of each PE's memory must stay within a bound of its value after the PE had touched
 * all its own data.
 *
 * usage: flood [stop] WHAT:COUNT:BYTES... WHAT: put, get or add. COUNT: operations from each PE. BYTES: of each (add:
 * 8). stop: a signal stops the last PE for a second meanwhile, so that it takes no messages.
 */
#include <shmem.h>
#include <signal.h>
#include <unistd.h>

#include "pes.h"

enum { MOST_GROWTH_KIB = 64 * 1024, MOST_PLACES_BYTES = 4 << 20 };

/* Operation i of this PE goes to PE to(i). Small ones have a place of their own each; large ones, equal ones, share
 * some. */
typedef struct flood {
  char what[8];
  int me, n;
  size_t count, bytes, places; /* places: of each pair of PEs */
  char *theirs;                /* symmetric: n x places x bytes; part p is written, or read, by PE p */
  char *mine;                  /* private: count or places x bytes */
  uint64_t *counter;           /* symmetric */
} flood;

/* The peak begins anew from what the memory is now. */
static void forget_peak(void)
{
  FILE *f = fopen("/proc/self/clear_refs", "we");
  if (f) fputs("5", f);
  if (f) fclose(f);
}

static long memory_peak_kib(void)
{
  char line[256];
  long kib = -1;
  FILE *f = fopen("/proc/self/status", "re");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  if (f) fclose(f);
  return kib;
}

static int target(const flood *f, size_t i)
{
  return f->n == 1 ? 0 : (f->me + 1 + (int)(i % (size_t)(f->n - 1))) % f->n;
}

static size_t place(const flood *f, size_t i)
{
  return i / (size_t)(f->n > 1 ? f->n - 1 : 1) % f->places;
}

/* The byte that PE `from` writes to, or PE `to` reads at, a place. */
static unsigned char content(int from, int to, size_t at, size_t byte)
{
  uint64_t state = ((uint64_t)from << 40) + ((uint64_t)to << 48) + at;
  return (unsigned char)(next_random(&state) + 31 * byte);
}

static char *part(const flood *f, int pe, size_t at)
{
  return f->theirs + ((size_t)pe * f->places + at) * f->bytes;
}

static char *buffer(const flood *f, int pe, size_t at)
{
  return f->mine + ((size_t)pe * f->places + at) * f->bytes;
}

static void fill(char *to, size_t bytes, int from, int pe, size_t at)
{
  for (size_t b = 0; b < bytes; b++) to[b] = (char)content(from, pe, at, b);
}

static void expect(const flood *f, const char *found, int from, int to, size_t at)
{
  for (size_t b = 0; b < f->bytes; b++)
    if ((unsigned char)found[b] != content(from, to, at, b)) {
      EXPECT(false, "byte %zu of place %zu from PE %d to PE %d", b, at, from, to);
      return;
    }
}

/* --- the floods --------------------------------------------------------------------------------------------------- */

static size_t places_used(const flood *f, int from, int to)
{
  size_t used = 0;
  flood as = *f;
  as.me = from;
  for (size_t i = 0; i < f->count && used < f->places; i++)
    if (target(&as, i) == to && place(&as, i) >= used) used = place(&as, i) + 1;
  return used;
}

static void put(const flood *f)
{
  for (size_t i = 0; i < f->count; i++)
    shmem_putmem_nbi(part(f, f->me, place(f, i)), buffer(f, target(f, i), place(f, i)), f->bytes, target(f, i));
}

static void check_put(const flood *f)
{
  for (int from = 0; from < f->n; from++)
    for (size_t at = 0, used = places_used(f, from, f->me); at < used; at++)
      expect(f, part(f, from, at), from, f->me, at);
}

static void get(const flood *f)
{
  for (size_t i = 0; i < f->count; i++)
    shmem_getmem_nbi(buffer(f, target(f, i), place(f, i)), part(f, f->me, place(f, i)), f->bytes, target(f, i));
}

static void check_get(const flood *f)
{
  for (int from = 0; from < f->n; from++)
    for (size_t at = 0, used = places_used(f, f->me, from); at < used; at++)
      expect(f, buffer(f, from, at), from, f->me, at);
}

/* Everything that is needed is there, and touched, before the flood. */
static void prepare(flood *f, bool gets)
{
  size_t pairs = (size_t)f->n * f->places, most = MOST_PLACES_BYTES / f->bytes;
  f->places = f->bytes > 64 && f->count > most ? most : f->count;
  f->places = f->places / (size_t)(f->n > 1 ? f->n - 1 : 1) + 1;
  pairs = (size_t)f->n * f->places;
  f->theirs = shmem_calloc(pairs, f->bytes);
  f->mine = malloc(pairs * f->bytes);
  if (!f->theirs || !f->mine) shmem_global_exit(1); /* shmem_calloc has said why */
  memset(f->mine, 0, pairs * f->bytes);
  memset(f->theirs, 0, pairs * f->bytes);
  for (int pe = 0; pe < f->n; pe++)
    for (size_t at = 0; at < f->places; at++)
      if (gets)
        fill(part(f, pe, at), f->bytes, f->me, pe, at);
      else
        fill(buffer(f, pe, at), f->bytes, f->me, pe, at);
}

/* Memory of its neighbours that this PE can reach counts as its own, too. */
static void touch_neighbours(const flood *f)
{
  for (int pe = 0; pe < f->n; pe++) {
    const volatile char *there = shmem_ptr(f->theirs, pe);
    for (size_t b = 0; there && b < (size_t)f->n * f->places * f->bytes; b += 4096) (void)there[b];
  }
}

/* All fetch from one counter: each of the numbers below n x count must be fetched once. */
static void add(const flood *f)
{
  uint64_t *fetched = (uint64_t *)(void *)f->mine;
  for (size_t i = 0; i < f->count; i++) shmem_uint64_atomic_fetch_add_nbi(&fetched[i], f->counter, 1, 0);
}

static void check_add(const flood *f)
{
  const uint64_t *fetched = (const uint64_t *)(const void *)f->mine;
  uint64_t *sum = (uint64_t *)(void *)f->theirs, all = (uint64_t)f->n * f->count;
  sum[0] = sum[1] = 0;
  for (size_t i = 0; i < f->count; i++) sum[0] += fetched[i], sum[1] += fetched[i] * fetched[i];
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sum, sum, 2);
  uint64_t squares = 0;
  for (uint64_t k = 0; k < all; k++) squares += k * k;
  EXPECT(sum[0] == all * (all - 1) / 2 && sum[1] == squares, "some numbers were fetched twice");
  EXPECT(shmem_uint64_g(f->counter, 0) == all, "%llu counted", (unsigned long long)shmem_uint64_g(f->counter, 0));
}

/* --- a PE that is stopped ----------------------------------------------------------------------------------------- */

/* Starts a child that stops its parent for a second on request. */
static int stopper(void)
{
  int ends[2];
  char word;
  pid_t parent = getpid();
  if (pipe(ends) != 0) return -1;
  if (fork() != 0) return close(ends[0]), ends[1];
  close(ends[1]);
  if (read(ends[0], &word, 1) == 1) {
    kill(parent, SIGSTOP);
    sleep(1);
    kill(parent, SIGCONT);
  }
  _exit(0);
}

static void run(flood *f, int tell)
{
  char kind = *f->what;
  f->counter = shmem_calloc(1, sizeof *f->counter);
  prepare(f, kind == 'g');
  shmem_barrier_all();
  touch_neighbours(f);
  forget_peak();
  shmem_barrier_all();
  long before = memory_peak_kib();
  shmem_barrier_all();
  if (tell >= 0 && f->me == f->n - 1) (void)!write(tell, "s", 1);
  (kind == 'p' ? put : kind == 'g' ? get : add)(f);
  shmem_quiet();
  shmem_barrier_all();
  long grown = memory_peak_kib() - before;
  EXPECT(grown <= MOST_GROWTH_KIB, "memory grew by %ld KiB", grown);
  if (f->me == 0) printf("%s %zu x %zu bytes: memory grew by %ld KiB\n", f->what, f->count, f->bytes, grown);
  (kind == 'p' ? check_put : kind == 'g' ? check_get : check_add)(f);
  shmem_barrier_all();
  free(f->mine);
  shmem_free(f->theirs);
  shmem_free(f->counter);
}

int main(int argc, char **argv)
{
  int first = argc > 1 && strcmp(argv[1], "stop") == 0 ? 2 : 1, tell = first == 2 ? stopper() : -1;
  shmem_init();
  for (int i = first; i < argc; i++) {
    flood f = {.me = shmem_my_pe(), .n = shmem_n_pes()};
    if (sscanf(argv[i], "%7[a-z]:%zu:%zu", f.what, &f.count, &f.bytes) != 3) shmem_global_exit(2);
    run(&f, tell);
  }
  if (tell >= 0) close(tell);
  shmem_finalize();
  return failures != 0;
}
