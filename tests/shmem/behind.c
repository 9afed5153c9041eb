/*
 * behind.c - tests that a signal, a flag after a fence and an atomic operation arrive after the data that they
 * announce.
 *
 * This must hold also while the connection to the other node is being made and accepts no more messages. The first
 * half of the PEs send to the second half and then compute.
 *
 * usage: behind BYTES [ROUNDS]    hardware moves bytes from the second round on
 */
#include <shmem.h>

#include <time.h>

#include "pes.h"

enum { MANY = 4, MOST = 400000, COUNTERS = 8 };

static uint64_t small[MANY], flags[MANY], counters[COUNTERS];
static unsigned char data[MANY][MOST], source[MOST];

static size_t missing(const unsigned char *bytes, size_t n, unsigned char value)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += ((const volatile unsigned char *)bytes)[i] != value;
  return count;
}

static void compute(void)
{
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void send(size_t bytes, uint64_t round, int to)
{
  static uint64_t old[COUNTERS];
  memset(source, (int)round, sizeof source);
  shmem_uint64_put_nbi(&small[0], &round, 1, to);
  shmem_putmem_signal_nbi(data[0], source, bytes, &flags[0], round, SHMEM_SIGNAL_SET, to);
  shmem_putmem_signal_nbi(data[1], source, bytes, &flags[1], 1, SHMEM_SIGNAL_ADD, to);
  shmem_putmem_nbi(data[2], source, bytes, to);
  shmem_fence();
  shmem_uint64_put_nbi(&flags[2], &round, 1, to);
  for (int i = 0; i < COUNTERS; i++) shmem_uint64_atomic_fetch_inc_nbi(&old[i], &counters[i], to);
  shmem_putmem_nbi(data[3], source, bytes, to);
  shmem_fence();
  shmem_putmem_nbi(&flags[3], &round, sizeof round, to);
  compute();
  shmem_quiet();
}

static void expect_all_in_order(size_t bytes, uint64_t round)
{
  for (int i = 0; i < MANY; i++) {
    shmem_uint64_wait_until(&flags[i], SHMEM_CMP_EQ, round);
    size_t late = missing(data[i], bytes, (unsigned char)round);
    EXPECT(late == 0, "flag %d is there, %zu of %zu bytes are not", i, late, bytes);
  }
  EXPECT(small[0] == round, "the word before the first signal");
  for (int i = 0; i < COUNTERS; i++)
    EXPECT(__atomic_load_n(&counters[i], __ATOMIC_ACQUIRE) == round, "the last flag is there, counter %d is not", i);
}

int main(int argc, char **argv)
{
  size_t bytes = argc > 1 ? (size_t)atol(argv[1]) : MOST, rounds = argc > 2 ? (size_t)atol(argv[2]) : 1;
  shmem_init();
  int me = shmem_my_pe(), half = shmem_n_pes() / 2;
  for (uint64_t round = 1; round <= rounds; round++) {
    if (me < half)
      send(bytes, round, me + half);
    else if (me < 2 * half)
      expect_all_in_order(bytes, round);
    shmem_barrier_all();
  }
  shmem_finalize();
  return failures != 0;
}
