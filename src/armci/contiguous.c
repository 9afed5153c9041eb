/* One block: put, get, accumulate, single values, read-modify-write. To a process of this node these are loads and
 * stores. */
#include <string.h>

#include "armci/armci_front.h"
#include "global/packed.h"

void armci_far_put(const wtl_frame *f, const void *src, void *dst, size_t n, int proc, armci_waiter *w)
{
  wtl_global_put(f->self, f->site, dst, src, n, proc, w->blocking, w->request);
}

void armci_far_get(const wtl_frame *f, const void *src, void *dst, size_t n, int proc, armci_waiter *w)
{
  wtl_global_get(f->self, f->site, dst, src, n, proc, w->blocking, w->request);
}

void armci_accumulate(const wtl_frame *f, int datatype, const void *scale, void *src, void *dst, size_t n, int proc,
                      armci_waiter *w)
{
  wtl_pe *self = f->self;
  wtl_acc a;
  if (n == 0) return;
  if (!wtl_is_near(self, proc)) {
    wtl_packed how = {WTL_PACKED_ACC, (enum wtl_acc_type)datatype, scale, proc, w->blocking};
    armci_begin_transfer(f, w, WTL_ACCS, n, true);
    wtl_packed_patch(self, f->site, &how, &(wtl_strides){.block = n}, src, dst, w->request);
    return;
  }
  wtl_acc_begin(&a, self, f->site, (enum wtl_acc_type)datatype, scale, self->slot_of[proc]);
  wtl_acc_add(&a, dst, src, n);
  wtl_acc_end(&a);
}

static inline size_t size_of(const wtl_frame *f, int bytes)
{
  armci_check_that(f, bytes >= 0, "bytes", bytes, "0 and more");
  return (size_t)bytes;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static inline void begin(const wtl_frame *f, armci_waiter *w, armci_hdl_t *hdl, bool blocking)
{
  if (blocking)
    armci_begin_blocking(w);
  else
    armci_begin_nonblocking(f, w, hdl);
}

static inline __attribute__((always_inline)) void put(const wtl_frame *f, void *src, void *dst, int bytes, int proc,
                                                      armci_hdl_t *hdl, bool blocking)
{
  size_t n = size_of(f, bytes);
  armci_waiter w;
  armci_check_proc(f, proc);
  armci_check_place(f, "dst", dst, n, proc);
  armci_check_given(f, "src", src, n);
  if (WTL_UNLIKELY(n == 0)) return;
  if (wtl_is_near(f->self, proc)) {
    wtl_near_copy(dst, src, n);
    return;
  }
  begin(f, &w, hdl, blocking);
  armci_begin_transfer(f, &w, WTL_PUTS, n, true);
  armci_far_put(f, src, dst, n, proc, &w);
  armci_end(f, &w);
}

static inline __attribute__((always_inline)) void get(const wtl_frame *f, void *src, void *dst, int bytes, int proc,
                                                      armci_hdl_t *hdl, bool blocking)
{
  size_t n = size_of(f, bytes);
  armci_waiter w;
  armci_check_proc(f, proc);
  armci_check_place(f, "src", src, n, proc);
  armci_check_given(f, "dst", dst, n);
  if (WTL_UNLIKELY(n == 0)) return;
  if (wtl_is_near(f->self, proc)) {
    wtl_near_copy(dst, src, n);
    return;
  }
  begin(f, &w, hdl, blocking);
  armci_begin_transfer(f, &w, WTL_GETS, n, false);
  armci_far_get(f, src, dst, n, proc, &w);
  armci_end(f, &w);
}

static void check_accumulate(const wtl_frame *f, int datatype, const void *scale, const void *src, const void *dst,
                             int bytes, int proc)
{
  size_t n = size_of(f, bytes);
  armci_check_proc(f, proc);
  armci_check_type(f, datatype);
  armci_check_that(f, n % wtl_acc_bytes((enum wtl_acc_type)datatype) == 0, "bytes", bytes,
                   "multiples of an element's bytes");
  armci_check_place(f, "dst", dst, n, proc);
  armci_check_given(f, "scale", scale, n);
  armci_check_given(f, "src", src, n);
}

int PARMCI_Put(void *src, void *dst, int bytes, int proc)
{
  ARMCI_ENTER(ARMCI_Put, bytes);
  put(&f, src, dst, bytes, proc, NULL, true);
  return armci_leave(&f);
}
ARMCI_TWIN(int, Put, void *src, void *dst, int bytes, int proc)

int PARMCI_Get(void *src, void *dst, int bytes, int proc)
{
  ARMCI_ENTER(ARMCI_Get, bytes);
  get(&f, src, dst, bytes, proc, NULL, true);
  return armci_leave(&f);
}
ARMCI_TWIN(int, Get, void *src, void *dst, int bytes, int proc)

int PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc)
{
  ARMCI_ENTER(ARMCI_Acc, bytes);
  armci_waiter w;
  check_accumulate(&f, datatype, scale, src, dst, bytes, proc);
  armci_begin_blocking(&w);
  armci_accumulate(&f, datatype, scale, src, dst, (size_t)bytes, proc, &w);
  armci_end(&f, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, Acc, int datatype, void *scale, void *src, void *dst, int bytes, int proc)

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbPut, bytes);
  put(&f, src, dst, bytes, proc, hdl, false);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbPut, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)

int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbGet, bytes);
  get(&f, src, dst, bytes, proc, hdl, false);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbGet, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)

int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbAcc, bytes);
  armci_waiter w;
  check_accumulate(&f, datatype, scale, src, dst, bytes, proc);
  armci_begin_nonblocking(&f, &w, hdl);
  armci_accumulate(&f, datatype, scale, src, dst, (size_t)bytes, proc, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbAcc, int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)

