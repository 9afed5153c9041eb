/* contiguous.c - transfers of one block: put, get, accumulate, single values, read-modify-write. */
#include <string.h>

#include "armci/armci_front.h"
#include "pgas/rma.h"

static inline size_t size_of(const wtl_frame *f, int bytes)
{
  armci_check_that(f, bytes >= 0, "bytes", bytes, "0 and more");
  return (size_t)bytes;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* A put or a get to another node. */
static void transfer(const wtl_frame *f, enum wtl_global_kind kind, char *here, char *there, size_t n, int proc,
                     armci_mode mode)
{
  wtl_strides block = {.block = n};
  armci_op op;
  armci_op_make(&op, f, kind, proc, mode, n);
  op.transfer_kind = kind == WTL_GLOBAL_PUT ? WTL_PUTS : WTL_GETS;
  wtl_global_move(&op.global, &block, here, there);
  armci_end(&op);
}

static inline __attribute__((always_inline)) void put(const wtl_frame *f, void *src, void *dst, int bytes, int proc,
                                                      armci_mode mode)
{
  size_t n = size_of(f, bytes);
  armci_check_proc(f, proc);
  armci_check_place(f, "dst", dst, n, proc);
  armci_check_given(f, "src", src, n);
  if (WTL_UNLIKELY(n == 0) || wtl_global_copy_near(f->self, proc, dst, src, n)) return;
  transfer(f, WTL_GLOBAL_PUT, src, dst, n, proc, mode);
}

static inline __attribute__((always_inline)) void get(const wtl_frame *f, void *src, void *dst, int bytes, int proc,
                                                      armci_mode mode)
{
  size_t n = size_of(f, bytes);
  armci_check_proc(f, proc);
  armci_check_place(f, "src", src, n, proc);
  armci_check_given(f, "dst", dst, n);
  if (WTL_UNLIKELY(n == 0) || wtl_global_copy_near(f->self, proc, dst, src, n)) return;
  transfer(f, WTL_GLOBAL_GET, dst, src, n, proc, mode);
}

static void accumulate(const wtl_frame *f, const armci_scale *by, void *src, void *dst, int bytes, int proc,
                       armci_mode mode)
{
  wtl_strides block = {.block = size_of(f, bytes)};
  armci_op op;
  armci_check_proc(f, proc);
  armci_check_type(f, by->datatype);
  armci_check_that(f, block.block % wtl_acc_bytes((enum wtl_acc_type)by->datatype) == 0, "bytes", bytes,
                   "multiples of an element's bytes");
  armci_check_place(f, "dst", dst, block.block, proc);
  armci_check_given(f, "scale", by->scale, block.block);
  armci_check_given(f, "src", src, block.block);
  armci_op_make(&op, f, WTL_GLOBAL_ACC, proc, mode, block.block);
  if (bytes == 0) return;
  op.transfer_kind = WTL_ACCS;
  armci_scale_by(&op, by);
  wtl_global_move(&op.global, &block, src, dst);
  armci_end(&op);
}

#define ENTER_PUT(call) ARMCI_ENTER_TO(call, bytes, proc, dst, src, true)
#define ENTER_GET(call) ARMCI_ENTER_TO(call, bytes, proc, src, dst, false)
#define ENTER_ACC(call) ARMCI_ENTER_TO(call, bytes, proc, dst, src, false)
ARMCI_FORMS(Put, ENTER_PUT, put(&f, src, dst, bytes, proc, mode), void *src, void *dst, int bytes, int proc)
ARMCI_FORMS(Get, ENTER_GET, get(&f, src, dst, bytes, proc, mode), void *src, void *dst, int bytes, int proc)
ARMCI_FORMS(Acc, ENTER_ACC, accumulate(&f, &(armci_scale){datatype, scale}, src, dst, bytes, proc, mode), int datatype,
            void *scale, void *src, void *dst, int bytes, int proc)

void ARMCI_Copy(void *src, void *dst, int bytes)
{
  if (bytes < 0)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: bytes=%d is not valid here; allowed: 0 and more", wtl_error_place("ARMCI_Copy"),
                bytes);
  if (bytes == 0) return;
  if (!src || !dst) wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL", wtl_error_place("ARMCI_Copy"), src ? "dst" : "src");
  memmove(dst, src, (size_t)bytes);
}

/* --- a put and a flag --------------------------------------------------------------------------------------------- */

