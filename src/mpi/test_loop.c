/*
 * Does a thread of the program's wait between its tests, or compute?
 *
 * A loop that only tests comes back to where it was: it calls the same test from the same place with the same registers
 * and the same stack. One that computes has counted on meanwhile, or stands elsewhere. A look at the clock cannot tell
 * one from the other: what is computed between two tests may take less time than a test. And to sleep in a loop that
 * computes, up to a millisecond before each of its steps, would make it slower a thousand times.
 *
 * So a thread stands still where it holds what it held at an earlier test, twice in a row; loops over several requests
 * come back after as many tests. Whoever does not within WINDOW tests is not looked at for a while, and then for longer.
 * What is computed between two tests without a trace in registers or on the stack is not seen (poll.c: it must be
 * short).
 */
#include "mpi/mpi_front.h"

#include <sys/mman.h>

#include "base/align.h"

_Thread_local wtl_mpi_held wtl_mpi_at_test __attribute__((tls_model("initial-exec")));

enum { WINDOW = 64, MOST_UNSEEN = 16384, STACK_WORDS = 128 };

/* How much of the stack may be read: what belongs to a coroutine may end at any page. */
static size_t readable(const uintptr_t *from)
{
  uintptr_t next = wtl_page_up((uintptr_t)from + 1);
  size_t here = (next - (uintptr_t)from) / sizeof *from;
  unsigned char resident;
  return here >= STACK_WORDS || mincore((void *)next, 1, &resident) == 0 ? STACK_WORDS : here;
}

/* It reads what other functions have on their stacks. */
__attribute__((no_sanitize("address"))) static uint64_t sum(const uintptr_t *words, size_t n)
{
  uint64_t s[4] = {1, 2, 3, 4};
  for (size_t i = 0; i < n; i++) s[i % 4] = (s[i % 4] ^ words[i]) * 0x9e3779b97f4a7c15u + (s[i % 4] >> 29);
  return s[0] ^ s[1] * 3 ^ s[2] * 5 ^ s[3] * 7;
}

static uint64_t what_it_holds(void)
{
  const wtl_mpi_held *h = &wtl_mpi_at_test;
  const uintptr_t *stack = (const uintptr_t *)h->word[0];
  return sum(h->word, WTL_MPI_HELD_WORDS) * 31 + sum(stack, readable(stack));
}

wtl_mpi_stand wtl_mpi_stands(wtl_mpi_test_loop *s)
{
  if (s->unseen > 0) {
    s->unseen--;
    return WTL_MPI_GOES_ON;
  }
  uint64_t now = what_it_holds();
  if (now == s->mark) {
    s->tests = 0;
    s->pause = 0;
    if (s->times < 2) s->times++;
    return s->times == 2 ? WTL_MPI_STANDS_STILL : WTL_MPI_MAY_RETURN;
  }
  if (s->mark && ++s->tests <= WINDOW) return WTL_MPI_MAY_RETURN;
  if (s->mark) s->pause = s->pause == 0 ? WINDOW : s->pause < MOST_UNSEEN ? 2 * s->pause : s->pause;
  *s = (wtl_mpi_test_loop){.mark = now, .pause = s->pause, .unseen = s->pause};
  return WTL_MPI_GOES_ON;
}
