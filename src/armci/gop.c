/* gop.c - ARMCI's reductions and selections. */
#include <stdlib.h>
#include <string.h>

#include "armci/armci_front.h"
#include "collective/collective.h"

/* --- operations --------------------------------------------------------------------------------------------------- */

enum operation { SUM, PRODUCT, MAX, MIN, ABSMAX, ABSMIN, AND, OR, XOR, BOTH, EITHER, N_OPERATIONS };
enum { N_TYPES = 5 };

#define LOOP(name, type, expression)                                                                                   \
  static void name##_##type(void *to, const void *from, size_t n)                                                      \
  {                                                                                                                    \
    type *a = to;                                                                                                      \
    const type *b = from;                                                                                              \
    for (size_t i = 0; i < n; i++) a[i] = expression;                                                                  \
  }
#define MAGNITUDE(v) ((v) < 0 ? -(v) : (v))
/* Sums and products of integers wrap. */
#define INTEGERS(type, wide)                                                                                           \
  LOOP(sum, type, (type)((wide)a[i] + (wide)b[i]))                                                                     \
  LOOP(product, type, (type)((wide)a[i] * (wide)b[i]))                                                                 \
  LOOP(absmax, type,                                                                                                   \
       magnitude_##type(a[i]) > magnitude_##type(b[i]) ? magnitude_##type(a[i]) : magnitude_##type(b[i]))              \
  LOOP(absmin, type,                                                                                                   \
       magnitude_##type(a[i]) < magnitude_##type(b[i]) ? magnitude_##type(a[i]) : magnitude_##type(b[i]))              \
  LOOP(and, type, a[i] & b[i])                                                                                         \
  LOOP(or, type, a[i] | b[i])                                                                                          \
  LOOP(xor, type, a[i] ^ b[i])                                                                                         \
  LOOP(both, type, a[i] && b[i])                                                                                       \
  LOOP(either, type, a[i] || b[i])                                                                                     \
  ORDERED(type)
#define ORDERED(type)                                                                                                  \
  LOOP(max, type, a[i] > b[i] ? a[i] : b[i])                                                                           \
  LOOP(min, type, a[i] < b[i] ? a[i] : b[i])
#define REALS(type)                                                                                                    \
  LOOP(sum, type, a[i] + b[i])                                                                                         \
  LOOP(product, type, a[i] * b[i])                                                                                     \
  LOOP(absmax, type, MAGNITUDE(a[i]) > MAGNITUDE(b[i]) ? MAGNITUDE(a[i]) : MAGNITUDE(b[i]))                            \
  LOOP(absmin, type, MAGNITUDE(a[i]) < MAGNITUDE(b[i]) ? MAGNITUDE(a[i]) : MAGNITUDE(b[i]))                            \
  ORDERED(type)
#define MAGNITUDE_OF(type, wide)                                                                                       \
  static inline type magnitude_##type(type v)                                                                          \
  {                                                                                                                    \
    return v < 0 ? (type)(0 - (wide)v) : v;                                                                            \
  }

typedef long long long_long;
MAGNITUDE_OF(int, unsigned)
MAGNITUDE_OF(long, unsigned long)
MAGNITUDE_OF(long_long, unsigned long long)
INTEGERS(int, unsigned)
INTEGERS(long, unsigned long)
INTEGERS(long_long, unsigned long long)
REALS(float)
REALS(double)

#define ALL(type) sum_##type, product_##type, max_##type, min_##type, absmax_##type, absmin_##type
#define BITS(type) and_##type, or_##type, xor_##type, both_##type, either_##type
static const wtl_combine_fn combines[N_TYPES][N_OPERATIONS] = {
    {ALL(int), BITS(int)}, {ALL(long), BITS(long)}, {ALL(long_long), BITS(long_long)}, {ALL(float)}, {ALL(double)},
};
static const size_t sizes[N_TYPES] = {sizeof(int), sizeof(long), sizeof(long long), sizeof(float), sizeof(double)};

/* The operation by the beginning of its name, because programs write names in several ways: "max", "maximum". */
static enum operation operation_of(const wtl_frame *f, const char *op)
{
  static const struct {
    const char *name;
    enum operation operation;
  } names[] = {{"+", SUM},   {"*", PRODUCT}, {"absmax", ABSMAX}, {"absmin", ABSMIN}, {"max", MAX}, {"min", MIN},
               {"and", AND}, {"or", OR},     {"xor", XOR},       {"&&", BOTH},       {"&", AND},   {"||", EITHER},
               {"|", OR},    {"land", BOTH}, {"lor", EITHER},    {"band", AND},      {"bor", OR},  {"bxor", XOR}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (op && strncmp(op, names[i].name, strlen(names[i].name)) == 0) return names[i].operation;
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: op=\"%.16s\" is no operation; there are +, *, max, min, absmax, absmin, and, or, xor, &&, ||",
              wtl_error_place(f->name), op ? op : "");
}

static void check_kind(const wtl_frame *f, int type)
{
  armci_check_that(f, (unsigned)type < N_TYPES, "type", type, "ARMCI_INT to ARMCI_DOUBLE");
}

static void reduce(wtl_frame *f, wtl_group *g, void *x, int n, const char *op, int type)
{
  check_kind(f, type);
  armci_check_that(f, n >= 0, "n", n, "0 and more");
  armci_check_given(f, "x", x, (size_t)n);
  enum operation operation = operation_of(f, op);
  wtl_combine_fn combine = combines[type][operation];
  if (!combine) wtl_pe_fail(WTL_EXIT_USAGE, "%s: op=\"%s\" is for integers only", wtl_error_place(f->name), op);
  bool of_one = operation == ABSMAX || operation == ABSMIN || operation == BOTH || operation == EITHER;
  armci_synchronize(f, g, (size_t)n * sizes[type], 0);
  if (g && g->n == 1 && of_one) combine(x, x, (size_t)n); /* the magnitude or truth of its own value */
  if (g) wtl_group_reduce(f->self, f->site, g, x, (size_t)n, sizes[type], combine);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void reduce_scope(wtl_frame *f, wtl_group *g, int scope, void *x, int n, const char *op, int type)
{
  wtl_group *part = armci_scope_of(f, g, scope);
  reduce(f, part, x, n, op, type);
  armci_scope_end(g, part);
}

void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type)
{
  ARMCI_ENTER_AS(armci_msg_gop_scope, armci_msg_gop, 0);
  reduce_scope(&f, armci_of(f.self)->world, scope, x, n, op, type);
}

void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type)
{
  ARMCI_ENTER_AS(armci_msg_reduce_scope, armci_msg_gop, 0);
  reduce_scope(&f, armci_of(f.self)->world, scope, x, n, op, type);
}

void armci_msg_reduce(void *x, int n, char *op, int type)
{
  ARMCI_ENTER_AS(armci_msg_reduce, armci_msg_gop, 0);
  reduce(&f, armci_of(f.self)->world, x, n, op, type);
}

void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(armci_msg_group_gop_scope, armci_msg_gop, 0);
  reduce_scope(&f, armci_member_group_of(&f, group), scope, x, n, op, type);
}

