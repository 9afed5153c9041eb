/*
 * memory.h - memory of this process that is registered with libfabric, and buffers for copies of memory that is not.
 *
 * Other PEs reach registered memory by its key. Some providers (FI_MR_LOCAL) need registration on this side, too: of
 * the source of a put, and of the memory that a get fills. The symmetric heap stays registered, piece by piece, until
 * the end. All other memory belongs to the program, which may return it to the system at any time. So such transfers
 * are copied through registered buffers, and no registration can be out of date.
 *
 * On emulated Soft-RoCE a copy of 8 bytes took 0.8 us, of 4 KiB 2 us and of 124 KiB 205 us. To register and release the
 * same memory took 39, 41 and 53 us; 1.4, 1.5 and 3.5 us from libfabric's own cache of registrations, which hooks into
 * the C library's allocator.
 */
#ifndef WTL_FABRIC_OFI_MEMORY_H
#define WTL_FABRIC_OFI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

/* Memory of this process or a key to that of another one. */
typedef struct wtl_ofi_region {
  struct wtl_ofi_region *next;
  struct fid_mr *mr; /* NULL: of another process */
  uint64_t key;
  const char *start; /* `n` bytes of this process */
  size_t n;
} wtl_ofi_region;

/* A registered buffer. */
typedef struct wtl_ofi_copy {
  struct wtl_ofi_copy *next_free;
  bool is_long;
  char *bytes;
} wtl_ofi_copy;

typedef struct wtl_ofi_memory {
  struct fid_domain *domain;
  struct fid_ep *ep;
  uint64_t mr_mode;
  uint64_t next_key; /* where a provider lets the user choose them */
  bool is_needed;    /* the provider needs memory on this side registered */
  wtl_ofi_region *regions, *last_found;
  wtl_ofi_copy *copies, *free_copies[2]; /* short and long ones */
  char *bytes;                           /* of all copies */
  struct fid_mr *copies_mr;
} wtl_ofi_memory;

/* The endpoint of `m` is open; `info` is its description. */
void wtl_ofi_memory_open(wtl_ofi_memory *m, struct fid_domain *domain, struct fid_ep *ep, const struct fi_info *info);
void wtl_ofi_memory_close(wtl_ofi_memory *m);

/* Registers `n` bytes at `start` for `access` (FI_SEND, ...). Returns 0 or libfabric's error code. */
int wtl_ofi_memory_register(wtl_ofi_memory *m, void *start, size_t n, uint64_t access, struct fid_mr **mr);

/* Makes the buffers, if the provider needs them. Returns 0 or libfabric's error code. */
int wtl_ofi_memory_make_copies(wtl_ofi_memory *m);

/* A new region without contents; NULL: no memory. It lives until the end. */
wtl_ofi_region *wtl_ofi_region_new(wtl_ofi_memory *m);

/* The region that has all of these bytes of this process; NULL: there is none. */
const wtl_ofi_region *wtl_ofi_region_find(wtl_ofi_memory *m, const void *start, size_t n);

/* A buffer for `n` bytes, at most WTL_NET_MOST; NULL: none is free. */
wtl_ofi_copy *wtl_ofi_copy_take(wtl_ofi_memory *m, size_t n);
void wtl_ofi_copy_return(wtl_ofi_memory *m, wtl_ofi_copy *c);

#endif
