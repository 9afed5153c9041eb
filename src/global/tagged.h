/*
 * tagged.h - messages with a tag, kept at their receiver until it asks for them: for two-sided programs and for
 * collectives of any set of PEs. A message is found by its sender, its context and its tag; of those that match, the
 * one that came first. What one PE sends to another comes in the order in which it was sent.
 *
 * A sender does not wait for its receiver to ask, so what nobody asks for takes the receiver's memory.
 */
#ifndef WTL_GLOBAL_TAGGED_H
#define WTL_GLOBAL_TAGGED_H

#include "pgas/pe.h"

enum { WTL_FROM_ANY = -1 };

/* What a message is found by, as MPI has it. */
typedef struct wtl_envelope {
  int from; /* PE, or WTL_FROM_ANY */
  uint64_t context;
  int64_t tag;
} wtl_envelope;

/* Collective; the second time it does nothing. */
void wtl_tagged_start(wtl_pe *self, wtl_site *site);
void wtl_tagged_stop(wtl_pe *self);

/* `data` may be reused on return. n: up to WTL_AM_LONGEST - 64. */
void wtl_tagged_send(wtl_pe *self, wtl_site *site, int pe, uint64_t context, int64_t tag, const void *data, size_t n);

/*
 * Waits for a message and takes it. Returns its length, and its sender in *who where that is
 * not NULL. One that is longer than `room` ends the job; `call` is named in the error.
 */
size_t wtl_tagged_receive(wtl_pe *self, wtl_site *site, const char *call, wtl_envelope of, void *to, size_t room,
                          int *who);

/* Is there one? The first moves on what is under way; the second only looks. */
bool wtl_tagged_has(wtl_pe *self, wtl_envelope of);
bool wtl_tagged_has_any(const wtl_pe *self, wtl_envelope of);

#endif
