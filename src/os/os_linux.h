/* os_linux.h - implements the port to Linux: the functions that must be inline. */
#ifndef WTL_OS_OS_LINUX_H
#define WTL_OS_OS_LINUX_H

#include <time.h>

enum { WTL_OS_IS_SIMULATED = 0 };
#ifndef WTL_OS_OF_PE /* os_threads.h defines it */
enum { WTL_OS_PES_ARE_THREADS = 0 };
#define WTL_OS_OF_PE
#define WTL_OS_CPU_CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

#ifdef WTL_FRONT_OUTSIDE
#define WTL_OS_THREAD_LOCAL(type, name, part)                                                                          \
  extern _Thread_local type name##_seen __attribute__((tls_model("initial-exec")));                                    \
  static inline type *name##_here(void)                                                                                \
  {                                                                                                                    \
    return &name##_seen;                                                                                               \
  }
#else
#define WTL_OS_THREAD_LOCAL(type, name, part)                                                                          \
  extern _Thread_local type name __attribute__((tls_model("initial-exec"), visibility("hidden")));                     \
  static inline type *name##_here(void)                                                                                \
  {                                                                                                                    \
    return &name;                                                                                                      \
  }
#endif
#define WTL_OS_DEFINE_THREAD_LOCAL(type, name) _Thread_local type name
#define WTL_OS_SHOW_THREAD_LOCAL(type, name)                                                                           \
  extern _Thread_local type name##_seen __attribute__((alias(#name), tls_model("initial-exec"), visibility("default")))

extern bool wtl_clock_has_tsc;

static inline uint64_t wtl_clock_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t wtl_ticks(void)
{
#if defined(__x86_64__)
  if (__builtin_expect(wtl_clock_has_tsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return wtl_clock_ns();
}

static inline double wtl_os_cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(WTL_OS_CPU_CLOCK, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline bool wtl_os_is_thread_of_pe(void)
{
  return true;
}

static inline enum wtl_os_idle_mode wtl_os_set_idle_mode(enum wtl_os_idle_mode how)
{
  return how;
}

static inline void wtl_os_poll(bool memory, bool network)
{
  (void)memory, (void)network;
}

static inline double wtl_os_check_after(double seconds)
{
  return seconds;
}

static inline bool wtl_os_has_seen_store(void)
{
  return false;
}

static inline void wtl_os_sleep_on(double seconds)
{
  (void)seconds;
}

static inline void wtl_os_note_wait(uint32_t call, uintptr_t site)
{
  (void)call, (void)site;
}

static inline void wtl_os_near_access(size_t n)
{
  (void)n;
}

static inline void wtl_os_note_work(enum wtl_os_work what)
{
  (void)what;
}

static inline void wtl_os_near_address(int pe)
{
  (void)pe;
}

static inline bool wtl_os_is_stored_directly(void)
{
  return false;
}

static inline int wtl_os_cores_of_clock(void)
{
  return 1;
}

static inline int wtl_os_cores_of_package(void)
{
  return 1;
}

static inline void wtl_os_test_missed(void) {}

static inline void wtl_os_agent_wakes(bool does)
{
  (void)does;
}

static inline void wtl_os_agent_woken(void) {}

static inline bool wtl_os_network_is_held(void)
{
  return false;
}

#endif
