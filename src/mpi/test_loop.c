/*
 * test_loop.c - finds out whether a thread of the program waits between its tests, or computes.
 *
 * A loop that only tests returns to the same state: it calls the same test from the same place, with the same registers
 * and the same stack. A loop that computes has another state, or calls from another place. The clock cannot distinguish
 * the two, because computing between two tests may take less time than a test. A sleep of up to a millisecond before
 * each step would make a loop that computes a thousand times slower.
 *
 * So a thread stands still if its state equals that of an earlier test, twice in a row. A loop over several requests
 * returns to its state after as many tests. If the state does not return within WINDOW tests, the search pauses, each
 * time for longer. Computing that leaves no trace in registers or on the stack is not seen, so program_tests.c also
 * limits the time between two tests.
 *
 * A test of a complete request, of a null request or for a message that is not received yet succeeds in each turn of a
 * loop that waits for something else. So a test that succeeds again with the same state changes nothing, and does not
 * end the wait. Only a test that fails begins one or sleeps.
 */
#include "mpi/mpi_front.h"

#include <sys/mman.h>

#include "base/align.h"

_Thread_local wtl_mpi_held wtl_mpi_at_test __attribute__((tls_model("initial-exec")));

/* FOUND: the tests of one loop that may succeed in each of its turns. */
enum { WINDOW = 64, MOST_UNSEEN = 16384, STACK_WORDS = 128, FOUND = 8 };

/* The hashes at the last tests of the loop that succeeded with another state than those before. */
static _Thread_local uint64_t found[FOUND] __attribute__((tls_model("initial-exec")));

/* Returns how many words of the stack may be read. The stack of a coroutine may end at any page. */
static size_t readable(const uintptr_t *from)
{
  uintptr_t next = wtl_page_up((uintptr_t)from + 1);
  size_t here = (next - (uintptr_t)from) / sizeof *from;
  unsigned char resident;
  return here >= STACK_WORDS || mincore((void *)next, 1, &resident) == 0 ? STACK_WORDS : here;
}

/* Hashes words on the stacks of other functions, which AddressSanitizer would refuse. */
__attribute__((no_sanitize("address"))) static uint64_t hash_words(const uintptr_t *words, size_t n)
{
  uint64_t s[4] = {1, 2, 3, 4};
  for (size_t i = 0; i < n; i++) s[i % 4] = (s[i % 4] ^ words[i]) * 0x9e3779b97f4a7c15u + (s[i % 4] >> 29);
  return s[0] ^ s[1] * 3 ^ s[2] * 5 ^ s[3] * 7;
}

static uint64_t state_hash(void)
{
  const wtl_mpi_held *h = &wtl_mpi_at_test;
  const uintptr_t *stack = (const uintptr_t *)h->word[0];
  return hash_words(h->word, WTL_MPI_HELD_WORDS) * 31 + hash_words(stack, readable(stack));
}

wtl_mpi_loop_state wtl_mpi_test_loop_check(wtl_mpi_test_loop *s)
{
  if (s->unseen > 0) {
    s->unseen--;
    return WTL_MPI_LOOP_COMPUTES;
  }
  uint64_t now = state_hash();
  if (now == s->mark) {
    s->tests = 0;
    s->pause = 0;
    if (s->times < 2) s->times++;
    return s->times == 2 ? WTL_MPI_LOOP_ONLY_TESTS : WTL_MPI_LOOP_UNKNOWN;
  }
  if (s->mark && ++s->tests <= WINDOW) return WTL_MPI_LOOP_UNKNOWN;
  if (s->mark) s->pause = s->pause == 0 ? WINDOW : s->pause < MOST_UNSEEN ? 2 * s->pause : s->pause;
  *s = (wtl_mpi_test_loop){.mark = now, .pause = s->pause, .unseen = s->pause};
  return WTL_MPI_LOOP_COMPUTES;
}

bool wtl_mpi_test_loop_found_again(wtl_mpi_test_loop *s)
{
  uint64_t now = state_hash();
  for (uint32_t i = 0; i < s->n_found && i < FOUND; i++)
    if (found[i] == now) return true;
  found[s->n_found++ % FOUND] = now;
  return false;
}
