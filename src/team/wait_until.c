/* wait_until.c - waits for a variable that other PEs (or, if it is private, threads and handlers) change. */
#include "team/wait_until.h"
#include "pgas/near.h"

/* Maps a variable to uint64_t and preserves the order: signed values are extended and their sign bit is flipped. */
static inline uint64_t flip(uint64_t v)
{
  return v ^ (1ull << 63);
}

static uint64_t load(const void *variable, enum wtl_word word)
{
  switch (word) {
  case WTL_I16: return flip((uint64_t)(int64_t)__atomic_load_n((const int16_t *)variable, __ATOMIC_ACQUIRE));
  case WTL_U16: return __atomic_load_n((const uint16_t *)variable, __ATOMIC_ACQUIRE);
  case WTL_I32: return flip((uint64_t)(int64_t)__atomic_load_n((const int32_t *)variable, __ATOMIC_ACQUIRE));
  case WTL_U32: return __atomic_load_n((const uint32_t *)variable, __ATOMIC_ACQUIRE);
  case WTL_I64: return flip(__atomic_load_n((const uint64_t *)variable, __ATOMIC_ACQUIRE));
  default: return __atomic_load_n((const uint64_t *)variable, __ATOMIC_ACQUIRE);
  }
}

bool wtl_compare(const void *variable, enum wtl_word word, int cmp, uint64_t value)
{
  uint64_t now = load(variable, word);
  if (word == WTL_I16 || word == WTL_I32 || word == WTL_I64) value = flip(value);
  switch (cmp) {
  case WTL_CMP_EQ: return now == value;
  case WTL_CMP_NE: return now != value;
  case WTL_CMP_GT: return now > value;
  case WTL_CMP_GE: return now >= value;
  case WTL_CMP_LT: return now < value;
  default: return now <= value;
  }
}

typedef struct condition {
  const void *variable;
  uint64_t value;
  enum wtl_word word;
  int cmp;
} condition;

static bool condition_holds(void *arg)
{
  condition *w = arg;
  return wtl_compare(w->variable, w->word, w->cmp, w->value);
}

/*
 * Threads of a PE may notify each other by stores of the program itself, which ring no doorbell. So a thread that
 * begins to wait rings once for the sleeping threads of its PE. They then check their conditions again.
 */
static void wake_sleeping_threads(wtl_pe *self, bool (*ready)(void *), void *arg)
{
  if (WTL_UNLIKELY(self->thread_level == WTL_THREAD_MULTIPLE)) {
    wtl_bell *bell = &wtl_control_of(self, self->me)->bell;
    wtl_fence();
    if (wtl_bell_has_sleeper(bell) && !ready(arg)) wtl_bell_ring(bell);
  }
}

static void wait_for(wtl_pe *self, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  wake_sleeping_threads(self, ready, arg);
  wtl_door_wait(&self->door, site, watch, ready, arg);
}

void wtl_wait_until(wtl_pe *self, wtl_site *site, const void *variable, enum wtl_word word, int cmp, uint64_t value)
{
  condition w = {variable, value, word, cmp};
  wait_for(self, site, wtl_watch_of(self, variable), condition_holds, &w);
}

void wtl_wait_for_signal(wtl_pe *self, wtl_site *site, const uint64_t *signal, int cmp, uint64_t value)
{
  condition w = {signal, value, WTL_U64, cmp};
  wake_sleeping_threads(self, condition_holds, &w);
  wtl_door_wait_for_signal(&self->door, site, wtl_watch_of(self, signal), condition_holds, &w);
}

/* --- several variables -------------------------------------------------------------------------------------------- */

static size_t width(enum wtl_word word)
{
  static const size_t bytes[] = {
      [WTL_I16] = 2, [WTL_U16] = 2, [WTL_I32] = 4, [WTL_U32] = 4, [WTL_I64] = 8, [WTL_U64] = 8};
  return bytes[word];
}

/* An element of the program's array of values, extended in the same way as the variables. */
static uint64_t value_at(const wtl_many *m, size_t i)
{
  if (!m->values) return m->value;
  uint64_t v = load((const char *)m->values + i * width(m->word), m->word);
  return m->word == WTL_I16 || m->word == WTL_I32 || m->word == WTL_I64 ? flip(v) : v;
}

static bool is_in(const wtl_many *m, size_t i)
{
  return !m->status || m->status[i] == 0;
}

static bool is_empty(const wtl_many *m)
{
  for (size_t i = 0; i < m->n; i++)
    if (is_in(m, i)) return false;
  return true;
}

static bool holds(const wtl_many *m, size_t i)
{
  return wtl_compare((const char *)m->variables + i * width(m->word), m->word, m->cmp, value_at(m, i));
}

/* The cache line that holds all variables, or everything. */
static wtl_watch watch_of(const wtl_pe *self, const wtl_many *m)
{
  const char *first = m->variables, *last = first + (m->n - 1) * width(m->word);
  wtl_watch watch = wtl_watch_of(self, first);
  return watch == wtl_watch_of(self, last) ? watch : WTL_WATCH_ALL;
}

bool wtl_test_all(const wtl_many *m)
{
  for (size_t i = 0; i < m->n; i++)
    if (is_in(m, i) && !holds(m, i)) return false;
  return true;
}

static bool all_hold(void *arg)
{
  return wtl_test_all(arg);
}

void wtl_wait_all(wtl_pe *self, wtl_site *site, const wtl_many *m)
{
  if (m->n) wait_for(self, site, watch_of(self, m), all_hold, (void *)(uintptr_t)m);
}

/* The first variable that holds, searched cyclically from `start`. */
static size_t first_from(const wtl_many *m, size_t start)
{
  for (size_t k = 0; k < m->n; k++) {
    size_t i = start + k < m->n ? start + k : start + k - m->n;
    if (is_in(m, i) && holds(m, i)) return i;
  }
  return SIZE_MAX;
}

size_t wtl_test_any(wtl_pe *self, const wtl_many *m)
{
  return m->n ? first_from(m, atomic_fetch_add_explicit(&self->turns, 1, memory_order_relaxed) % m->n) : SIZE_MAX;
}

static bool any_holds(void *arg)
{
  return first_from(arg, 0) != SIZE_MAX;
}

size_t wtl_wait_any(wtl_pe *self, wtl_site *site, const wtl_many *m)
{
  size_t i;
  if (is_empty(m)) return SIZE_MAX;
  /* A variable that held may not hold any more when it is looked up. Then the PE waits again. */
  while ((i = wtl_test_any(self, m)) == SIZE_MAX)
    wait_for(self, site, watch_of(self, m), any_holds, (void *)(uintptr_t)m);
  return i;
}

size_t wtl_test_some(const wtl_many *m, size_t *indices)
{
  size_t found = 0;
  for (size_t i = 0; i < m->n; i++)
    if (is_in(m, i) && holds(m, i)) indices[found++] = i;
  return found;
}

size_t wtl_wait_some(wtl_pe *self, wtl_site *site, const wtl_many *m, size_t *indices)
{
  size_t found;
  if (is_empty(m)) return 0;
  while ((found = wtl_test_some(m, indices)) == 0)
    wait_for(self, site, watch_of(self, m), any_holds, (void *)(uintptr_t)m);
  return found;
}
