/*
 * flood.c - tests that every active message is delivered exactly once and in bounded memory.
 *
 * Pairs of PEs and lengths from 0 are random. Requests have replies or none, and PEs compute or sleep meanwhile. Each
 * PE sends by a known sequence, and counts and sums show whether all messages have arrived. A message too short for a
 * number is counted by its length.
 *
 * usage: flood MESSAGES LONGEST [slow]. MESSAGES: of all PEs together. LONGEST: in bytes. slow: PE 0 stops for a while
 * now and then.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "am_tests.h"

enum { PLAIN = 1, ASKING = 2, ANSWER = 3 };

typedef struct head {
  uint64_t serial;
  uint32_t from, to;
} head;

/* Messages of one kind between two PEs: those with a head, their serials' sum, and those without, by length. */
typedef struct tally {
  uint64_t whole, sum, bare[sizeof(head)];
} tally;

static struct state {
  tally came[MOST_PES]; /* requests by sender */
  tally asked, answers;
  uint64_t wrong;
} all[MOST_PES];

static void count(tally *t, size_t n, uint64_t serial)
{
  if (n < sizeof(head)) {
    t->bare[n]++;
    return;
  }
  t->whole++;
  t->sum += serial;
}

/* A quarter is without a head, a quarter short, the others any. */
static size_t length_of(uint64_t r, size_t longest)
{
  static const size_t below[] = {sizeof(head), 64};
  return (size_t)((r >> 8) % (r % 4 < 2 ? below[r % 4] : longest + 1));
}

static void make(unsigned char *buf, size_t n, uint64_t serial, int from, int to)
{
  head h = {serial, (uint32_t)from, (uint32_t)to};
  if (n < sizeof h) {
    fill(buf, n, n, from, to);
    return;
  }
  memcpy(buf, &h, sizeof h);
  fill(buf + sizeof h, n - sizeof h, serial, from, to);
}

static bool is_good(const void *buf, size_t n, int from, int to, uint64_t *serial)
{
  head h;
  if (n < sizeof h) return is_filled(buf, n, n, from, to);
  memcpy(&h, buf, sizeof h);
  *serial = h.serial;
  return h.from == (uint32_t)from && h.to == (uint32_t)to &&
         is_filled((const unsigned char *)buf + sizeof h, n - sizeof h, h.serial, from, to);
}

static void on_plain(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  uint64_t serial = 0;
  (void)token;
  if (!is_good(buf, n, from, shmem_my_pe(), &serial)) s->wrong++;
  count(&s->came[from], n, serial);
}

static void on_asking(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  on_plain(buf, n, from, token);
  shmemx_am_reply(ANSWER, buf, n, token);
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  uint64_t serial = 0;
  (void)token;
  if (!is_good(buf, n, shmem_my_pe(), from, &serial)) s->wrong++;
  count(&s->answers, n, serial);
}

static void expect_same(const tally *sent, const tally *came, const char *what, int pe)
{
  EXPECT(came->whole == sent->whole && came->sum == sent->sum, "%s PE %d: %lu, of which %lu came", what, pe,
         (unsigned long)sent->whole, (unsigned long)came->whole);
  for (size_t n = 0; n < sizeof(head); n++)
    EXPECT(came->bare[n] == sent->bare[n], "%s PE %d: %lu of %zu bytes, of which %lu came", what, pe,
           (unsigned long)sent->bare[n], n, (unsigned long)came->bare[n]);
}

int main(int argc, char **argv)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t total = strtoull(argv[1], NULL, 10), mine = total / (uint64_t)n, seed = 77 + (uint64_t)me;
  size_t longest = strtoull(argv[2], NULL, 10);
  bool slow = argc > 3 && me == 0;
  struct state *s = &all[me];
  tally *sent = shmem_calloc((size_t)n, sizeof *sent), theirs;
  unsigned char *buf = malloc(longest + 64);
  shmemx_am_attach(PLAIN, on_plain);
  shmemx_am_attach(ASKING, on_asking);
  shmemx_am_attach(ANSWER, on_answer);
  shmem_barrier_all();
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (uint64_t i = 0; i < mine; i++) {
    uint64_t r = next_random(&seed), serial = r >> 20;
    int to = (int)(r % (uint64_t)n), id = (r >> 12) % 8 == 0 ? ASKING : PLAIN;
    size_t length = length_of(next_random(&seed), longest);
    make(buf, length, serial, me, to);
    shmemx_am_request(to, id, buf, length);
    if (id == ASKING) count(&s->asked, length, serial);
    count(&sent[to], length, serial);
    if (slow && i % (mine / 10 + 1) == 0) usleep(100000);
  }
  shmemx_am_quiet();
  expect_same(&s->asked, &s->answers, "answers to", me);
  shmem_barrier_all();
  getrusage(RUSAGE_SELF, &after);
  for (int from = 0; from < n; from++) {
    shmem_getmem(&theirs, &sent[me], sizeof theirs, from);
    expect_same(&theirs, &s->came[from], "requests from", from);
  }
  EXPECT(s->wrong == 0, "%lu messages had other bytes than were sent", (unsigned long)s->wrong);
#ifndef __SANITIZE_THREAD__
  long grown = after.ru_maxrss - before.ru_maxrss, most = 64 * 1024 + (long)(longest / 1024 * 16);
  EXPECT(grown < most, "memory grew by %ld KiB (bound %ld)", grown, most);
#endif
  shmem_barrier_all();
  free(buf);
  shmem_finalize();
  return failures != 0;
}
