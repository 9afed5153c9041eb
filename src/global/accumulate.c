/* accumulate.c - the locks and the arithmetic of accumulates (accumulate.h). */
#include "global/accumulate.h"

#include <string.h>

#include "global/global.h"
#include "pgas/near.h"

/* --- locks -------------------------------------------------------------------------------------------------------- */

enum { FREE, HELD, WANTED }; /* WANTED: held, and other threads may wait for it */

typedef struct lock {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t word;
} lock;

size_t wtl_acc_locks_bytes(void)
{
  return WTL_ACC_LOCKS * sizeof(lock);
}

static bool may_be_free(void *word)
{
  return atomic_load_explicit((_Atomic uint32_t *)word, memory_order_acquire) != WANTED;
}

static void acquire(const wtl_acc *a, _Atomic uint32_t *word)
{
  uint32_t found = FREE;
  if (WTL_LIKELY(
          atomic_compare_exchange_strong_explicit(word, &found, HELD, memory_order_acquire, memory_order_relaxed)))
    return;
  while (atomic_exchange_explicit(word, WANTED, memory_order_acquire) != FREE)
    wtl_door_wait(&a->self->door, a->site, WTL_WATCH_CONTROL, may_be_free, word);
}

/* Releases a lock. The waiting PEs are not known, so all sleeping PEs of the node are woken. */
static void release(const wtl_acc *a, _Atomic uint32_t *word)
{
  const wtl_pe *self = a->self;
  if (WTL_LIKELY(atomic_exchange_explicit(word, FREE, memory_order_seq_cst) == HELD)) return;
  for (int slot = 0; slot < self->n_local; slot++) wtl_touch_control(self, self->boot.local_pe[slot]);
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

/* Elements may lie at any address. These types make the compiler use instructions that allow that. */
typedef unsigned any_int __attribute__((aligned(1), may_alias)); /* unsigned, because sums wrap */
typedef unsigned long any_long __attribute__((aligned(1), may_alias));
typedef float any_float __attribute__((aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));

#define PLAIN(T)                                                                                                       \
  static inline __attribute__((always_inline)) void add_##T(char *there, const char *here, size_t n)                   \
  {                                                                                                                    \
    any_##T *y = (any_##T *)(void *)there;                                                                             \
    const any_##T *x = (const any_##T *)(const void *)here;                                                            \
    for (size_t i = 0; i < n; i++) y[i] += x[i];                                                                       \
  }                                                                                                                    \
  static inline                                                                                                        \
      __attribute__((always_inline)) void add_scaled_##T(char *there, const char *here, size_t n, const void *scale)   \
  {                                                                                                                    \
    any_##T *y = (any_##T *)(void *)there;                                                                             \
    const any_##T *x = (const any_##T *)(const void *)here;                                                            \
    const any_##T a = *(const any_##T *)scale;                                                                         \
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];                                                                   \
  }
#define COMPLEX(T)                                                                                                     \
  static inline __attribute__((always_inline)) void add_scaled_complex_##T(char *there, const char *here, size_t n,    \
                                                                           const void *scale)                          \
  {                                                                                                                    \
    any_##T *y = (any_##T *)(void *)there;                                                                             \
    const any_##T *x = (const any_##T *)(const void *)here;                                                            \
    const any_##T re = ((const any_##T *)scale)[0], im = ((const any_##T *)scale)[1];                                  \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                                            \
      y[i] += re * x[i] - im * x[i + 1];                                                                               \
      y[i + 1] += re * x[i + 1] + im * x[i];                                                                           \
    }                                                                                                                  \
  }
PLAIN(int)
PLAIN(long)
PLAIN(float)
PLAIN(double)
COMPLEX(float)
COMPLEX(double)

