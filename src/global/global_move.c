/* global_move.c - moves patches and lists of blocks to and from global memory: copied within a node, packed between
 * nodes. */
#include "global/global.h"
#include "global/packed.h"

static void accumulate_run(void *arg, char *here, ptrdiff_t here_step, char *there, ptrdiff_t there_step, size_t block,
                           uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    wtl_acc_add(arg, there + (ptrdiff_t)i * there_step, here + (ptrdiff_t)i * here_step, block);
}

static wtl_acc begin_accumulates(const wtl_global_op *op)
{
  wtl_acc a;
  wtl_acc_begin(&a, op->self, op->site, op->type, op->scale, op->self->slot_of[op->pe]);
  return a;
}

static void move_near(const wtl_global_op *op, const wtl_strides *s, char *here, char *there)
{
  uint64_t blocks = wtl_strides_blocks(s);
  wtl_acc a;
  wtl_os_near_access(blocks * s->block);
  switch (op->kind) {
  case WTL_GLOBAL_PUT: wtl_each_run(s, here, there, 0, blocks, wtl_strides_put_run, NULL); break;
  case WTL_GLOBAL_GET: wtl_each_run(s, here, there, 0, blocks, wtl_strides_get_run, NULL); break;
  default:
    a = begin_accumulates(op);
    wtl_each_run(s, here, there, 0, blocks, accumulate_run, &a);
    wtl_acc_end(&a);
  }
}

static void move_list_near(const wtl_global_op *op, const wtl_block_list *l)
{
  wtl_acc a;
  wtl_os_near_access(l->n * l->bytes);
  switch (op->kind) {
  case WTL_GLOBAL_PUT:
    for (size_t i = 0; i < l->n; i++) wtl_global_near_copy(l->there[i], l->here[i], l->bytes);
    break;
  case WTL_GLOBAL_GET:
    for (size_t i = 0; i < l->n; i++) wtl_global_near_copy(l->here[i], l->there[i], l->bytes);
    break;
  default:
    a = begin_accumulates(op);
    for (size_t i = 0; i < l->n; i++) wtl_acc_add(&a, l->there[i], l->here[i], l->bytes);
    wtl_acc_end(&a);
  }
}

/* Returns false if the target is a PE of this node. */
static bool begin_far(wtl_global_op *op)
{
  if (wtl_global_is_near(op->self, op->pe)) return false;
  if (!op->request) op->begin(op);
  return true;
}

void wtl_global_move(wtl_global_op *op, const wtl_strides *s, char *here, char *there)
{
  if (!begin_far(op)) {
    move_near(op, s, here, there);
  } else if (s->levels == 0 && op->kind != WTL_GLOBAL_ACC) {
    wtl_global_before(op, false);
    wtl_global_move_plain(op, here, there, s->block);
  } else {
    wtl_packed_patch(op, s, here, there);
  }
}

void wtl_global_move_list(wtl_global_op *op, const wtl_block_list *l)
{
  if (begin_far(op))
    wtl_packed_list(op, l);
  else
    move_list_near(op, l);
}
