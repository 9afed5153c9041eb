/*
 * global.h - global memory: each PE allocates its own, of any size, and all PEs reach it by its address.
 *
 * It lies in an arena of its own, which all PEs of a node have at one address: what a PE of this node allocated is
 * reached by plain loads and stores, with nothing to translate. What a PE of another node allocated is (PE, its address
 * there), and is reached by messages: contiguous ones as any put, the others packed (packed.h).
 *
 * Order, as ARMCI has it: of what one PE does to the memory of another by calls that block, what comes later finds what
 * came before done. Between nodes messages may pass each other in two ways: those of WTL_NET_LARGE bytes and more, and
 * packed ones, which wait for who serves them. So before a call whose message could be early, that PE's are completed.
 * Calls that do not block (`blocking` false in what follows) come after what was blocking, and after what has been
 * waited for; among each other they have no order.
 */
#ifndef WTL_GLOBAL_GLOBAL_H
#define WTL_GLOBAL_GLOBAL_H

#include <pthread.h>

#include "base/words.h"
#include "global/accumulate.h"
#include "global/strides.h"
#include "pgas/rma.h"
#include "pgas/pe.h"

/* What the end of an operation is counted in, by who ends it. All zeros: nothing is under way. */
typedef struct wtl_request {
  _Atomic uint32_t by_net;    /* changed under the network's lock */
  _Atomic uint32_t by_packed; /* changed by who runs handlers */
} wtl_request;

/* Symmetric memory for collectives whose arguments are not: twice this. */
enum { WTL_BOUNCE_BYTES = 65536 };

typedef struct wtl_fetch wtl_fetch; /* packed.c */
struct wtl_block_table;             /* block_table.h */

typedef struct wtl_global {
  size_t bytes;    /* of each PE; where it lies says wtl_pe.global_map */
  char *locks;     /* of accumulates, by slot (accumulate.h) */
  char *bounce[2]; /* symmetric */
  _Atomic uint32_t *packed,
      *completed; /* by PE: packed messages sent there, and of these known to be done; NULL where all PEs
                                           are on this node */
  _Atomic uint32_t epoch, *ordered; /* waits so far, and by PE: at which of them it was last put in order */
  wtl_heap heap;                    /* of this PE */
  struct wtl_block_table *blocks;   /* that PEs tell each other; NULL without SHMEM_DEBUG */
  wtl_site served;                  /* waits of handlers */
  pthread_mutex_t lock;             /* for what follows */
  wtl_fetch *fetches;
  uint64_t last_fetch;
  char *room; /* where handlers pack what they answer */
  wtl_arena arena;
} wtl_global;

/* For the network: this PE's memory, and its length. NULL: there is none. */
char *wtl_global_region(const wtl_pe *self, uint64_t *n);

static inline bool wtl_global_is_near(const wtl_pe *self, int pe)
{
  return WTL_LIKELY(self->slot_of[pe] >= 0);
}

/* Where this PE's own memory begins. */
static inline char *wtl_global_own(const wtl_pe *self)
{
  return self->global_map.slices + (size_t)self->slot * self->global_map.stride;
}

/* Do `n` bytes at `p`, an address of PE `pe`'s, lie in its global memory? */
static inline bool wtl_global_has(const wtl_pe *self, const void *p, size_t n, int pe)
{
  size_t at = (size_t)((const char *)p - self->global_map.start[pe]), bytes = self->global->bytes;
  return at <= bytes && n <= bytes - at;
}

static inline wtl_place wtl_global_place(const wtl_pe *self, const void *p, int pe)
{
  return (wtl_place){(uint64_t)((const char *)p - self->global_map.start[pe]), WTL_SEGMENT_GLOBAL};
}

/*
 * Bells: a PE sleeps for words of its global memory that atomic operations (pgas/rma.h) change. Puts, gets and
 * accumulates within a node ring no bell.
 */
static inline wtl_watch wtl_global_watch(const wtl_pe *self, const void *p)
{
  return WTL_WATCH_OFFSET(WTL_GLOBAL_WATCH + wtl_near_global_offset(self, self->slot, p));
}

/* Between addresses of this process. The two may overlap. Words are stored whole. */
static inline void wtl_global_near_copy(void *to, const void *from, size_t n)
{
  if (n == 8 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0)
    __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
  else if (n == 4 && (((uintptr_t)to | (uintptr_t)from) & 3) == 0)
    __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
  else
    memmove(to, from, n);
}

/* --- operations ---------------------------------------------------------------------------------------------------- */

enum wtl_global_kind { WTL_GLOBAL_PUT, WTL_GLOBAL_ACC, WTL_GLOBAL_GET };

typedef struct wtl_global_op wtl_global_op;

/* An operation on the global memory of one PE. On a PE of this node it is done on return, by loads and stores. */
struct wtl_global_op {
  wtl_pe *self;
  wtl_site *site;
  enum wtl_global_kind kind;
  int pe;
  bool blocking;
  enum wtl_acc_type type; /* of an accumulate, as is `scale` */
  const void *scale;
  /* Between nodes: counts until the memory on this side is free, or filled. NULL: `begin` sets it, before the first
   * message of the operation. */
  wtl_request *request;
  void (*begin)(wtl_global_op *op);
};

/* The blocks of `s`; `here` and `there` are the first ones' addresses in this PE's memory and in the target's. */
void wtl_global_move(wtl_global_op *op, const wtl_strides *s, char *here, char *there);

/* `n` blocks of `bytes` each. The lists may be reused on return. */
typedef struct wtl_block_list {
  size_t n, bytes;
  char *const *here, *const *there;
} wtl_block_list;

void wtl_global_move_list(wtl_global_op *op, const wtl_block_list *l);

/* A put or a get of `n` bytes to a PE of this node; false: it is on another. */
static inline __attribute__((always_inline)) bool wtl_global_copy_near(const wtl_pe *self, int pe, void *to,
                                                                       const void *from, size_t n)
{
  if (WTL_UNLIKELY(self->slot_of[pe] < 0)) return false;
  wtl_global_near_copy(to, from, n);
  return true;
}

/* Returns the old value. It rings no bell. */
uint64_t wtl_global_far_amo(const wtl_op *op, void *at, const wtl_atomic *a);
static inline __attribute__((always_inline)) uint64_t wtl_global_amo(wtl_op op, void *at, wtl_atomic a)
{
  if (WTL_LIKELY(op.self->slot_of[op.pe] >= 0)) return wtl_atomic_execute(at, a);
  return wtl_global_far_amo(WTL_STORED(op), at, &(wtl_atomic){a.kind, a.size, a.operand, a.condition});
}

static inline bool wtl_global_request_is_done(const wtl_request *r)
{
  return atomic_load_explicit(&r->by_net, memory_order_acquire) == 0 &&
         atomic_load_explicit(&r->by_packed, memory_order_acquire) == 0;
}

/* What begins from here on comes after it. */
void wtl_global_request_wait(wtl_pe *self, wtl_site *site, wtl_request *r);

/* All that this PE did so far to the memory of PE `pe`, or with -1 of all, is done and seen by all. */
void wtl_global_fence(wtl_pe *self, wtl_site *site, int pe);

/* global.c, packed.c: what an operation on a PE of another node waits for before its first message: a plain or a packed
 * one. */
void wtl_global_before(const wtl_global_op *op, bool is_packed);

/* global.c: `n` bytes as a message of their own. */
void wtl_global_move_plain(const wtl_global_op *op, char *here, char *there, size_t n);

#endif
