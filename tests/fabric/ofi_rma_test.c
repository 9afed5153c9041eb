/* ofi_rma_test.c - tests puts and gets by libfabric, with a provider made here that needs registration on this side. */
#include "fabric/ofi/ofi_rma.h"

#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "fabric/net.h"
#include "power/check.h"

enum { MOST = 1024, FAR_BYTES = 1 << 20 };

/* A region that the provider has registered; its address is its description. */
typedef struct made_region {
  struct fid_mr mr;
  const char *start;
  size_t n;
} made_region;

static made_region regions[MOST];
static int n_regions, n_closed, n_done;
static struct {
  void *context;
  const char *from;
  char *to;
  size_t n;
  bool is_get;
} begun[MOST];
static int n_begun, takes; /* how many more operations the provider takes */
static unsigned n_unregistered;
static char far_memory[FAR_BYTES];

static int close_region(struct fid *fid)
{
  (void)fid;
  n_closed++;
  return 0;
}

static struct fi_ops region_ops = {.close = close_region};

static int reg(struct fid *fid, const void *start, size_t n, uint64_t access, uint64_t offset, uint64_t key,
               uint64_t flags, struct fid_mr **mr, void *context)
{
  made_region *r = &regions[n_regions++];
  (void)fid, (void)offset, (void)flags, (void)context;
  if (!(access & FI_READ) || !(access & FI_WRITE)) return -FI_EINVAL;
  r->mr.fid.ops = &region_ops;
  r->mr.mem_desc = r;
  r->mr.key = key;
  r->start = start;
  r->n = n;
  *mr = &r->mr;
  return 0;
}

static bool is_registered(const struct fi_msg_rma *m)
{
  const made_region *r = m->desc ? m->desc[0] : NULL;
  const char *start = m->msg_iov->iov_base;
  return r && start >= r->start && start + m->msg_iov->iov_len <= r->start + r->n;
}

static ssize_t begin(const struct fi_msg_rma *m, bool is_get)
{
  char *there = far_memory + m->rma_iov->addr, *here = m->msg_iov->iov_base;
  if (takes == 0) return -FI_EAGAIN;
  takes--;
  n_unregistered += !is_registered(m);
  begun[n_begun].context = m->context;
  begun[n_begun].from = is_get ? there : here;
  begun[n_begun].to = is_get ? here : there;
  begun[n_begun].n = m->msg_iov->iov_len;
  begun[n_begun].is_get = is_get;
  n_begun++;
  return 0;
}

static ssize_t writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
  (void)ep;
  return flags & FI_DELIVERY_COMPLETE ? begin(m, false) : -FI_EINVAL;
}

static ssize_t readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
  (void)ep, (void)flags;
  return begin(m, true);
}

static struct fi_ops_mr mr_ops = {.reg = reg};
static struct fid_domain domain = {.mr = &mr_ops};
static struct fi_ops_rma rma_ops = {.writemsg = writemsg, .readmsg = readmsg};
static struct fid_ep ep = {.rma = &rma_ops};

static wtl_ofi_memory memory;
static wtl_ofi_rma rma;
static wtl_transport_key key;

static void done(void *arg)
{
  (void)arg;
  n_done++;
}

static void open(bool is_needed)
{
  struct fi_domain_attr attributes = {.mr_mode = is_needed ? FI_MR_LOCAL : 0};
  struct fi_info info = {.domain_attr = &attributes};
  uint64_t there = 7;
  n_regions = n_closed = n_done = n_begun = 0;
  n_unregistered = 0;
  takes = MOST;
  memset(far_memory, 0, sizeof far_memory);
  wtl_ofi_memory_open(&memory, &domain, &ep, &info);
  CHECK(wtl_ofi_memory_make_copies(&memory) == 0);
  rma = (wtl_ofi_rma){.memory = &memory};
  key = (wtl_transport_key){wtl_ofi_rma_accept(&rma, &there), 0};
}

/* The provider carries out all that it has taken. */
static void carry_out(void)
{
  int n = n_begun;
  n_begun = 0;
  for (int i = 0; i < n; i++) memcpy(begun[i].to, begun[i].from, begun[i].n);
  for (int i = 0; i < n; i++) wtl_ofi_rma_ended(&rma, begun[i].context);
  if (rma.queue) wtl_ofi_rma_continue(&rma);
}

static void move(void *here, size_t at, size_t n, bool is_put)
{
  wtl_transport_rma r = {.key = &key, .offset = at, .here = here, .n = n, .done = done};
  wtl_ofi_rma_begin(&rma, 1, 0, &r, is_put);
}

