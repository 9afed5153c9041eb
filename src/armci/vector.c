/* Lists of blocks. */
#include "armci/armci_front.h"
#include "global/packed.h"

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

static void far_list(const wtl_frame *f, const wtl_packed *how, const armci_giov_t *iov, void **here, void **there,
                     armci_waiter *w)
{
  wtl_packed_list(f->self, f->site, how, (size_t)iov->ptr_array_len, (size_t)iov->bytes, (char *const *)here,
                  (char *const *)there, w->request);
}

static void begin_far(const wtl_frame *f, const armci_giov_t *iov, int len, int proc, bool fenced_later,
                      armci_waiter *w)
{
  if (!wtl_is_near(f->self, proc)) armci_begin_transfer(f, w, WTL_STRIDED, bytes_of(iov, len), fenced_later);
}

static void put(const wtl_frame *f, const armci_giov_t *iov, int len, int proc, armci_waiter *w)
{
  wtl_packed how = {.op = WTL_PACKED_PUT, .pe = proc, .blocking = w->blocking};
  check_lists(f, iov, len, proc);
  begin_far(f, iov, len, proc, true, w);
  for (const armci_giov_t *v = iov; v < iov + len; v++) {
    check(f, v, v->src_ptr_array, v->dst_ptr_array, proc);
    if (v->bytes == 0 || v->ptr_array_len == 0) continue;
    if (!wtl_is_near(f->self, proc)) {
      far_list(f, &how, v, v->src_ptr_array, v->dst_ptr_array, w);
      continue;
    }
    for (int i = 0; i < v->ptr_array_len; i++)
      wtl_near_copy(v->dst_ptr_array[i], v->src_ptr_array[i], (size_t)v->bytes);
  }
}

static void get(const wtl_frame *f, const armci_giov_t *iov, int len, int proc, armci_waiter *w)
{
  wtl_packed how = {.op = WTL_PACKED_GET, .pe = proc, .blocking = w->blocking};
  check_lists(f, iov, len, proc);
  begin_far(f, iov, len, proc, false, w);
  for (const armci_giov_t *v = iov; v < iov + len; v++) {
    check(f, v, v->dst_ptr_array, v->src_ptr_array, proc);
    if (v->bytes == 0 || v->ptr_array_len == 0) continue;
    if (!wtl_is_near(f->self, proc)) {
      far_list(f, &how, v, v->dst_ptr_array, v->src_ptr_array, w);
      continue;
    }
    for (int i = 0; i < v->ptr_array_len; i++)
      wtl_near_copy(v->dst_ptr_array[i], v->src_ptr_array[i], (size_t)v->bytes);
  }
}

static void accumulate(const wtl_frame *f, int datatype, const void *scale, const armci_giov_t *iov, int len, int proc,
                       armci_waiter *w)
{
  wtl_packed how = {WTL_PACKED_ACC, (enum wtl_acc_type)datatype, scale, proc, w->blocking};
  wtl_acc a;
  check_lists(f, iov, len, proc);
  armci_check_type(f, datatype);
  armci_check_given(f, "scale", scale, (size_t)len);
  if (len == 0) return;
  bool near = wtl_is_near(f->self, proc);
  begin_far(f, iov, len, proc, true, w);
  if (near) wtl_acc_begin(&a, f->self, f->site, (enum wtl_acc_type)datatype, scale, f->self->slot_of[proc]);
  for (const armci_giov_t *v = iov; v < iov + len; v++) {
    check(f, v, v->src_ptr_array, v->dst_ptr_array, proc);
    armci_check_that(f, (size_t)v->bytes % wtl_acc_bytes((enum wtl_acc_type)datatype) == 0, "bytes", v->bytes,
                     "multiples of an element's bytes");
    if (v->bytes == 0 || v->ptr_array_len == 0) continue;
    if (!near) {
      far_list(f, &how, v, v->src_ptr_array, v->dst_ptr_array, w);
      continue;
    }
    for (int i = 0; i < v->ptr_array_len; i++)
      wtl_acc_add(&a, v->dst_ptr_array[i], v->src_ptr_array[i], (size_t)v->bytes);
  }
  if (near) wtl_acc_end(&a);
}

int PARMCI_PutV(armci_giov_t *iov, int len, int proc)
{
  ARMCI_ENTER(ARMCI_PutV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_blocking(&w);
  put(&f, iov, len, proc, &w);
  armci_end(&f, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, PutV, armci_giov_t *iov, int len, int proc)

int PARMCI_GetV(armci_giov_t *iov, int len, int proc)
{
  ARMCI_ENTER(ARMCI_GetV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_blocking(&w);
  get(&f, iov, len, proc, &w);
  armci_end(&f, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, GetV, armci_giov_t *iov, int len, int proc)

int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc)
{
  ARMCI_ENTER(ARMCI_AccV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_blocking(&w);
  accumulate(&f, datatype, scale, iov, len, proc, &w);
  armci_end(&f, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, AccV, int datatype, void *scale, armci_giov_t *iov, int len, int proc)

int PARMCI_NbPutV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbPutV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_nonblocking(&f, &w, hdl);
  put(&f, iov, len, proc, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbPutV, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)

int PARMCI_NbGetV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbGetV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_nonblocking(&f, &w, hdl);
  get(&f, iov, len, proc, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbGetV, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)

int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_NbAccV, bytes_of(iov, len));
  armci_waiter w;
  armci_begin_nonblocking(&f, &w, hdl);
  accumulate(&f, datatype, scale, iov, len, proc, &w);
  return armci_leave(&f);
}
ARMCI_TWIN(int, NbAccV, int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl)
