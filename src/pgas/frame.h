/*
 * frame.h - what every call of a front end begins and ends with: find the PE, count the call, and time it where it is
 * one of those that are timed.
 */
#ifndef WTL_PGAS_FRAME_H
#define WTL_PGAS_FRAME_H

#include "pgas/pe.h"

typedef struct wtl_frame {
  wtl_pe *self;
  wtl_site *site;
  wtl_net_flow *flow; /* of the context; NULL: the default one, and all where all PEs are on this node */
  uint64_t bytes, start, waited;
  const char *name; /* of the routine, for messages, where the front end sets it */
  uint32_t call;
  bool timed;
} wtl_frame;

/* The front end's own: says that there is no PE, and ends the process. */
void wtl_refuse_uninitialised(uint32_t call) __attribute__((noreturn, cold));

/* A call to a PE, by the job's number of it; -1: to nobody in particular. */
static inline __attribute__((always_inline)) wtl_frame wtl_enter_to(uint32_t call, uintptr_t from, uint64_t bytes,
                                                                    int pe)
{
  wtl_frame f = {.self = wtl_self, .call = call, .bytes = bytes};
  if (WTL_UNLIKELY(!f.self)) wtl_refuse_uninitialised(call);
  f.site = wtl_profile_enter_to(&f.self->profile, from, call, bytes, pe);
  f.timed = wtl_profile_timed(f.site, bytes);
  if (WTL_UNLIKELY(f.timed)) {
    f.waited = wtl_site_waited(f.site);
    f.start = wtl_ticks();
  }
  return f;
}

static inline __attribute__((always_inline)) wtl_frame wtl_enter(uint32_t call, uintptr_t from, uint64_t bytes)
{
  return wtl_enter_to(call, from, bytes, -1);
}

static inline __attribute__((always_inline)) void wtl_leave(wtl_frame *f)
{
  if (WTL_UNLIKELY(f->timed)) wtl_profile_leave(f->site, f->bytes, f->start, f->waited);
}

#endif
