/*
 * Long messages on a node are put together at their target in memory of their own: as much as there are senders at a
 * time, however many messages they send.
 */
#include <malloc.h>
#include <sys/resource.h>

#include "am_tests.h"

enum { TAKE = 1, MESSAGES = 40, BYTES = 4 << 20, SLACK_KIB = 8 << 10 };

static _Atomic long come[MOST_PES], wrong;

static void on_take(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  const unsigned char *bytes = buf;
  (void)token;
  if (n != BYTES || bytes[0] != (unsigned char)from || bytes[BYTES - 1] != (unsigned char)come[from]) wrong++;
  come[from]++;
}

static long resident_kib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  mallopt(M_ARENA_MAX, 1); /* each thread's own would keep a message that was freed */
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  unsigned char *bytes = calloc(1, BYTES);
  shmemx_am_attach(TAKE, on_take);
  shmem_barrier_all();
  long before = resident_kib();
  for (int i = 0; me && i < MESSAGES; i++) {
    bytes[0] = (unsigned char)me;
    bytes[BYTES - 1] = (unsigned char)i;
    shmemx_am_request(0, TAKE, bytes, BYTES);
  }
  shmem_barrier_all();
  long grown = resident_kib() - before, bound = (n - 1) * (BYTES / 1024) + SLACK_KIB;
  for (int pe = 1; me == 0 && pe < n; pe++) EXPECT(come[pe] == MESSAGES, "from %d: %ld", pe, (long)come[pe]);
  EXPECT(wrong == 0, "%ld", (long)wrong);
  EXPECT(me || grown <= bound, "grew by %ld KiB, of which %ld are allowed", grown, bound);
  free(bytes);
  shmem_finalize();
  return failures != 0;
}
