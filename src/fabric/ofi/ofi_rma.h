/*
 * ofi_rma.h - puts and gets of libfabric's remote memory access.
 *
 * Each put is complete when its bytes are at the target (FI_DELIVERY_COMPLETE): some hardware otherwise completes it
 * when they have left. So a flush only waits for the puts before it.
 */
#ifndef WTL_FABRIC_OFI_OFI_RMA_H
#define WTL_FABRIC_OFI_OFI_RMA_H

#include "fabric/ofi/memory.h"
#include "fabric/transport.h"

typedef struct wtl_ofi_rma wtl_ofi_rma;

/* An operation. The first member is libfabric's; completions return its address. */
typedef struct wtl_ofi_operation {
  struct fi_context2 context;
  int kind; /* WTL_OFI_RMA */
  bool is_put, epoch;
  struct wtl_ofi_operation *next;
  int pe;
  fi_addr_t to;
  uint64_t address, key;
  void *here;
  size_t n;
  wtl_ofi_copy *copy; /* of the memory here; NULL: none is needed, or none was free yet */
  wtl_done_fn done;
  void *arg;
} wtl_ofi_operation;

struct wtl_ofi_rma {
  wtl_ofi_memory *memory;
  wtl_ofi_operation *queue, **queue_end; /* operations that libfabric does not take yet, or that need a copy */
  uint32_t puts[2];                      /* puts that are not complete, by epoch */
  bool epoch;
  wtl_done_fn flushed; /* NULL: no flush is under way */
  void *flushed_arg;
};

/* The second member of each struct whose address is the context of an operation. */
enum { WTL_OFI_MESSAGE, WTL_OFI_RMA };

int wtl_ofi_rma_offer(wtl_ofi_rma *r, void *start, size_t n, void *key, size_t *length);
void *wtl_ofi_rma_accept(wtl_ofi_rma *r, const void *key);
void wtl_ofi_rma_begin(wtl_ofi_rma *r, int pe, fi_addr_t to, const wtl_transport_rma *what, bool is_put);
void wtl_ofi_rma_flush(wtl_ofi_rma *r, wtl_done_fn done, void *arg);

/* The operation is complete; frees it. */
void wtl_ofi_rma_ended(wtl_ofi_rma *r, wtl_ofi_operation *o);
/* Starts operations that wait. */
void wtl_ofi_rma_continue(wtl_ofi_rma *r);

#endif
