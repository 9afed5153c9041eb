/* vector.c - transfers of lists of blocks. */
#include "armci/armci_front.h"

static uint64_t bytes_of(const armci_giov_t *iov, int len)
{
  uint64_t n = 0;
  for (int i = 0; iov && i < len; i++) n += (uint64_t)iov[i].bytes * (uint64_t)iov[i].ptr_array_len;
  return n;
}

static void check_lists(const wtl_frame *f, const armci_giov_t *iov, int len, int proc)
{
  armci_check_proc(f, proc);
  armci_check_that(f, len >= 0, "len", len, "0 and more");
  armci_check_given(f, "darr", iov, (size_t)len);
}

static void check(const wtl_frame *f, const armci_giov_t *iov, void **here, void **there, int proc)
{
  size_t n = (size_t)iov->bytes;
  armci_check_that(f, iov->bytes >= 0, "bytes", iov->bytes, "0 and more");
  armci_check_that(f, iov->ptr_array_len >= 0, "ptr_array_len", iov->ptr_array_len, "0 and more");
  if (!f->self->check || n == 0) return;
  armci_check_given(f, "a list of addresses", here && there ? here : NULL, (size_t)iov->ptr_array_len);
  for (int i = 0; i < iov->ptr_array_len; i++) {
    armci_check_place(f, "an address in the list", there[i], n, proc);
    armci_check_given(f, "an address in the list", here[i], n);
  }
}

/* `here` and `there` are the lists of addresses in this process and in the target. */
static void move(const wtl_frame *f, armci_op *op, const armci_giov_t *v, void **here, void **there)
{
  check(f, v, here, there, op->global.pe);
  if (v->bytes == 0 || v->ptr_array_len == 0) return;
  wtl_block_list l = {(size_t)v->ptr_array_len, (size_t)v->bytes, (char *const *)here, (char *const *)there};
  wtl_global_move_list(&op->global, &l);
}

static void transfer(const wtl_frame *f, enum wtl_global_kind kind, const armci_giov_t *iov, int len, int proc,
                     armci_mode mode)
{
  bool gets = kind == WTL_GLOBAL_GET;
  armci_op op;
  armci_op_make(&op, f, kind, proc, mode, bytes_of(iov, len));
  check_lists(f, iov, len, proc);
  for (const armci_giov_t *v = iov; v < iov + len; v++)
    move(f, &op, v, gets ? v->dst_ptr_array : v->src_ptr_array, gets ? v->src_ptr_array : v->dst_ptr_array);
  armci_end(&op);
}

static void accumulate(const wtl_frame *f, armci_scale by, const armci_giov_t *iov, int len, int proc, armci_mode mode)
{
  armci_op op;
  armci_op_make(&op, f, WTL_GLOBAL_ACC, proc, mode, bytes_of(iov, len));
  check_lists(f, iov, len, proc);
  armci_check_type(f, by.datatype);
  armci_check_given(f, "scale", by.scale, (size_t)len);
  armci_scale_by(&op, &by);
  for (const armci_giov_t *v = iov; v < iov + len; v++) {
    armci_check_that(f, (size_t)v->bytes % wtl_acc_bytes(op.global.type) == 0, "bytes", v->bytes,
                     "multiples of an element's bytes");
    move(f, &op, v, v->src_ptr_array, v->dst_ptr_array);
  }
  armci_end(&op);
}

#define ENTER(call) ARMCI_ENTER(call, bytes_of(iov, len))
ARMCI_FORMS(PutV, ENTER, transfer(&f, WTL_GLOBAL_PUT, iov, len, proc, mode), armci_giov_t *iov, int len, int proc)
ARMCI_FORMS(GetV, ENTER, transfer(&f, WTL_GLOBAL_GET, iov, len, proc, mode), armci_giov_t *iov, int len, int proc)
ARMCI_FORMS(AccV, ENTER, accumulate(&f, (armci_scale){datatype, scale}, iov, len, proc, mode), int datatype,
            void *scale, armci_giov_t *iov, int len, int proc)
