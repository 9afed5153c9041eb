/*
 * context.h - contexts: operations that are ordered and completed together, apart from those of other contexts.
 *
 * On one node an operation is complete when it returns, so contexts differ in nothing but their PE numbers (those of
 * their team). To other nodes each has a flow of its own (fabric/net.h). The default context has neither, and no
 * wtl_ctx.
 *
 * A handle is a place in a table and a generation, so that one of a destroyed context is noticed.
 */
#ifndef WTL_TEAM_CONTEXT_H
#define WTL_TEAM_CONTEXT_H

#include <pthread.h>

#include "pgas/pe.h"

enum { WTL_MOST_CTXS = 1024 };

struct wtl_ctx {
  _Atomic uintptr_t handle; /* 0: free; 1: being made */
  uint32_t generation;
  bool is_private; /* for one thread: */
  pthread_t owner;
  wtl_team *team;
  uintptr_t team_handle; /* the team may be destroyed first */
  long options;
  wtl_net_flow *flow; /* NULL where all PEs are on this node */
  /* Active messages on it: requests sent, and those whose handlers have run, in two bins. One is open, as the last bit of
   * `am_turn` says; a thread that waits closes it, so that what others send meanwhile is told from what it waits for. */
  _Atomic uint64_t am_turn, am_sent[2];
  uint64_t am_done[2];
};

/* From any thread. NULL: there is no entry, or no memory, for another one. */
wtl_ctx *wtl_context_make(wtl_pe *self, wtl_team *team, long options, bool is_private);

/* The context of a handle; NULL: there is none (any more). */
wtl_ctx *wtl_context_find(const wtl_pe *self, uintptr_t handle);

/* A request is sent on it: where its end is to be counted. */
uint64_t *wtl_context_am_begins(wtl_ctx *ctx);

/* The handlers of all requests sent on it have run, and so have, here, those of their replies. `call`: for reports. */
void wtl_context_am_quiet(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *ctx);

/* Completes its operations and active messages, and gives it back. */
void wtl_context_free(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *ctx);

/* The next context of `team` (NULL: of any) after `from` (NULL: the first). */
wtl_ctx *wtl_context_next(const wtl_pe *self, const wtl_team *team, const wtl_ctx *from);

/* All that are left. */
void wtl_contexts_stop(wtl_pe *self, wtl_site *site, const char *call);

#endif
