/*
 * os_simulation.h - implements the port to simulation: the functions that must be inline. A PE is a copy of the program
 * inside the simulator, with variables of its own. sim/simulator.h is the machine that it runs on.
 */
#ifndef WTL_OS_OS_SIMULATION_H
#define WTL_OS_OS_SIMULATION_H

#include <math.h>

#include "sim/libc_calls.h"
#include "sim/simulator.h"

enum { WTL_OS_IS_SIMULATED = 1, WTL_OS_PES_ARE_THREADS = 0 };
#define WTL_OS_OF_PE

#define WTL_OS_THREAD_LOCAL(type, name, part)                                                                          \
  _Static_assert(sizeof(type) <= WTL_SIM_LOCAL_BYTES / WTL_OS_PARTS, "a simulated thread's memory holds it");          \
  static inline type *name##_here(void)                                                                                \
  {                                                                                                                    \
    return (type *)(void *)((char *)wtl_sim_local() + (part)*WTL_SIM_LOCAL_BYTES / WTL_OS_PARTS);                      \
  }
#define WTL_OS_DEFINE_THREAD_LOCAL(type, name) _Static_assert(sizeof(type) > 0, "its memory is the simulated thread's")
#define WTL_OS_SHOW_THREAD_LOCAL(type, name) _Static_assert(sizeof(type) > 0, "it is in no library of its own")

static inline uint64_t wtl_clock_ns(void)
{
  return wtl_sim_ns();
}

static inline uint64_t wtl_ticks(void)
{
  return wtl_sim_ns();
}

static inline double wtl_os_cpu_seconds(void)
{
  return wtl_sim_cpu_seconds();
}

static inline bool wtl_os_is_thread_of_pe(void)
{
  return wtl_sim_thread() != NULL;
}

static inline enum wtl_os_idle_mode wtl_os_set_idle_mode(enum wtl_os_idle_mode how)
{
  return (enum wtl_os_idle_mode)wtl_sim_set_idle_mode((enum wtl_sim_idle_mode)how);
}

static inline void wtl_os_poll(bool memory, bool network)
{
  wtl_sim_poll(memory, network);
}

static inline double wtl_os_check_after(double seconds)
{
  (void)seconds;
  return INFINITY;
}

static inline bool wtl_os_has_seen_store(void)
{
  return wtl_sim_was_roused();
}

static inline void wtl_os_sleep_on(double seconds)
{
  wtl_sim_pause(seconds);
  wtl_sim_wake_up();
}

static inline void wtl_os_note_wait(uint32_t call, uintptr_t site)
{
  wtl_sim_waits(call, site);
}

static inline void wtl_os_near_access(size_t n)
{
  wtl_sim_near(n);
}

static inline void wtl_os_note_work(enum wtl_os_work what)
{
  wtl_sim_work((enum wtl_sim_work)what);
}

static inline void wtl_os_near_address(int pe)
{
  wtl_sim_has_address(pe);
}

static inline bool wtl_os_is_stored_directly(void)
{
  return wtl_sim_is_stored_directly();
}

static inline int wtl_os_cores_of_package(void)
{
  return wtl_sim_cores_of_package();
}

static inline int wtl_os_cores_of_clock(void)
{
  return wtl_sim_cores_of_clock();
}

/* About the time of a cache miss. */
#define WTL_OS_MISSED_S 100e-9

static inline void wtl_os_test_missed(void)
{
  wtl_sim_charge(WTL_OS_MISSED_S);
  wtl_sim_catch_up();
}

/* About the time that the handover of a message takes. */
#define WTL_OS_HANDOVER_S 100e-9

static inline bool wtl_os_network_is_held(void)
{
  if (!wtl_sim_has_message()) return false;
  wtl_sim_catch_up();
  wtl_sim_pause(WTL_OS_HANDOVER_S);
  return true;
}

extern bool wtl_os_only_agent_charged;

static inline void wtl_os_agent_wakes(bool does)
{
  wtl_os_only_agent_charged = does;
}

static inline void wtl_os_agent_woken(void)
{
  wtl_sim_wake_up();
}

#endif
