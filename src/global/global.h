/*
 * global.h - global memory: each PE allocates its own, of any size, and all PEs access it by its address.
 *
 * DESIGN
 *
 * It lies in its own arena, which all PEs of a node have at one address. Plain loads and stores reach memory of PEs of
 * this node, and no address is translated. Memory of a PE of another node is named by (PE, its address there) and
 * reached by messages: contiguous transfers as any put, the others packed (packed.h).
 *
 * The order is that of ARMCI. Blocking operations of one PE on the memory of another take effect in program order.
 * Between nodes a message can overtake earlier ones in two cases: messages of WTL_NET_LARGE bytes and more, and packed
 * messages, which wait for a thread that serves them. So an operation whose message could arrive early first completes
 * the earlier ones to that PE. Non-blocking operations (`blocking` false) come after earlier blocking ones, and after
 * operations that have been waited for. They have no order among each other.
 */
#ifndef WTL_GLOBAL_GLOBAL_H
#define WTL_GLOBAL_GLOBAL_H

#include <pthread.h>

#include "base/words.h"
#include "global/accumulate.h"
#include "global/strides.h"
#include "pgas/rma.h"
#include "pgas/pe.h"

/* Counts the pending parts of an operation, in one word for each kind of part. All zeros: nothing is pending. */
typedef struct wtl_request {
  _Atomic uint32_t by_net;    /* changed under the network's lock */
  _Atomic uint32_t by_packed; /* changed by threads that run handlers */
} wtl_request;

/* The bytes of one of two symmetric buffers, for collectives whose arguments are not symmetric. */
enum { WTL_BOUNCE_BYTES = 65536 };

typedef struct wtl_fetch wtl_fetch; /* packed.c */
struct wtl_block_table;             /* block_table.h */

typedef struct wtl_global {
  size_t bytes;    /* of each PE; wtl_pe.global_map has the addresses */
  char *locks;     /* of accumulates, by local rank (accumulate.h) */
  char *bounce[2]; /* symmetric */
  /* Packed messages sent to each PE, and those of them known to be complete. NULL if all PEs are on this node. */
  _Atomic uint32_t *packed, *completed;
  /* Waits so far, and for each PE the number of waits when its operations were last ordered. */
  _Atomic uint32_t epoch, *ordered;
  wtl_heap heap;                  /* of this PE */
  struct wtl_block_table *blocks; /* the tables that the PEs publish; NULL without SHMEM_DEBUG */
  wtl_site served;                /* waits of handlers */
  pthread_mutex_t lock;           /* protects the members below */
  wtl_fetch *fetches;
  uint64_t last_fetch;
  char *reply_buffer; /* buffer in which handlers pack replies */
  wtl_arena arena;
} wtl_global;

/* For the network: this PE's memory and its length. NULL: it has none. */
char *wtl_global_region(const wtl_pe *self, uint64_t *n);

static inline bool wtl_global_is_near(const wtl_pe *self, int pe)
{
  return WTL_LIKELY(self->slot_of[pe] >= 0);
}

/* The beginning of this PE's own memory. */
static inline char *wtl_global_own(const wtl_pe *self)
{
  return self->global_map.slices + (size_t)self->slot * self->global_map.stride;
}

/* Whether `n` bytes at `p`, an address of PE `pe`, lie in its global memory. */
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
 * A PE may sleep until atomic operations (pgas/rma.h) change words of its global memory: they ring its doorbell. Puts,
 * gets and accumulates within a node do not.
 */
static inline wtl_watch wtl_global_watch(const wtl_pe *self, const void *p)
{
  return WTL_WATCH_OFFSET(WTL_GLOBAL_WATCH + wtl_near_global_offset(self, self->slot, p));
}

/* Copies between addresses of this process, which may overlap. Aligned words are stored whole. */
static inline void wtl_global_near_copy(void *to, const void *from, size_t n)
{
  if (n == 8 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0)
    __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
  else if (n == 4 && (((uintptr_t)to | (uintptr_t)from) & 3) == 0)
    __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
  else
    memmove(to, from, n);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

enum wtl_global_kind { WTL_GLOBAL_PUT, WTL_GLOBAL_ACC, WTL_GLOBAL_GET };

typedef struct wtl_global_op wtl_global_op;

/* An operation on the global memory of one PE. On a PE of this node it uses loads and stores, and is complete on
 * return. */
struct wtl_global_op {
  wtl_pe *self;
  wtl_site *site;
  enum wtl_global_kind kind;
  int pe;
  bool blocking;
  enum wtl_acc_type type; /* of an accumulate, as is `scale` */
  const void *scale;
  /* Between nodes: counts until the memory on this side may be reused or is filled. NULL: `begin` sets it, before
   * the first message of the operation. */
  wtl_request *request;
  void (*begin)(wtl_global_op *op);
};

/* Moves the blocks of `s`. `here` and `there` are the addresses of the first block in this PE's memory and in the
 * target's. */
void wtl_global_move(wtl_global_op *op, const wtl_strides *s, char *here, char *there);

/* `n` blocks of `bytes` each. The lists may be reused on return. */
typedef struct wtl_block_list {
  size_t n, bytes;
  char *const *here, *const *there;
} wtl_block_list;

void wtl_global_move_list(wtl_global_op *op, const wtl_block_list *l);

/* Puts or gets `n` bytes if the target is a PE of this node. False: it is on another node. */
static inline __attribute__((always_inline)) bool wtl_global_copy_near(const wtl_pe *self, int pe, void *to,
                                                                       const void *from, size_t n)
{
  if (WTL_UNLIKELY(self->slot_of[pe] < 0)) return false;
  wtl_os_near_access(n);
  wtl_global_near_copy(to, from, n);
  return true;
}

/* Returns the old value. It rings no doorbell. */
uint64_t wtl_global_far_amo(const wtl_op *op, void *at, const wtl_atomic *a);
static inline __attribute__((always_inline)) uint64_t wtl_global_amo(wtl_op op, void *at, wtl_atomic a)
{
  if (WTL_LIKELY(op.self->slot_of[op.pe] >= 0)) {
    wtl_os_near_access(a.size);
    return wtl_atomic_execute(at, a);
  }
  return wtl_global_far_amo(WTL_STORED(op), at, &(wtl_atomic){a.kind, a.size, a.operand, a.condition});
}

static inline bool wtl_global_request_is_done(const wtl_request *r)
{
  return atomic_load_explicit(&r->by_net, memory_order_acquire) == 0 &&
         atomic_load_explicit(&r->by_packed, memory_order_acquire) == 0;
}

/* Waits until the operation is complete. Operations that begin later are ordered after it. */
void wtl_global_request_wait(wtl_pe *self, wtl_site *site, wtl_request *r);

/* Completes all operations of this PE on the memory of PE `pe`, or of all PEs (-1), and makes them visible to all
 * PEs. */
void wtl_global_fence(wtl_pe *self, wtl_site *site, int pe);

/* global.c: completes what must be complete before the first message, plain or packed, of an operation on a PE of
 * another node. */
void wtl_global_before(const wtl_global_op *op, bool is_packed);

/* global.c: moves `n` bytes in a message of their own. */
void wtl_global_move_plain(const wtl_global_op *op, char *here, char *there, size_t n);

#endif