static inline __attribute__((always_inline)) void compute(enum wtl_acc_type type, const void *scale, char *there,
                                                          const char *here, size_t n)
{
  size_t elements = n / wtl_acc_bytes(type);
  if (scale) {
    switch (type) {
    case WTL_ACC_INT: add_scaled_int(there, here, elements, scale); break;
    case WTL_ACC_LONG: add_scaled_long(there, here, elements, scale); break;
    case WTL_ACC_FLOAT: add_scaled_float(there, here, elements, scale); break;
    case WTL_ACC_DOUBLE: add_scaled_double(there, here, elements, scale); break;
    case WTL_ACC_FCOMPLEX: add_scaled_complex_float(there, here, elements, scale); break;
    default: add_scaled_complex_double(there, here, elements, scale);
    }
    return;
  }
  switch (type) {
  case WTL_ACC_INT: add_int(there, here, elements); break;
  case WTL_ACC_LONG: add_long(there, here, elements); break;
  case WTL_ACC_FLOAT: add_float(there, here, elements); break;
  case WTL_ACC_DOUBLE: add_double(there, here, elements); break;
  case WTL_ACC_FCOMPLEX: add_float(there, here, 2 * elements); break;
  default: add_double(there, here, 2 * elements);
  }
}

static void compute_plain(enum wtl_acc_type type, const void *scale, char *there, const char *here, size_t n)
{
  compute(type, scale, there, here, n);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void compute_avx2(enum wtl_acc_type type, const void *scale, char *there,
                                                         const char *here, size_t n)
{
  compute(type, scale, there, here, n);
}
#endif

static inline void compute_best(enum wtl_acc_type type, const void *scale, char *there, const char *here, size_t n)
{
#if defined(__x86_64__)
  if (n > 32 && __builtin_cpu_supports("avx2")) {
    compute_avx2(type, scale, there, here, n);
    return;
  }
#endif
  compute_plain(type, scale, there, here, n);
}

bool wtl_acc_is_one(enum wtl_acc_type type, const void *scale)
{
  switch (type) {
  case WTL_ACC_INT: return *(const any_int *)scale == 1;
  case WTL_ACC_LONG: return *(const any_long *)scale == 1;
  case WTL_ACC_FLOAT: return *(const any_float *)scale == 1;
  case WTL_ACC_DOUBLE: return *(const any_double *)scale == 1;
  case WTL_ACC_FCOMPLEX: return ((const any_float *)scale)[0] == 1 && ((const any_float *)scale)[1] == 0;
  default: return ((const any_double *)scale)[0] == 1 && ((const any_double *)scale)[1] == 0;
  }
}

/* --- a series of accumulates -------------------------------------------------------------------------------------- */

void wtl_acc_begin(wtl_acc *a, wtl_pe *self, wtl_site *site, enum wtl_acc_type type, const void *scale, int slot)
{
  *a = (wtl_acc){.self = self, .site = site, .type = type};
  a->locks = self->global->locks + (size_t)slot * wtl_acc_locks_bytes();
  a->scale = wtl_acc_is_one(type, scale) ? NULL : scale;
}

/* An address is the same in all PEs of the node, so they all find the same lock for it. */
static _Atomic uint32_t *lock_of(const wtl_acc *a, const char *there)
{
  return &((lock *)(void *)a->locks)[(uintptr_t)there / WTL_ACC_SPAN % WTL_ACC_LOCKS].word;
}

/* An element that crosses the border of a span belongs to the span in which it begins. */
void wtl_acc_add(wtl_acc *a, char *there, const char *here, size_t n)
{
  size_t size = wtl_acc_bytes(a->type);
  while (n > 0) {
    _Atomic uint32_t *word = lock_of(a, there);
    size_t to_border = WTL_ACC_SPAN - (uintptr_t)there % WTL_ACC_SPAN;
    size_t step = n <= to_border ? n : (to_border + size - 1) / size * size;
    if (step > n) step = n;
    if (word != a->held) {
      wtl_acc_end(a);
      acquire(a, word);
      a->held = word;
    }
    compute_best(a->type, a->scale, there, here, step);
    there += step;
    here += step;
    n -= step;
  }
}

void wtl_acc_end(wtl_acc *a)
{
  if (a->held) release(a, a->held);
  a->held = NULL;
}
