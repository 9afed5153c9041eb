/* frame.h - begins and ends each call of a front end: finds the PE, counts the call, and measures the time of some
 * calls. */
#ifndef WTL_PGAS_FRAME_H
#define WTL_PGAS_FRAME_H

#include "pgas/op.h"
#include "pgas/pe.h"

typedef struct wtl_frame {
  wtl_pe *self;
  wtl_site *site;
  wtl_net_flow *flow; /* of the context; NULL: the default one */
  /* the last two are set if the call is timed; else `waited` is WTL_NOT_TIMED */
  uint64_t bytes, start, waited;
  const char *name; /* of the routine, for messages; NULL if the front end sets none */
  uint32_t call;
} wtl_frame;

#define WTL_NOT_TIMED UINT64_MAX

/* Each front end defines it: prints that there is no PE, and ends the process. */
void wtl_front_refuse_uninitialised(uint32_t call) __attribute__((noreturn, cold));

/*
 * Called with each timed call (one in 1,024 of a site with many). A program may wait by a loop of its own: it gets a
 * word of its PE until that changes, or reads a volatile variable and calls shmem_fence or shmem_quiet. Where PEs
 * outnumber cores, the PE that it waits for may need this core. So the thread yields if since the last sample it made
 * this call alone and the word has not changed.
 */
void wtl_own_poll_check(const wtl_pe *self, const wtl_site *site, uint64_t bytes, int pe, const void *there)
    __attribute__((cold));

/* Begins a call. The PE of its target is numbered in the job. `is_short`: profile.h. */
static inline __attribute__((always_inline)) wtl_frame wtl_enter_frame(uint32_t call, wtl_origin from, uint64_t bytes,
                                                                       wtl_target to, bool is_short)
{
  wtl_frame f = {.self = wtl_self, .call = call, .bytes = bytes, .waited = WTL_NOT_TIMED};
  if (WTL_UNLIKELY(!f.self)) wtl_front_refuse_uninitialised(call);
  f.site = wtl_profile_enter_to(&f.self->profile, from, call, bytes, to, is_short);
  if (WTL_UNLIKELY(wtl_profile_timed(f.site, bytes))) {
    if (is_short) f.site = wtl_profile_check(&f.self->profile, f.site, from, bytes, to.pe);
    if (!WTL_OS_IS_SIMULATED && !to.puts) wtl_own_poll_check(f.self, f.site, bytes, to.pe, to.there);
    f.waited = wtl_site_waited(f.site);
    f.start = wtl_ticks();
  }
  wtl_os_note_work(WTL_OS_CALL);
  return f;
}

/* ... a call that usually takes some nanoseconds. */
static inline __attribute__((always_inline)) wtl_frame wtl_enter_to(uint32_t call, wtl_origin from, uint64_t bytes,
                                                                    wtl_target to)
{
  return wtl_enter_frame(call, from, bytes, to, true);
}

static inline __attribute__((always_inline)) wtl_frame wtl_enter(uint32_t call, wtl_origin from, uint64_t bytes)
{
  return wtl_enter_frame(call, from, bytes, WTL_NO_TARGET, false);
}

/* Describes an operation of this call on PE `pe`. */
static inline __attribute__((always_inline)) wtl_op wtl_op_to(const wtl_frame *f, int pe, bool nbi)
{
  return (wtl_op){.self = f->self, .site = f->site, .flow = f->flow, .pe = pe, .nbi = nbi};
}

static inline __attribute__((always_inline)) void wtl_leave(wtl_frame *f)
{
  if (WTL_UNLIKELY(f->waited != WTL_NOT_TIMED)) wtl_profile_leave(f->site, f->bytes, f->start, f->waited);
}

#endif
