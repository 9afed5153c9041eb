/* memory.c - registers memory with libfabric, and keeps buffers for copies of memory that is not registered. */
#include "fabric/ofi/memory.h"

#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "fabric/net.h"

/* 3.4 MiB in all. Most transfers from a program's stack or heap are short. */
enum { SHORT_BYTES = 4096, N_SHORT = 96, LONG_BYTES = WTL_NET_MOST, N_LONG = 25 };

void wtl_ofi_memory_open(wtl_ofi_memory *m, struct fid_domain *domain, struct fid_ep *ep, const struct fi_info *info)
{
  uint64_t mr_mode = (uint64_t)info->domain_attr->mr_mode;
  *m = (wtl_ofi_memory){
      .domain = domain, .ep = ep, .mr_mode = mr_mode, .next_key = 1, .is_needed = (mr_mode & FI_MR_LOCAL) != 0};
}

int wtl_ofi_memory_register(wtl_ofi_memory *m, void *start, size_t n, uint64_t access, struct fid_mr **mr)
{
  int rc = fi_mr_reg(m->domain, start, n, access, 0, m->next_key, 0, mr, NULL);
  if (rc != 0) return *mr = NULL, rc;
  m->next_key++;
  if (!(m->mr_mode & FI_MR_ENDPOINT)) return 0;
  if ((rc = fi_mr_bind(*mr, &m->ep->fid, 0)) != 0) return rc;
  return fi_mr_enable(*mr);
}

int wtl_ofi_memory_make_copies(wtl_ofi_memory *m)
{
  size_t n = (size_t)N_SHORT * SHORT_BYTES + (size_t)N_LONG * LONG_BYTES;
  if (!m->is_needed) return 0;
  m->copies = calloc(N_SHORT + N_LONG, sizeof *m->copies);
  m->bytes = aligned_alloc(4096, n);
  if (!m->copies || !m->bytes) return -FI_ENOMEM;
  for (int i = 0; i < N_SHORT + N_LONG; i++) {
    size_t at =
        i < N_SHORT ? (size_t)i * SHORT_BYTES : (size_t)N_SHORT * SHORT_BYTES + (size_t)(i - N_SHORT) * LONG_BYTES;
    m->copies[i] = (wtl_ofi_copy){.is_long = i >= N_SHORT, .bytes = m->bytes + at};
    wtl_ofi_copy_return(m, &m->copies[i]);
  }
  return wtl_ofi_memory_register(m, m->bytes, n, FI_READ | FI_WRITE, &m->copies_mr);
}

void wtl_ofi_memory_close(wtl_ofi_memory *m)
{
  if (m->copies_mr) fi_close(&m->copies_mr->fid);
  for (wtl_ofi_region *l = m->regions, *next; l; l = next) {
    next = l->next;
    if (l->mr) fi_close(&l->mr->fid);
    free(l);
  }
  free(m->copies);
  free(m->bytes);
  *m = (wtl_ofi_memory){0};
}

wtl_ofi_region *wtl_ofi_region_new(wtl_ofi_memory *m)
{
  wtl_ofi_region *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->next = m->regions;
  m->regions = l;
  return l;
}

static bool has(const wtl_ofi_region *l, const char *start, size_t n)
{
  return l->mr && start >= l->start && n <= l->n && (size_t)(start - l->start) <= l->n - n;
}

const wtl_ofi_region *wtl_ofi_region_find(wtl_ofi_memory *m, const void *start, size_t n)
{
  if (m->last_found && has(m->last_found, start, n)) return m->last_found;
  for (wtl_ofi_region *l = m->regions; l; l = l->next)
    if (has(l, start, n)) return m->last_found = l;
  return NULL;
}

wtl_ofi_copy *wtl_ofi_copy_take(wtl_ofi_memory *m, size_t n)
{
  wtl_ofi_copy **of = &m->free_copies[n > SHORT_BYTES], *c = *of;
  if (c) *of = c->next_free;
  return c;
}

void wtl_ofi_copy_return(wtl_ofi_memory *m, wtl_ofi_copy *c)
{
  c->next_free = m->free_copies[c->is_long];
  m->free_copies[c->is_long] = c;
}