#define TYPED(letter, c_type, TYPE)                                                                                    \
  void armci_msg_##letter##gop(c_type *x, int n, char *op)                                                             \
  {                                                                                                                    \
    ARMCI_ENTER_AS(armci_msg_##letter##gop, armci_msg_gop, 0);                                                         \
    reduce(&f, armci_of(f.self)->world, x, n, op, TYPE);                                                               \
  }                                                                                                                    \
  void armci_msg_clus_##letter##gop(c_type *x, int n, char *op)                                                        \
  {                                                                                                                    \
    ARMCI_ENTER_AS(armci_msg_clus_##letter##gop, armci_msg_gop, 0);                                                    \
    reduce(&f, armci_of(f.self)->node, x, n, op, TYPE);                                                                \
  }                                                                                                                    \
  void armci_msg_group_##letter##gop(c_type *x, int n, char *op, ARMCI_Group *group)                                   \
  {                                                                                                                    \
    ARMCI_ENTER_AS(armci_msg_group_##letter##gop, armci_msg_gop, 0);                                                   \
    reduce(&f, armci_member_group_of(&f, group), x, n, op, TYPE);                                                      \
  }
TYPED(i, int, ARMCI_INT)
TYPED(l, long, ARMCI_LONG)
TYPED(ll, long long, ARMCI_LONG_LONG)
TYPED(f, float, ARMCI_FLOAT)
TYPED(d, double, ARMCI_DOUBLE)

/* --- selection ---------------------------------------------------------------------------------------------------- */

/* Whether the value at `a` is better than that at `b`. Both have type `type` and any alignment. */
static bool is_better(int type, bool least, const char *a, const char *b)
{
#define COMPARE(T)                                                                                                     \
  {                                                                                                                    \
    T x, y;                                                                                                            \
    memcpy(&x, a, sizeof x);                                                                                           \
    memcpy(&y, b, sizeof y);                                                                                           \
    return least ? x < y : x > y;                                                                                      \
  }
  switch (type) {
  case ARMCI_INT: COMPARE(int)
  case ARMCI_LONG: COMPARE(long)
  case ARMCI_LONG_LONG: COMPARE(long long)
  case ARMCI_FLOAT: COMPARE(float)
  default: COMPARE(double)
  }
#undef COMPARE
}

static void select_one(wtl_frame *f, wtl_group *g, char *x, int bytes, const char *op, int type, int contribute)
{
  check_kind(f, type);
  enum operation operation = operation_of(f, op);
  if (operation != MIN && operation != MAX)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: op=\"%.16s\" is not valid here; allowed: min and max", wtl_error_place(f->name),
                op);
  armci_check_that(f, bytes >= (int)sizes[type], "n", bytes, "the bytes of a value and more");
  armci_check_given(f, "x", x, (size_t)bytes);
  size_t each = (size_t)bytes + 1; /* and one byte for whether there is a value */
  char *mine = calloc(1, each), *all = calloc((size_t)g->n, each);
  int chosen = -1;
  armci_synchronize(f, g, (size_t)bytes, 0);
  if (!mine || !all) wtl_pe_fail(WTL_EXIT_OSERR, "armci_msg_sel: no memory");
  mine[0] = contribute != 0;
  memcpy(mine + 1, x, (size_t)bytes);
  wtl_group_gather(f->self, f->site, g, mine, all, each);
  for (int i = 0; i < g->n; i++) {
    const char *there = all + (size_t)i * each;
    if (!there[0]) continue;
    if (chosen < 0 || is_better(type, operation == MIN, there + 1, all + (size_t)chosen * each + 1)) chosen = i;
  }
  if (chosen >= 0) memcpy(x, all + (size_t)chosen * each + 1, (size_t)bytes);
  free(mine);
  free(all);
}

void armci_msg_sel_scope(int scope, void *x, int bytes, char *op, int type, int contribute)
{
  ARMCI_ENTER_AS(armci_msg_sel_scope, armci_msg_sel, 0);
  wtl_group *g = armci_scope_of(&f, armci_of(f.self)->world, scope);
  if (g) select_one(&f, g, x, bytes, op, type, contribute);
}

void armci_msg_sel(void *x, int bytes, char *op, int type, int contribute)
{
  ARMCI_ENTER(armci_msg_sel, 0);
  select_one(&f, armci_of(f.self)->world, x, bytes, op, type, contribute);
}
