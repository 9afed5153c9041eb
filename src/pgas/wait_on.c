/* Waiting on a variable that other PEs (or, for a private one, handlers) change. */
#include "pgas/sync.h"

/* Order-preserving map of a variable to uint64_t: signed values are extended and their sign bit flipped. */
static inline uint64_t flip(uint64_t v)
{
  return v ^ (1ull << 63);
}

static uint64_t load(const void *variable, enum wtl_word word)
{
  switch (word) {
  case WTL_I32: return flip((uint64_t)(int64_t)__atomic_load_n((const int32_t *)variable, __ATOMIC_ACQUIRE));
  case WTL_U32: return __atomic_load_n((const uint32_t *)variable, __ATOMIC_ACQUIRE);
  case WTL_I64: return flip(__atomic_load_n((const uint64_t *)variable, __ATOMIC_ACQUIRE));
  default: return __atomic_load_n((const uint64_t *)variable, __ATOMIC_ACQUIRE);
  }
}

bool wtl_compare(const void *variable, enum wtl_word word, int cmp, uint64_t value)
{
  uint64_t now = load(variable, word);
  if (word == WTL_I32 || word == WTL_I64) value = flip(value);
  switch (cmp) {
  case WTL_CMP_EQ: return now == value;
  case WTL_CMP_NE: return now != value;
  case WTL_CMP_GT: return now > value;
  case WTL_CMP_GE: return now >= value;
  case WTL_CMP_LT: return now < value;
  default: return now <= value;
  }
}

typedef struct wish {
  const void *variable;
  uint64_t value;
  enum wtl_word word;
  int cmp;
} wish;

static bool fulfilled(void *arg)
{
  wish *w = arg;
  return wtl_compare(w->variable, w->word, w->cmp, w->value);
}

void wtl_wait_until(wtl_pe *self, wtl_site *site, const void *variable, enum wtl_word word, int cmp, uint64_t value)
{
  wish w = {variable, value, word, cmp};
  wtl_door_wait(&self->door, site, wtl_watch_of(self, variable), fulfilled, &w);
}
