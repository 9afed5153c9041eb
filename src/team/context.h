/*
 * context.h - contexts: sets of operations that are ordered and completed together, apart from those of other contexts.
 *
 * On one node an operation is complete when it returns, so contexts differ only in their PE numbers (those of their
 * team). To other nodes each context has its own flow (fabric/net.h). The default context has no flow of its own and no
 * wtl_ctx.
 *
 * A handle consists of a place in a table and a generation, so a handle of a destroyed context is noticed.
 */
#ifndef WTL_TEAM_CONTEXT_H
#define WTL_TEAM_CONTEXT_H

#include <pthread.h>

#include "pgas/pe.h"

enum { WTL_MOST_CTXS = 1024 };

struct wtl_ctx {
  _Atomic uintptr_t handle; /* 0: free; 1: being made */
  uint32_t generation;
  bool is_private; /* for one thread, `owner` */
  pthread_t owner;
  wtl_team *team;
  uintptr_t team_handle; /* the team may be destroyed first */
  long options;
  wtl_net_flow *flow; /* NULL where all PEs are on this node */
  /* Active messages of the context: requests sent, and requests whose handlers have run, in two bins. The last bit
   * of `am_turn` selects the open bin. A thread that waits closes it, which separates the requests that it waits for
   * from those that other threads send meanwhile. */
  _Atomic uint64_t am_turn, am_sent[2];
  uint64_t am_done[2];
};

/* Makes a context. Any thread may call it. NULL: the table is full, or there is no memory. */
wtl_ctx *wtl_context_make(wtl_pe *self, wtl_team *team, long options, bool is_private);

/* Returns the context of a handle, or NULL if the handle is not or no longer valid. */
wtl_ctx *wtl_context_find(const wtl_pe *self, uintptr_t handle);

/* Counts a request as sent. Returns the counter to increase when the request is done. */
uint64_t *wtl_context_am_begins(wtl_ctx *ctx);

/* Waits until the handlers of all requests of the context have run, and those of their replies on this PE. Reports
 * name `call`. */
void wtl_context_am_quiet(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *ctx);

/* Completes the operations and active messages of the context, and frees it. */
void wtl_context_free(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *ctx);

/* The next context of `team` (NULL: of any team) after `from` (NULL: the first one). */
wtl_ctx *wtl_context_next(const wtl_pe *self, const wtl_team *team, const wtl_ctx *from);

/* Frees all contexts. */
void wtl_contexts_stop(wtl_pe *self, wtl_site *site, const char *call);

#endif
