/* Thousands of handlers, of numbers from all over the range of an int: each message runs the one of its number. */
#include <limits.h>

#include "am_tests.h"

enum { NUMBERS = 5000, KINDS = 4 };

static struct state {
  _Atomic uint32_t ran[NUMBERS];
  _Atomic uint64_t wrong;
  _Atomic int shift; /* number i has handler (i + shift) % KINDS */
} all[MOST_PES];

/* Small ones, negative ones, ones in a row and ones that share their low bits. */
static int number(int i)
{
  switch (i % 5) {
  case 0: return i / 5;
  case 1: return -1 - i / 5;
  case 2: return (i / 5 + 1) << 20;
  case 3: return INT_MAX - i / 5;
  default: return INT_MIN + 1000 + i / 5 * 4096;
  }
}

static void ran(int kind, const void *buf, size_t n)
{
  struct state *s = &all[shmem_my_pe()];
  int i = n == sizeof i ? *(const int *)buf : -1;
  if (i < 0 || i >= NUMBERS || (i + s->shift) % KINDS != kind)
    s->wrong++;
  else
    s->ran[i]++;
}

#define HANDLER(kind)                                                                                                  \
  static void handler_##kind(void *buf, size_t n, int from, shmemx_am_token_t token)                                   \
  {                                                                                                                    \
    (void)from, (void)token;                                                                                           \
    ran(kind, buf, n);                                                                                                 \
  }
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
static const shmemx_am_handler handlers[KINDS] = {handler_0, handler_1, handler_2, handler_3};

static void attach_all(int shift)
{
  all[shmem_my_pe()].shift = shift;
  for (int i = 0; i < NUMBERS; i++) shmemx_am_attach(number(i), handlers[(i + shift) % KINDS]);
}

static void send_all(int to, int step)
{
  for (int i = 0; i < NUMBERS; i += step) shmemx_am_request(to, number(i), &i, sizeof i);
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + 1) % n;
  struct state *s = &all[me];
  attach_all(0);
  shmem_barrier_all();
  send_all(to, 1);
  shmem_barrier_all();
  attach_all(1); /* others in their places */
  shmem_barrier_all();
  send_all(to, 1);
  shmem_barrier_all();
  for (int i = 0; i < NUMBERS; i++)
    if (i % 2) shmemx_am_detach(number(i));
  shmem_barrier_all();
  send_all(to, 2);
  shmem_barrier_all();
  for (int i = 0; i < NUMBERS; i++)
    EXPECT(s->ran[i] == (i % 2 ? 2u : 3u), "number %d: %u", number(i), (unsigned)s->ran[i]);
  EXPECT(s->wrong == 0, "%lu", (unsigned long)s->wrong);
  shmem_finalize();
  return failures != 0;
}