static void memory_that_is_not_registered_is_copied(void)
{
  static char from[WTL_NET_MOST], to[WTL_NET_MOST];
  static const size_t lengths[] = {1, 4096, 4097, WTL_NET_MOST};
  for (size_t i = 0; i < sizeof from; i++) from[i] = (char)(i * 7 + i / 253);
  for (size_t i = 0; i < 4; i++) {
    size_t n = lengths[i];
    open(true);
    memset(to, 0, sizeof to);
    move(from, 100, n, true);
    carry_out();
    CHECK(n_done == 1 && memcmp(far_memory + 100, from, n) == 0 && far_memory[100 + n] == 0);
    move(to, 100, n, false);
    CHECK(to[0] == 0);
    carry_out();
    CHECK(n_done == 2 && memcmp(to, from, n) == 0 && (n == sizeof to || to[n] == 0));
    CHECK(n_unregistered == 0);
    wtl_ofi_memory_close(&memory);
    CHECK(n_closed == n_regions);
  }
}

static void offered_memory_is_used_in_place(void)
{
  enum { OFFERED = 8192 };
  static char heap[OFFERED + 1]; /* the last byte is not offered */
  char packed[64];
  size_t length = sizeof packed;
  open(true);
  CHECK(wtl_ofi_rma_offer(&rma, heap, OFFERED, packed, &length) == 0);
  move(heap + OFFERED - 10, 0, 10, true);
  CHECK(n_begun == 1 && begun[0].from == heap + OFFERED - 10);
  move(heap + OFFERED - 10, 0, 11, true); /* it ends beside the region */
  CHECK(n_begun == 2 && begun[1].from != heap + OFFERED - 10);
  move(heap, 0, OFFERED, false);
  CHECK(n_begun == 3 && begun[2].to == heap);
  carry_out();
  CHECK(n_done == 3 && n_unregistered == 0);
  wtl_ofi_memory_close(&memory);
}

static void operations_wait_for_buffers(void)
{
  enum { MANY = 300 };
  static uint64_t from[MANY], to[MANY];
  open(true);
  for (unsigned i = 0; i < MANY; i++) from[i] = i * 0x9e3779b97f4a7c15u;
  for (unsigned i = 0; i < MANY; i++) move(&from[i], 8 * i, 8, true);
  CHECK(n_begun < MANY && rma.queue);
  while (n_done < MANY) carry_out();
  for (unsigned i = 0; i < MANY; i++) move(&to[i], 8 * i, 8, false);
  while (n_done < 2 * MANY) carry_out();
  CHECK(memcmp(from, to, sizeof from) == 0 && n_unregistered == 0 && !rma.queue);
  wtl_ofi_memory_close(&memory);
}

static void an_operation_that_the_provider_refuses_is_repeated(void)
{
  uint64_t from[3] = {11, 12, 13};
  open(true);
  takes = 1;
  for (unsigned i = 0; i < 3; i++) move(&from[i], 8 * i, 8, true);
  carry_out();
  CHECK(n_done == 1 && rma.queue);
  takes = MOST;
  wtl_ofi_rma_continue(&rma);
  carry_out();
  CHECK(n_done == 3 && memcmp(far_memory, from, sizeof from) == 0);
  wtl_ofi_memory_close(&memory);
}

static void a_flush_waits_for_the_puts_before_it(void)
{
  uint64_t word = 5, read = 0;
  open(true);
  move(&word, 0, 8, true);
  wtl_ofi_rma_flush(&rma, done, NULL);
  CHECK(n_done == 0);
  move(&word, 8, 8, true); /* a later one */
  memcpy(begun[0].to, begun[0].from, 8);
  wtl_ofi_rma_ended(&rma, begun[0].context);
  CHECK(n_done == 2); /* the put and the flush */
  begun[0] = begun[1];
  n_begun = 1;
  carry_out();
  CHECK(n_done == 3);
  move(&read, 0, 8, false);
  wtl_ofi_rma_flush(&rma, done, NULL); /* no put is pending */
  CHECK(n_done == 4);
  carry_out();
  CHECK(read == 5);
  wtl_ofi_memory_close(&memory);
}

static void nothing_is_copied_where_the_provider_does_not_need_it(void)
{
  uint64_t word = 9;
  open(false);
  CHECK(n_regions == 0);
  move(&word, 0, 8, true);
  CHECK(n_begun == 1 && begun[0].from == (char *)&word);
  carry_out();
  CHECK(n_done == 1);
  wtl_ofi_memory_close(&memory);
}

TESTS(TEST(memory_that_is_not_registered_is_copied), TEST(offered_memory_is_used_in_place),
      TEST(operations_wait_for_buffers), TEST(an_operation_that_the_provider_refuses_is_repeated),
      TEST(a_flush_waits_for_the_puts_before_it), TEST(nothing_is_copied_where_the_provider_does_not_need_it))
