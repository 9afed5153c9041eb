/* own_poll.c - finds loops in which the program itself polls a word of its PE, and yields in them. */
#include <sched.h>

#include "pgas/frame.h"

/* The last sample of a thread: the calls of its site and the bytes of all calls by then. */
static _Thread_local struct {
  const wtl_site *site;
  const void *there;
  uint64_t value, calls, bytes;
} last;

static uint64_t value_of(const void *word, uint64_t bytes)
{
  switch (bytes) {
  case sizeof(uint16_t): return __atomic_load_n((const uint16_t *)word, __ATOMIC_RELAXED);
  case sizeof(uint32_t): return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
  case sizeof(uint64_t): return __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED);
  default: return 0;
  }
}

void wtl_own_poll_check(const wtl_pe *self, const wtl_site *site, uint64_t bytes, int pe, const void *there)
{
  uint64_t value = 0, all = wtl_thread_sites.table->bytes;
  if (!self->door.stages.crowded) return;
  if (pe >= 0) {
    bool is_word = bytes && bytes <= sizeof value && (uintptr_t)there % bytes == 0;
    if (pe != self->me || !is_word || bytes > wtl_symmetric_bytes(self, there)) return;
    value = value_of(there, bytes);
  }
  bool is_same = last.site == site && last.there == there && last.value == value &&
                 all - last.bytes == (site->calls - last.calls) * bytes;
  last.site = site;
  last.there = there;
  last.value = value;
  last.calls = site->calls;
  last.bytes = all;
  if (is_same) sched_yield();
}
