/* strided.c - transfers of patches of arrays: blocks at regular steps. */
#include "armci/armci_front.h"

/* The arguments of the caller. */
typedef struct arguments {
  void *src;
  const int *src_stride;
  void *dst;
  const int *dst_stride;
  const int *count;
  int levels, proc;
} arguments;

/* The same patch, described from this side. */
typedef struct patch {
  wtl_strides strides;
  size_t bytes;
} patch;

/* Returns false if there are no bytes to move. Levels that count one block are left out. Levels without gaps become
 * part of the block. */
static bool describe(const wtl_frame *f, patch *p, const int here[], const int there[], const int count[], int levels)
{
  armci_check_that(f, levels >= 0 && levels <= WTL_MOST_LEVELS, "stride_levels", levels, "0 to 8");
  armci_check_given(f, "count", count, sizeof *count);
  armci_check_given(f, "a list of strides", here && there ? here : NULL, (size_t)levels * sizeof *here);
  armci_check_that(f, count[0] >= 0, "count[0]", count[0], "0 and more");
  wtl_strides *s = &p->strides;
  s->levels = 0;
  s->block = p->bytes = (size_t)count[0];
  for (int i = 0; i < levels; i++) {
    armci_check_that(f, count[i + 1] >= 0, "count of a level", count[i + 1], "0 and more");
    bool too_many = __builtin_mul_overflow(p->bytes, (size_t)count[i + 1], &p->bytes) || p->bytes > PTRDIFF_MAX;
    armci_check_that(f, !too_many, "count of a level", count[i + 1], "counts whose product is a size");
    if (count[i + 1] == 1) continue;
    if (s->levels == 0 && here[i] == there[i] && (size_t)here[i] == s->block) {
      s->block *= (size_t)count[i + 1];
      continue;
    }
    s->count[s->levels] = (uint64_t)count[i + 1];
    s->here[s->levels] = here[i];
    s->there[s->levels] = there[i];
    s->levels++;
  }
  return p->bytes > 0;
}