void ARMCI_Copy(void *src, void *dst, int bytes)
{
  if (bytes < 0)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: bytes=%d is not valid here; allowed: 0 and more", wtl_here("ARMCI_Copy"), bytes);
  if (bytes == 0) return;
  if (!src || !dst) wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL", wtl_here("ARMCI_Copy"), src ? "dst" : "src");
  memmove(dst, src, (size_t)bytes);
}

/* --- a put and a flag --------------------------------------------------------------------------------------------- */

/* What this process did to that memory before is there before it. */
void armci_set_flag(const wtl_frame *f, int *flag, int value, int proc)
{
  armci_waiter w;
  if (wtl_is_near(f->self, proc)) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
    return;
  }
  armci_begin_blocking(&w);
  armci_far_put(f, &value, flag, sizeof value, proc, &w);
  armci_end(f, &w);
}

int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc)
{
  ARMCI_ENTER(ARMCI_Put_flag, bytes);
  put(&f, src, dst, bytes, proc, NULL, true);
  armci_check_place(&f, "flag", flag, sizeof *flag, proc);
  armci_set_flag(&f, flag, value, proc);
  return armci_leave(&f);
}
ARMCI_TWIN(int, Put_flag, void *src, void *dst, int bytes, int *flag, int value, int proc)

/* --- values ------------------------------------------------------------------------------------------------------- */

#define VALUES(Name, type)                                                                                             \
  int PARMCI_PutValue##Name(type src, void *dst, int proc)                                                             \
  {                                                                                                                    \
    ARMCI_ENTER_AS(ARMCI_PutValue##Name, ARMCI_PutValue, sizeof src);                                                  \
    put(&f, &src, dst, sizeof src, proc, NULL, true);                                                                  \
    return armci_leave(&f);                                                                                            \
  }                                                                                                                    \
  ARMCI_TWIN(int, PutValue##Name, type src, void *dst, int proc)                                                       \
  int PARMCI_NbPutValue##Name(type src, void *dst, int proc, armci_hdl_t *hdl)                                         \
  {                                                                                                                    \
    ARMCI_ENTER_AS(ARMCI_NbPutValue##Name, ARMCI_NbPutValue, sizeof src);                                              \
    put(&f, &src, dst, sizeof src, proc, hdl, false); /* so few bytes are taken along at once */                       \
    return armci_leave(&f);                                                                                            \
  }                                                                                                                    \
  ARMCI_TWIN(int, NbPutValue##Name, type src, void *dst, int proc, armci_hdl_t *hdl)                                   \
  type PARMCI_GetValue##Name(void *src, int proc)                                                                      \
  {                                                                                                                    \
    type value;                                                                                                        \
    ARMCI_ENTER_AS(ARMCI_GetValue##Name, ARMCI_GetValue, sizeof value);                                                \
    get(&f, src, &value, sizeof value, proc, NULL, true);                                                              \
    wtl_leave(&f);                                                                                                     \
    return value;                                                                                                      \
  }                                                                                                                    \
  ARMCI_TWIN(type, GetValue##Name, void *src, int proc)
VALUES(Int, int)
VALUES(Long, long)
VALUES(Float, float)
VALUES(Double, double)

/* --- read-modify-write -------------------------------------------------------------------------------------------- */

/* Far values come as bytes; both kinds of machine that there are put the low ones first. */
static void far_rmw(const wtl_frame *f, wtl_atomic a, void *ploc, void *prem, int proc)
{
  uint64_t old = 0;
  wtl_global_amo(f->self, f->site, prem, a, &old, proc);
  memcpy(ploc, &old, a.size);
}

int PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc)
{
  bool is_long = op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG;
  bool swaps = op == ARMCI_SWAP || op == ARMCI_SWAP_LONG;
  size_t size = is_long ? sizeof(long) : sizeof(int);
  ARMCI_ENTER(ARMCI_Rmw, size);
  armci_check_proc(&f, proc);
  armci_check_that(&f, (unsigned)op <= ARMCI_SWAP_LONG, "op", op, "ARMCI_FETCH_AND_ADD and _SWAP, also with _LONG");
  armci_check_place(&f, "prem", prem, size, proc);
  armci_check_given(&f, "ploc", ploc, size);
  armci_check_that(&f, ((uintptr_t)prem & (size - 1)) == 0, "prem", (long)(uintptr_t)prem,
                   "addresses that are multiples of the operand's bytes");
  if (WTL_UNLIKELY(!wtl_is_near(f.self, proc))) {
    uint64_t operand = swaps && is_long ? (uint64_t) * (long *)ploc
                       : swaps          ? (uint64_t) * (int *)ploc
                                        : (uint64_t)(long)value;
    far_rmw(&f, (wtl_atomic){swaps ? WTL_AMO_SWAP : WTL_AMO_ADD, (uint32_t)size, operand, 0}, ploc, prem, proc);
    return armci_leave(&f);
  }
  switch (op) {
  case ARMCI_FETCH_AND_ADD: *(int *)ploc = __atomic_fetch_add((int *)prem, value, __ATOMIC_SEQ_CST); break;
  case ARMCI_FETCH_AND_ADD_LONG: *(long *)ploc = __atomic_fetch_add((long *)prem, (long)value, __ATOMIC_SEQ_CST); break;
  case ARMCI_SWAP: *(int *)ploc = __atomic_exchange_n((int *)prem, *(int *)ploc, __ATOMIC_SEQ_CST); break;
  default: *(long *)ploc = __atomic_exchange_n((long *)prem, *(long *)ploc, __ATOMIC_SEQ_CST);
  }
  return armci_leave(&f);
}
ARMCI_TWIN(int, Rmw, int op, void *ploc, void *prem, int value, int proc)
