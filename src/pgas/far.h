/*
 * far.h - put, get and atomic operations on PEs of other nodes: places instead of addresses, and waiting for answers.
 *
 * All of them wait through the door at `site` where they must: for room in the network, for a source to be reusable,
 * for an answer.
 */
#ifndef WTL_PGAS_FAR_H
#define WTL_PGAS_FAR_H

#include "pgas/pe.h"

/* Where other nodes find the symmetric object at `addr`. */
wtl_place wtl_far_place(const wtl_pe *self, const void *addr);

/*
 * `flow`: of the context the operation is made on; NULL: the default one. `dest` and `source` are this PE's own
 * addresses of the symmetric objects. `nbi`: complete only after the next quiet of that context.
 */
void wtl_far_put(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n, int pe,
                 bool nbi);
void wtl_far_get(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n, int pe,
                 bool nbi);

/* An atomic operation on `size` bytes, 4 or 8. `result` NULL: the old value is not wanted. `nbi`: it is there after the
 * next quiet. */
void wtl_far_amo(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size,
                 uint64_t operand, uint64_t condition, void *result, bool nbi);

/* A put, and after it a signal (WTL_NET_SET or WTL_NET_ADD) to the word `sig` of the same PE. */
void wtl_far_put_signal(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n,
                        uint64_t *sig, uint64_t signal, bool adds, int pe, bool nbi);

/* Blocks of `block` bytes, one every `to_step` and `from_step` bytes. */
void wtl_far_put_blocks(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, size_t to_step,
                        const void *source, size_t from_step, size_t block, size_t blocks, int pe);
void wtl_far_get_blocks(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, size_t to_step,
                        const void *source, size_t from_step, size_t block, size_t blocks, int pe);

/*
 * The same for a place, and without an end: they wait for room only, and `left` counts what its owner waits for then
 * (NULL: it is complete after the next quiet). Counters belong to the network while they are not 0.
 */
void wtl_far_put_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, const void *source,
                    size_t n, enum wtl_net_manner manner, _Atomic uint32_t *left);
void wtl_far_get_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, void *dest, size_t n,
                    _Atomic uint32_t *left);
void wtl_far_amo_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, enum wtl_net_op op,
                    size_t size, uint64_t operand, uint64_t condition, void *result, _Atomic uint32_t *left);
void wtl_far_get_blocks_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, void *dest,
                           size_t to_step, size_t from_step, size_t block, size_t blocks, _Atomic uint32_t *left);
void wtl_far_wait(wtl_pe *self, wtl_site *site, _Atomic uint32_t *left);

void wtl_far_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site);
void wtl_far_order(wtl_pe *self, wtl_net_flow *flow, wtl_site *site);

/* Completes what `flow` has begun on PE `pe`, and waits for operations on no other PE (but where hardware has done some
 * on this one: its flush is one for all). */
void wtl_far_pe_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe);

/* Tells the leader of another node that this node has reached `epoch` in round `round` of a barrier. */
void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch);

/* The same for a word of another PE's team rooms (team.h), at `offset` of them; the same, with `n` bytes to offset `at`
 * that arrive before (up to WTL_NET_MERGED); and bytes from there. */
void wtl_far_room_signal(wtl_pe *self, int pe, size_t offset, uint32_t epoch);
void wtl_far_room_tell(wtl_pe *self, int pe, size_t at, const void *from, size_t n, size_t offset, uint32_t epoch);
void wtl_far_room_get(wtl_pe *self, wtl_site *site, void *to, size_t n, int pe, size_t offset);

#endif