/* Earlier operations of this process on that memory are complete before the flag is set. */
void armci_set_flag(const wtl_frame *f, int *flag, int value, int proc)
{
  put(f, &value, flag, sizeof value, proc, ARMCI_BLOCKING);
}

int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc)
{
  ARMCI_ENTER_TO(ARMCI_Put_flag, bytes, proc, dst, src, true);
  put(&f, src, dst, bytes, proc, ARMCI_BLOCKING);
  armci_check_place(&f, "flag", flag, sizeof *flag, proc);
  armci_set_flag(&f, flag, value, proc);
  return 0;
}
ARMCI_TWIN(int, Put_flag, void *src, void *dst, int bytes, int *flag, int value, int proc)

/* --- values ------------------------------------------------------------------------------------------------------- */

#define VALUES(Name, type)                                                                                             \
  int PARMCI_PutValue##Name(type src, void *dst, int proc)                                                             \
  {                                                                                                                    \
    ARMCI_ENTER_AS(ARMCI_PutValue##Name, ARMCI_PutValue, sizeof src);                                                  \
    put(&f, &src, dst, sizeof src, proc, ARMCI_BLOCKING);                                                              \
    return 0;                                                                                                          \
  }                                                                                                                    \
  ARMCI_TWIN(int, PutValue##Name, type src, void *dst, int proc)                                                       \
  int PARMCI_NbPutValue##Name(type src, void *dst, int proc, armci_hdl_t *hdl)                                         \
  {                                                                                                                    \
    ARMCI_ENTER_AS(ARMCI_NbPutValue##Name, ARMCI_NbPutValue, sizeof src);                                              \
    put(&f, &src, dst, sizeof src, proc, ARMCI_NONBLOCKING(hdl)); /* so few bytes are copied at once */                \
    return 0;                                                                                                          \
  }                                                                                                                    \
  ARMCI_TWIN(int, NbPutValue##Name, type src, void *dst, int proc, armci_hdl_t *hdl)                                   \
  type PARMCI_GetValue##Name(void *src, int proc)                                                                      \
  {                                                                                                                    \
    type value;                                                                                                        \
    ARMCI_ENTER_AS(ARMCI_GetValue##Name, ARMCI_GetValue, sizeof value);                                                \
    get(&f, src, &value, sizeof value, proc, ARMCI_BLOCKING);                                                          \
    return value;                                                                                                      \
  }                                                                                                                    \
  ARMCI_TWIN(type, GetValue##Name, void *src, int proc)
VALUES(Int, int)
VALUES(Long, long)
VALUES(Float, float)
VALUES(Double, double)

/* --- read-modify-write -------------------------------------------------------------------------------------------- */

/* Inlined for each kind and size, so that each is one instruction. Returns the old value. */
static inline __attribute__((always_inline)) long amo(wtl_op to, void *prem, enum wtl_amo_kind kind, uint32_t size,
                                                      long operand)
{
  return (long)wtl_global_amo(to, prem, (wtl_atomic){kind, size, (uint64_t)operand, 0});
}

int PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc)
{
  bool is_long = op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG;
  size_t size = is_long ? sizeof(long) : sizeof(int);
  ARMCI_ENTER_TO(ARMCI_Rmw, size, proc, prem, ploc, false);
  armci_check_proc(&f, proc);
  armci_check_that(&f, (unsigned)op <= ARMCI_SWAP_LONG, "op", op, "ARMCI_FETCH_AND_ADD and _SWAP, also with _LONG");
  armci_check_place(&f, "prem", prem, size, proc);
  armci_check_given(&f, "ploc", ploc, size);
  armci_check_that(&f, ((uintptr_t)prem & (size - 1)) == 0, "prem", (long)(uintptr_t)prem,
                   "addresses that are multiples of the operand's bytes");
  wtl_op to = wtl_op_to(&f, proc, false);
  switch (op) {
  case ARMCI_FETCH_AND_ADD: *(int *)ploc = (int)amo(to, prem, WTL_AMO_ADD, sizeof(int), value); break;
  case ARMCI_FETCH_AND_ADD_LONG: *(long *)ploc = amo(to, prem, WTL_AMO_ADD, sizeof(long), value); break;
  case ARMCI_SWAP: *(int *)ploc = (int)amo(to, prem, WTL_AMO_SWAP, sizeof(int), *(int *)ploc); break;
  default: *(long *)ploc = amo(to, prem, WTL_AMO_SWAP, sizeof(long), *(long *)ploc);
  }
  return 0;
}
ARMCI_TWIN(int, Rmw, int op, void *ploc, void *prem, int value, int proc)
