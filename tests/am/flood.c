/*
 * Every message is delivered once, in bounded memory, whoever sends to whom: random pairs and lengths, requests with
 * and without replies, PEs that compute or sleep meanwhile. Each PE sends by a known sequence; counts and sums tell
 * whether all has come.
 *
 * usage: flood MESSAGES LONGEST [slow]: of all PEs together; bytes. slow: PE 0 stops for a while now and then.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "am_tests.h"

enum { PLAIN = 1, ASKING = 2, ANSWER = 3 };

typedef struct head {
  uint64_t serial;
  uint32_t from, to;
} head;

static struct state {
  uint64_t came[MOST_PES], sum[MOST_PES]; /* requests by sender */
  uint64_t answers, answer_sum;
  uint64_t wrong;
} all[MOST_PES];

static size_t length_of(uint64_t r, size_t longest)
{
  if (r % 4 == 0) return sizeof(head);
  return sizeof(head) + (size_t)((r >> 8) % (r % 4 == 1 ? 64 : longest + 1));
}

static bool is_good(const void *buf, size_t n, int from, int to, uint64_t *serial)
{
  head h;
  if (n < sizeof h) return false;
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
  s->came[from]++;
  s->sum[from] += serial;
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
  s->answers++;
  s->answer_sum += serial;
}

int main(int argc, char **argv)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t total = strtoull(argv[1], NULL, 10), mine = total / (uint64_t)n, seed = 77 + (uint64_t)me;
  size_t longest = strtoull(argv[2], NULL, 10);
  bool slow = argc > 3 && me == 0;
  struct state *s = &all[me];
  uint64_t asked = 0, asked_sum = 0;
  uint64_t *sent = shmem_calloc((size_t)n, sizeof *sent), *sums = shmem_calloc((size_t)n, sizeof *sums);
  unsigned char *buf = malloc(sizeof(head) + longest + 64);
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
    head h = {serial, (uint32_t)me, (uint32_t)to};
    memcpy(buf, &h, sizeof h);
    fill(buf + sizeof h, length - sizeof h, serial, me, to);
    shmemx_am_request(to, id, buf, length);
    if (id == ASKING) asked++, asked_sum += serial;
    sent[to]++, sums[to] += serial;
    if (slow && i % (mine / 10 + 1) == 0) usleep(100000);
  }
  shmemx_am_quiet();
  EXPECT(s->answers == asked && s->answer_sum == asked_sum, "%lu of %lu answers", (unsigned long)s->answers,
         (unsigned long)asked);
  shmem_barrier_all();
  getrusage(RUSAGE_SELF, &after);
  for (int from = 0; from < n; from++) {
    uint64_t theirs = shmem_uint64_g(&sent[me], from), sum = shmem_uint64_g(&sums[me], from);
    EXPECT(s->came[from] == theirs && s->sum[from] == sum, "PE %d sent %lu, %lu came", from, (unsigned long)theirs,
           (unsigned long)s->came[from]);
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
