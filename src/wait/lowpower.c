/* lowpower.c - finds the low-power wait instructions of this machine, and runs them. */
#include "wait/lowpower.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "os/floats.h"
#include "os/os.h"
#include "wait/lowpower_ops.h"

static const char *const names[WTL_LOWPOWER_KINDS] = {"none", "tpause", "umwait", "mwaitx", "wfe"};
/* Values of the setting: auto, then the kinds in the order of the enum. */
enum { SETTING_AUTO, SETTING_FIRST_KIND };

static const char *lacks[WTL_LOWPOWER_KINDS];
#if defined(__aarch64__)
static bool has_wfet;
#endif

const char *wtl_lowpower_name(enum wtl_lowpower kind)
{
  return names[kind];
}

void wtl_lowpower_arm(enum wtl_lowpower kind, const volatile void *line)
{
  switch (kind) {
#if defined(__x86_64__)
  case WTL_LOWPOWER_UMWAIT: wtl_op_umonitor(line); break;
  case WTL_LOWPOWER_MWAITX: wtl_op_monitorx(line); break;
#elif defined(__aarch64__)
  case WTL_LOWPOWER_WFE: wtl_op_ldxr(line); break;
#endif
  default: break;
  }
}

#if defined(__x86_64__)

static void mwaitx_until(uint64_t until)
{
  uint64_t now = wtl_ticks();
  if (now < until) wtl_op_mwaitx(until - now < UINT32_MAX ? (uint32_t)(until - now) : UINT32_MAX);
}

#elif defined(__aarch64__)

/* Ticks are nanoseconds on aarch64. WFET takes a value of the virtual counter. */
static void wfe_until(uint64_t until)
{
  uint64_t now = wtl_ticks();
  if (now >= until) return;
  if (!has_wfet)
    wtl_op_wfe();
  else
    wtl_op_wfet(wtl_op_counter() + (uint64_t)((double)(until - now) * 1e-9 * (double)wtl_op_counter_hz()));
}

#endif

bool wtl_lowpower_wait(enum wtl_lowpower kind, uint64_t until)
{
  switch (kind) {
#if defined(__x86_64__)
  case WTL_LOWPOWER_TPAUSE: wtl_op_tpause(until); return true;
  case WTL_LOWPOWER_UMWAIT: wtl_op_umwait(until); return true;
  case WTL_LOWPOWER_MWAITX: mwaitx_until(until); return true;
#elif defined(__aarch64__)
  case WTL_LOWPOWER_WFE: wfe_until(until); return true;
#endif
  default: return false;
  }
}

/* ---- the instructions of this machine ---- */

static _Thread_local sigjmp_buf *probing;

static void on_illegal(int number)
{
  if (probing) siglongjmp(*probing, 1);
  signal(number, SIG_DFL); /* another thread caused it: with the default action, its instruction fails again */
}

/* Runs the instructions of the kind once, without waiting. Returns false if one is illegal. */
static bool runs(enum wtl_lowpower kind)
{
  struct sigaction ours = {.sa_handler = on_illegal}, before;
  sigset_t only, mask;
  sigjmp_buf back;
  volatile bool good = false;
  uint64_t line = 0;
  sigemptyset(&ours.sa_mask);
  sigemptyset(&only);
  sigaddset(&only, SIGILL);
  pthread_sigmask(SIG_UNBLOCK, &only, &mask);
  sigaction(SIGILL, &ours, &before);
  if (sigsetjmp(back, 1) == 0) {
    probing = &back;
    wtl_lowpower_arm(kind, &line);
    wtl_lowpower_wait(kind, wtl_ticks() + 1);
    good = true;
  }
  probing = NULL;
  sigaction(SIGILL, &before, NULL);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return good;
}

#if defined(__x86_64__)

static bool cpuid_waitpkg(void)
{
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & (1u << 5));
}

static bool cpuid_monitorx(void)
{
  unsigned a, b, c, d;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & (1u << 29));
}

static const char *why_not(enum wtl_lowpower kind, bool offered, const char *not_offered)
{
  if (!offered) return not_offered;
  if (!wtl_clock_has_tsc) return "the CPU's time-stamp counter is not constant, so it cannot wait until a time";
  return runs(kind) ? NULL : "the CPU says it has it, but refuses it (a virtual machine's setting)";
}

static void examine(void)
{
  bool waitpkg = cpuid_waitpkg();
  static const char *const no_waitpkg = "this CPU does not have it (CPUID WAITPKG)";
  lacks[WTL_LOWPOWER_TPAUSE] = why_not(WTL_LOWPOWER_TPAUSE, waitpkg, no_waitpkg);
  lacks[WTL_LOWPOWER_UMWAIT] = why_not(WTL_LOWPOWER_UMWAIT, waitpkg, no_waitpkg);
  lacks[WTL_LOWPOWER_MWAITX] =
      why_not(WTL_LOWPOWER_MWAITX, cpuid_monitorx(), "this CPU does not have it (CPUID MONITORX)");
  lacks[WTL_LOWPOWER_WFE] = "it is an instruction of Arm CPUs";
}

#else

static void examine(void)
{
  for (int kind = WTL_LOWPOWER_TPAUSE; kind <= WTL_LOWPOWER_MWAITX; kind++)
    lacks[kind] = "it is an instruction of x86 CPUs";
#if defined(__aarch64__)
  enum { EVENT_STREAM = 1 << 2 };              /* HWCAP_EVTSTRM */
  static const unsigned long wfxt = 1ul << 31; /* HWCAP2_WFXT */
  has_wfet = getauxval(AT_HWCAP2) & wfxt;
  if (!has_wfet && !(getauxval(AT_HWCAP) & EVENT_STREAM))
    lacks[WTL_LOWPOWER_WFE] = "without WFET and without the kernel's event stream it might wait for ever";
  else if (!runs(WTL_LOWPOWER_WFE))
    lacks[WTL_LOWPOWER_WFE] = "the CPU refuses it (a virtual machine's setting)";
#else
  lacks[WTL_LOWPOWER_WFE] = "it is an instruction of Arm CPUs";
#endif
}

#endif

const char *wtl_lowpower_lacks(enum wtl_lowpower kind)
{
  WTL_FLOATS_APART;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, examine);
  return lacks[kind];
}

bool wtl_lowpower_choose(long long setting, enum wtl_lowpower *kind, char *why, size_t size)
{
  /* Without TPAUSE: a CPU that has it also has UMWAIT, which is better. */
  static const enum wtl_lowpower best_first[] = {WTL_LOWPOWER_UMWAIT, WTL_LOWPOWER_MWAITX, WTL_LOWPOWER_WFE};
  *kind = WTL_LOWPOWER_NONE;
  if (setting == SETTING_AUTO) {
    for (size_t i = 0; i < sizeof best_first / sizeof best_first[0] && *kind == WTL_LOWPOWER_NONE; i++)
      if (!wtl_lowpower_lacks(best_first[i])) *kind = best_first[i];
    return true;
  }
  enum wtl_lowpower wanted = (enum wtl_lowpower)(setting - SETTING_FIRST_KIND);
  const char *lack = wtl_lowpower_lacks(wanted);
  if (!lack)
    *kind = wanted;
  else
    snprintf(why, size, "WATTLE_LOWPOWER=%s: %s; auto chooses one that the CPU has, none uses no instruction",
             names[wanted], lack);
  return !lack;
}
