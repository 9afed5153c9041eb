/*
 * far.h - put, get and atomic operations on PEs of other nodes: places instead of addresses, and waiting for answers.
 *
 * All of them wait through the door at `site` where they must: for room in the network, for a source to be reusable,
 * for an answer.
 */
#ifndef WTL_PGAS_FAR_H
#define WTL_PGAS_FAR_H

#include "pgas/pe.h"

/* Collective: starts the network and the agent, where there are other nodes. 0, or an exit code with the reason in
 * `error`. */
int wtl_far_start(wtl_pe *self, char *error, size_t size);
void wtl_far_stop(wtl_pe *self);

/* Where other nodes find the symmetric object at `addr`. */
wtl_place wtl_far_place(const wtl_pe *self, const void *addr);

/* `dest` and `source` are this PE's own addresses of the symmetric objects. `nbi`: complete only after the next quiet.
 */
void wtl_far_put(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi);
void wtl_far_get(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi);

/* An atomic operation on `size` bytes, 4 or 8. `result` NULL: the old value is not wanted. `nbi`: it is there after the
 * next quiet. */
void wtl_far_amo(wtl_pe *self, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result, bool nbi);

void wtl_far_quiet(wtl_pe *self, wtl_site *site);
void wtl_far_order(wtl_pe *self, wtl_site *site);

/* Tells the leader of another node that this node has reached `epoch` in round `round` of a barrier. */
void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch);

#endif
