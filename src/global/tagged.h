/*
 * tagged.h - tagged messages, kept at their receiver until it asks for them. They serve two-sided programs and
 * collectives of any set of PEs.
 *
 * A message is found by its sender, its context and its tag. Of several that match, the first one to arrive is taken.
 * Messages of one PE to another arrive in the order in which they were sent. A sender does not wait for a matching
 * receive, so messages that are never received occupy memory of the receiver.
 */
#ifndef WTL_GLOBAL_TAGGED_H
#define WTL_GLOBAL_TAGGED_H

#include "pgas/pe.h"

enum { WTL_FROM_ANY = -1 };

/* The keys by which a message is found, as in MPI. */
typedef struct wtl_envelope {
  int from; /* PE, or WTL_FROM_ANY */
  uint64_t context;
  int64_t tag;
} wtl_envelope;

/* Collective. A second call does nothing. */
void wtl_tagged_start(wtl_pe *self, wtl_site *site);
void wtl_tagged_stop(wtl_pe *self);

/* Sends `n` bytes, up to WTL_AM_LONGEST - 64. `data` may be reused on return. */
void wtl_tagged_send(wtl_pe *self, wtl_site *site, int pe, uint64_t context, int64_t tag, const void *data, size_t n);

/*
 * Waits for a message and takes it. Returns its length, and its sender in *who unless that is NULL. A message longer
 * than `capacity` bytes ends the job. The error names `call`.
 */
size_t wtl_tagged_receive(wtl_pe *self, wtl_site *site, const char *call, wtl_envelope of, void *to, size_t capacity,
                          int *sender);

/* Whether there is such a message. The first function also makes progress; the second one does not. */
bool wtl_tagged_has(wtl_pe *self, wtl_envelope of);
bool wtl_tagged_has_any(const wtl_pe *self, wtl_envelope of);

#endif
