/* am_state.c - holds the handler that this thread runs, and refuses calls that a handler may not make. */
#include "am/am_state.h"

#include "base/error.h"
#include "os/floats.h"
#include "profile/error_place.h"

WTL_OS_DEFINE_THREAD_LOCAL(wtl_am_thread, wtl_am_of_thread);

void wtl_am_refuse_in_handler(const char *call)
{
  const wtl_am_thread *now = &wtl_am_here;
  if (WTL_LIKELY(!now->runs)) return;
  if ((const char *)__builtin_frame_address(0) > now->frame)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: handler %d was left by longjmp; a handler must return", wtl_error_place(call),
                now->id);
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: called by handler %d; a handler may call shmemx_am_reply (a request's), the shmemx_am_mutex "
              "routines, queries "
              "(shmem_my_pe, shmem_ptr ...), and puts, gets and atomics of the default context on its own PE, and "
              "must return: a handler that was left by longjmp has not ended",
              wtl_error_place(call), now->id);
}

uint64_t wtl_am_patience_ns(const wtl_am *am)
{
  WTL_FLOATS_APART;
  return (uint64_t)(am->pe->settings.am_patience.seconds * 1e9);
}
