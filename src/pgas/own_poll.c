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

void wtl_frame_poll(const wtl_frame *f, wtl_target to)
{
  uint64_t value = 0, bytes = wtl_thread_sites.table->bytes;
  if (to.pe >= 0) {
    bool is_word = f->bytes && f->bytes <= sizeof value && (uintptr_t)to.there % f->bytes == 0;
    if (to.pe != f->self->me || to.puts || !is_word || f->bytes > wtl_symmetric_bytes(f->self, to.there)) return;
    value = value_of(to.there, f->bytes);
  }
  bool is_same = last.site == f->site && last.there == to.there && last.value == value &&
                 bytes - last.bytes == (f->site->calls - last.calls) * f->bytes;
  last.site = f->site;
  last.there = to.there;
  last.value = value;
  last.calls = f->site->calls;
  last.bytes = bytes;
  if (is_same) sched_yield();
}