/* Checks the range from the lowest to the highest address of the patch at the target. */
static void check_extent(const wtl_frame *f, const patch *p, const char *name, const char *there, int proc)
{
  const wtl_strides *s = &p->strides;
  ptrdiff_t low = 0, high = (ptrdiff_t)s->block;
  if (!f->self->check) return;
  armci_check_given(f, name, there, p->bytes);
  for (int i = 0; i < s->levels; i++) {
    ptrdiff_t reach = (ptrdiff_t)(s->count[i] - 1) * s->there[i];
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  armci_check_place(f, name, there + low, (size_t)(high - low), proc);
}

static void move(armci_op *op, const patch *p, enum wtl_transfer_kind of_one_block, void *here, void *there)
{
  op->bytes = p->bytes;
  op->transfer_kind = p->strides.levels ? WTL_STRIDED : of_one_block;
  wtl_global_move(&op->global, &p->strides, here, there);
  armci_end(op);
}

static void put(const wtl_frame *f, const arguments *a, armci_mode mode)
{
  armci_op op;
  armci_op_make(&op, f, WTL_GLOBAL_PUT, a->proc, mode, 0);
  patch p;
  armci_check_proc(f, a->proc);
  if (!describe(f, &p, a->src_stride, a->dst_stride, a->count, a->levels)) return;
  check_extent(f, &p, "dst", a->dst, a->proc);
  armci_check_given(f, "src", a->src, p.bytes);
  move(&op, &p, WTL_PUTS, a->src, a->dst);
}

static void get(const wtl_frame *f, const arguments *a, armci_mode mode)
{
  armci_op op;
  armci_op_make(&op, f, WTL_GLOBAL_GET, a->proc, mode, 0);
  patch p;
  armci_check_proc(f, a->proc);
  if (!describe(f, &p, a->dst_stride, a->src_stride, a->count, a->levels)) return;
  check_extent(f, &p, "src", a->src, a->proc);
  armci_check_given(f, "dst", a->dst, p.bytes);
  move(&op, &p, WTL_GETS, a->dst, a->src);
}

static void accumulate(const wtl_frame *f, armci_scale by, const arguments *a, armci_mode mode)
{
  armci_op op;
  armci_op_make(&op, f, WTL_GLOBAL_ACC, a->proc, mode, 0);
  patch p;
  armci_check_proc(f, a->proc);
  armci_check_type(f, by.datatype);
  armci_scale_by(&op, &by);
  if (!describe(f, &p, a->src_stride, a->dst_stride, a->count, a->levels)) return;
  armci_check_that(f, (size_t)a->count[0] % wtl_acc_bytes(op.global.type) == 0, "count[0]", a->count[0],
                   "multiples of an element's bytes");
  check_extent(f, &p, "dst", a->dst, a->proc);
  armci_check_given(f, "scale", by.scale, p.bytes);
  armci_check_given(f, "src", a->src, p.bytes);
  move(&op, &p, WTL_ACCS, a->src, a->dst);
}

/* The bytes for the profile, before anything is checked. */
static uint64_t bytes_of(const int count[], int levels)
{
  uint64_t n = count ? (uint64_t)count[0] : 0;
  for (int i = 1; n && i <= levels && i <= WTL_MOST_LEVELS; i++) n *= (uint64_t)count[i];
  return n;
}

/* The parameters of a call, and the same as a structure. */
#define PATCH void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels
#define GIVEN (&(arguments){src, src_stride, dst, dst_stride, count, levels, proc})
#define ENTER_TO(call) ARMCI_ENTER_TO(call, bytes_of(count, levels), proc, dst, src, false)
#define ENTER_FROM(call) ARMCI_ENTER_TO(call, bytes_of(count, levels), proc, src, dst, false)
ARMCI_FORMS(PutS, ENTER_TO, put(&f, GIVEN, mode), PATCH, int proc)
ARMCI_FORMS(GetS, ENTER_FROM, get(&f, GIVEN, mode), PATCH, int proc)
ARMCI_FORMS(AccS, ENTER_TO, accumulate(&f, (armci_scale){datatype, scale}, GIVEN, mode), int datatype, void *scale,
            PATCH, int proc)

static int put_and_flag(wtl_frame *f, const arguments *a, int *flag, int value)
{
  put(f, a, ARMCI_BLOCKING);
  armci_check_place(f, "flag", flag, sizeof *flag, a->proc);
  armci_set_flag(f, flag, value, a->proc);
  return 0;
}

int PARMCI_PutS_flag(PATCH, int *flag, int value, int proc)
{
  ARMCI_ENTER(ARMCI_PutS_flag, bytes_of(count, levels));
  return put_and_flag(&f, GIVEN, flag, value);
}
ARMCI_TWIN(int, PutS_flag, PATCH, int *flag, int value, int proc)

int PARMCI_PutS_flag_dir(PATCH, int *flag, int value, int proc)
{
  ARMCI_ENTER_AS(ARMCI_PutS_flag_dir, ARMCI_PutS_flag, bytes_of(count, levels));
  return put_and_flag(&f, GIVEN, flag, value);
}
ARMCI_TWIN(int, PutS_flag_dir, PATCH, int *flag, int value, int proc)

/* --- packing by the program itself -------------------------------------------------------------------------------- */

/* Returns false if there are no bytes to move. These routines are not counted; programs may pack before ARMCI_Init,
 * too. */
static bool describe_packed(const char *call, wtl_strides *s, int levels, const int stride[], const int count[],
                            const void *ptr, const void *buf)
{
  if (!count || (levels > 0 && !stride)) armci_refuse_null(call, count ? "stride_arr" : "count");
  if (levels < 0 || levels > WTL_MOST_LEVELS)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: stride_levels=%d is not valid here; allowed: 0 to 8", wtl_error_place(call),
                levels);
  for (int i = 0; i <= levels; i++) {
    if (count[i] < 0)
      wtl_pe_fail(WTL_EXIT_USAGE, "%s: count[%d]=%d is not valid here; allowed: 0 and more", wtl_error_place(call), i,
                  count[i]);
    if (count[i] == 0) return false;
  }
  if (!ptr || !buf) armci_refuse_null(call, ptr ? "buf" : "ptr");
  ptrdiff_t packed = count[0];
  s->levels = levels;
  s->block = (size_t)count[0];
  for (int i = 0; i < levels; packed *= count[++i]) {
    s->count[i] = (uint64_t)count[i + 1];
    s->here[i] = stride[i];
    s->there[i] = packed;
  }
  return true;
}

void armci_write_strided(void *ptr, int levels, int stride[], int count[], char *buf)
{
  wtl_strides s;
  if (!describe_packed("armci_write_strided", &s, levels, stride, count, ptr, buf)) return;
  wtl_each_run(&s, ptr, buf, 0, wtl_strides_blocks(&s), wtl_strides_put_run, NULL);
}

void armci_read_strided(void *ptr, int levels, int stride[], int count[], char *buf)
{
  wtl_strides s;
  if (!describe_packed("armci_read_strided", &s, levels, stride, count, ptr, buf)) return;
  wtl_each_run(&s, ptr, buf, 0, wtl_strides_blocks(&s), wtl_strides_get_run, NULL);
}
