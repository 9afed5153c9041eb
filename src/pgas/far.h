/*
 * far.h - operations on PEs of other nodes. They become messages of src/fabric and wait through the door at op->site.
 * rma.h calls them and says how an operation completes.
 *
 * A place is a segment of a PE's memory and an offset in it. The functions _at take a place where others take an
 * address. They reach the other segments, too.
 */
#ifndef WTL_PGAS_FAR_H
#define WTL_PGAS_FAR_H

#include "base/amo.h"
#include "fabric/net.h"
#include "pgas/op.h"
#include "pgas/pe.h"

/* The place of the symmetric object at `addr`. It is the same on all PEs. */
wtl_place wtl_far_place(const wtl_pe *self, const void *addr);

void wtl_far_put(const wtl_op *op, void *dest, const void *source, size_t n);
void wtl_far_get(const wtl_op *op, void *dest, const void *source, size_t n);
void wtl_far_amo(const wtl_op *op, void *dest, const wtl_atomic *a, void *result);
void wtl_far_put_signal(const wtl_op *op, void *dest, const void *source, size_t n, const wtl_signal *signal);

/* All blocks are sent before the first one is waited for. */
void wtl_far_put_blocks(const wtl_op *op, void *dest, const void *source, const wtl_blocks *b);
void wtl_far_get_blocks(const wtl_op *op, void *dest, const void *source, const wtl_blocks *b);

void wtl_far_get_at(const wtl_op *op, wtl_place at, void *dest, size_t n);
void wtl_far_amo_at(const wtl_op *op, wtl_place at, const wtl_atomic *a, void *result);

/* A put whose completion no flush waits for. The target learns of it by the caller's next signal to the same PE. The
 * mode is WTL_NET_SIGNAL or WTL_NET_AHEAD. */
void wtl_far_put_ahead(const wtl_op *op, void *dest, const void *source, size_t n, enum wtl_net_send_mode mode);

/* Waits until the operations that are counted in `left` are complete on this side. */
void wtl_far_wait(wtl_pe *self, wtl_site *site, _Atomic uint32_t *left);

/* _quiet completes the operations of `flow`, also at their targets; NULL: those of the default context. _order does so
 * only if a later operation could overtake an earlier one. */
void wtl_far_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site);
void wtl_far_order(wtl_pe *self, wtl_net_flow *flow, wtl_site *site);

/* Completes the operations of `flow` on PE `pe`, and waits for no operations on other PEs. Hardware is an exception: it
 * has one flush for all PEs. */
void wtl_far_pe_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe);

/* Reports to the leader of another node that this node has reached `epoch` in round `round` of a barrier. */
void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch);

/* The team entries of a PE (team/team_entry.h) are one segment. _signal stores `epoch` to the word at `offset` of it.
 * _put_signal first stores `n` bytes, at most WTL_NET_MERGED, at offset `at`. _get fetches `n` bytes from `offset`. */
void wtl_far_entry_signal(wtl_pe *self, int pe, size_t offset, uint32_t epoch);
void wtl_far_entry_put_signal(wtl_pe *self, int pe, size_t at, const void *from, size_t n, size_t offset,
                              uint32_t epoch);
void wtl_far_entry_get(wtl_pe *self, wtl_site *site, void *to, size_t n, int pe, size_t offset);

#endif
