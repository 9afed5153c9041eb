/*
 * hot_path.c - puts and an atomic operation, each by the operations of rma.h and by hand: near or far decided in place,
 * and the far call with all its arguments in registers and on the stack. test_hot_path.py compares the instructions.
 */
#include "shmem/shmem_front.h"

void far_put_by_hand(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n, int pe,
                     bool nbi);
void far_add_by_hand(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, int pe, int kind, size_t size,
                     uint64_t operand, uint64_t condition, void *result, bool nbi);

enum { CALL = 1 };

#define ENTER(bytes) wtl_frame f = wtl_enter_to(CALL, WTL_ORIGIN, bytes, WTL_TARGET_PE(pe))

void put_described(void *dest, const void *source, size_t n, int pe)
{
  ENTER(n);
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, n, pe);
  wtl_put(wtl_op_to(&f, pe, false), dest, source, n);
  wtl_leave(&f);
}

void put_by_hand(void *dest, const void *source, size_t n, int pe)
{
  ENTER(n);
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, n, pe);
  char *to = wtl_remote(f.self, dest, pe);
  if (WTL_LIKELY(to != NULL))
    wtl_near_put(f.self, to, source, n, pe);
  else
    far_put_by_hand(f.self, f.flow, f.site, dest, source, n, pe, false);
  wtl_leave(&f);
}

void p_described(long *dest, long value, int pe)
{
  ENTER(sizeof value);
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, sizeof value, pe);
  wtl_put(wtl_op_to(&f, pe, false), dest, &value, sizeof value);
  wtl_leave(&f);
}

void p_by_hand(long *dest, long value, int pe)
{
  ENTER(sizeof value);
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, sizeof value, pe);
  char *to = wtl_remote(f.self, dest, pe);
  if (WTL_LIKELY(to != NULL))
    wtl_near_put(f.self, to, &value, sizeof value, pe);
  else
    far_put_by_hand(f.self, f.flow, f.site, dest, &value, sizeof value, pe, false);
  wtl_leave(&f);
}

long fetch_add_described(long *dest, long value, int pe)
{
  ENTER(sizeof value);
  long result;
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, sizeof value, pe);
  wtl_amo(wtl_op_to(&f, pe, false), dest, (wtl_atomic){WTL_AMO_ADD, sizeof value, (uint64_t)value, 0}, &result);
  wtl_leave(&f);
  return result;
}

long fetch_add_by_hand(long *dest, long value, int pe)
{
  ENTER(sizeof value);
  long result;
  wtl_check_pe(&f, pe);
  wtl_check_symmetric(&f, "dest", dest, sizeof value, pe);
  char *to = wtl_remote(f.self, dest, pe);
  if (WTL_LIKELY(to != NULL)) {
    result = __atomic_fetch_add((long *)(void *)to, value, __ATOMIC_SEQ_CST);
    wtl_touch(f.self, pe, to, sizeof value);
  } else {
    far_add_by_hand(f.self, f.flow, f.site, dest, pe, WTL_AMO_ADD, sizeof value, (uint64_t)value, 0, &result, false);
  }
  wtl_leave(&f);
  return result;
}
