/* Rows of messages of one handler and length, alone and mixed, with replies in rows: each comes once, whole, in order.
 * And of those that share no record. */
#include "am_tests.h"

enum { FIRST = 1, SECOND = 700, BACK = 3, LANDED = 4, COUNTED = 5, ROW = 1100, LONGS = 32 };

static const size_t lengths[] = {0, 1, 7, 8, 9, 16, 200, 255, 256, 257, 1000};
enum { N_LENGTHS = sizeof lengths / sizeof lengths[0] };

/* For each sender: its messages to the first handler and to the second, and the replies. */
static struct state {
  _Atomic uint64_t come[MOST_PES][3], wrong;
  _Atomic size_t length;
  long *landed; /* symmetric */
} all[MOST_PES];

static struct state *mine(void)
{
  return &all[shmem_my_pe()];
}

static void take(int which, const void *buf, size_t n, int from)
{
  struct state *s = mine();
  uint64_t serial = s->come[from][which]++ * 3 + (uint64_t)which;
  if (n != s->length || (n && (uintptr_t)buf % 8) || !is_filled(buf, n, serial, from, shmem_my_pe())) s->wrong++;
}

static void on_first(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)token;
  take(0, buf, n, from);
}

static void on_second(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  uint64_t serial = s->come[from][1] * 3 + 2;
  take(1, buf, n, from);
  fill(buf, n, serial, shmem_my_pe(), from);
  shmemx_am_reply(BACK, buf, n, token);
}

static void on_back(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)token;
  take(2, buf, n, from);
}

static void send(int to, int which, uint64_t i, size_t n)
{
  unsigned char bytes[1000];
  fill(bytes, n, i * 3 + (uint64_t)which, shmem_my_pe(), to);
  shmemx_am_request(to, which ? SECOND : FIRST, bytes, n);
}

/* mixed: 0: one row after the other; else rows of so many take turns. */
static void rows(int me, int n, size_t length, uint64_t mixed)
{
  struct state *s = mine();
  uint64_t sent[2] = {0};
  for (int from = 0; from < n; from++)
    for (int which = 0; which < 3; which++) s->come[from][which] = 0;
  s->length = length;
  shmem_barrier_all();
  for (int which = 0; sent[0] < ROW || sent[1] < ROW; which = !which)
    for (uint64_t i = 0; i < (mixed ? mixed : ROW) && sent[which] < ROW; i++, sent[which]++)
      send((me + 1) % n, which, sent[which], length);
  shmem_barrier_all();
  for (int from = 0; from < n; from++)
    for (int which = 0; which < 3; which++)
      EXPECT(s->come[from][which] == (from == (me + (which == 2 ? 1 : n - 1)) % n ? ROW : 0),
             "length %zu, rows of %lu, from %d: %lu", length, (unsigned long)mixed, from,
             (unsigned long)s->come[from][which]);
}

static void on_landed(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)token;
  s->come[from][0]++;
  if (buf != s->landed || n != s->length) s->wrong++;
}

static void on_counted(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)token;
  mine()->come[from][1]++;
}

/* Messages that form no row: payloads with the same target address, and requests whose ends one variable counts. */
static void alike(int me, int n, size_t length)
{
  struct state *s = mine();
  uint64_t done = 0;
  int to = (me + 1) % n, from = (me + n - 1) % n;
  long source[LONGS] = {0};
  s->come[from][0] = s->come[from][1] = 0;
  s->length = length;
  shmem_barrier_all();
  for (int i = 0; i < ROW; i++) shmemx_am_request_put(to, LANDED, s->landed, source, length);
  for (int i = 0; i < ROW; i++) shmemx_am_request_nbi(to, COUNTED, source, length, &done);
  shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, ROW);
  shmemx_am_quiet();
  shmem_barrier_all();
  EXPECT(s->come[from][0] == ROW && s->come[from][1] == ROW, "length %zu: %lu and %lu", length,
         (unsigned long)s->come[from][0], (unsigned long)s->come[from][1]);
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmemx_am_attach(FIRST, on_first);
  shmemx_am_attach(SECOND, on_second);
  shmemx_am_attach(BACK, on_back);
  shmemx_am_attach(LANDED, on_landed);
  shmemx_am_attach(COUNTED, on_counted);
  mine()->landed = shmem_calloc(LONGS, sizeof(long));
  for (int i = 0; i < N_LENGTHS; i++) {
    rows(me, n, lengths[i], 0);
    rows(me, n, lengths[i], 1 + (uint64_t)i);
  }
  for (int i = 0; i < N_LENGTHS; i++)
    if (lengths[i] <= LONGS * sizeof(long)) alike(me, n, lengths[i]);
  EXPECT(mine()->wrong == 0, "%lu", (unsigned long)mine()->wrong);
  shmem_finalize();
  return failures != 0;
}
