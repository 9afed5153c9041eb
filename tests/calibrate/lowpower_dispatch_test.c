/*
 * The dispatch, forced through every kind of this kind of CPU, on a CPU that seems to have all of them: the source is
 * compiled in with instructions that note what they were given, or that are illegal, as on a machine that shows what it
 * then refuses.
 */
#include <stdint.h>

#include "os/os.h"
#include "power/check.h"

#if defined(__x86_64__)
#include <cpuid.h>

static const volatile void *armed;
static const char *ran;
static uint64_t given;
static int illegal;

static void note(const char *what, const volatile void *line, uint64_t until)
{
  if (illegal) __asm__ __volatile__("ud2");
  ran = what;
  given = until;
  if (line) armed = line;
}

#define WTL_WAIT_LOWPOWER_OPS_H
#define wtl_op_umonitor(line) note("umonitor", line, 0)
#define wtl_op_umwait(until) note("umwait", NULL, until)
#define wtl_op_tpause(until) note("tpause", NULL, until)
#define wtl_op_monitorx(line) note("monitorx", line, 0)
#define wtl_op_mwaitx(ticks) note("mwaitx", NULL, ticks)

static int has_everything(unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
  *a = *b = *c = *d = ~0u;
  return 1;
}
#define __get_cpuid_count(leaf, sub, a, b, c, d) has_everything(a, b, c, d)
#define __get_cpuid(leaf, a, b, c, d) has_everything(a, b, c, d)

#include "../../src/wait/lowpower.c"

static bool tsc_is_there(void)
{
  return wtl_clock_has_tsc;
}

static void each_kind_runs_its_own_instructions(void)
{
  static const struct {
    enum wtl_lowpower kind;
    const char *arm, *wait;
  } kinds[] = {{WTL_LOWPOWER_UMWAIT, "umonitor", "umwait"},
               {WTL_LOWPOWER_TPAUSE, "nothing", "tpause"},
               {WTL_LOWPOWER_MWAITX, "monitorx", "mwaitx"}};
  int line;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    ran = "nothing";
    wtl_lowpower_arm(kinds[i].kind, &line);
    CHECK_TEXT(ran, kinds[i].arm);
    CHECK(kinds[i].kind == WTL_LOWPOWER_TPAUSE || armed == &line);
    CHECK(wtl_lowpower_wait(kinds[i].kind, UINT64_MAX));
    CHECK_TEXT(ran, kinds[i].wait);
  }
}

static void umwait_and_tpause_are_given_a_time_and_mwaitx_a_duration(void)
{
  uint64_t now;
  now = wtl_ticks();
  wtl_lowpower_wait(WTL_LOWPOWER_UMWAIT, now + 12345);
  CHECK(given == now + 12345);
  wtl_lowpower_wait(WTL_LOWPOWER_TPAUSE, now + 54321);
  CHECK(given == now + 54321);
  now = wtl_ticks();
  wtl_lowpower_wait(WTL_LOWPOWER_MWAITX, now + 2000000000);
  CHECK(given > 0 && given <= 2000000000);
}

static void mwaitx_waits_for_no_more_than_it_can_count_and_not_for_the_past(void)
{
  wtl_lowpower_wait(WTL_LOWPOWER_MWAITX, UINT64_MAX);
  CHECK(given == UINT32_MAX);
  ran = "nothing";
  CHECK(wtl_lowpower_wait(WTL_LOWPOWER_MWAITX, 0));
  CHECK_TEXT(ran, "nothing");
}

/* Anew: the examination that counts is made once a process. */
static void examine_again(int refused_ones)
{
  wtl_lowpower_lacks(WTL_LOWPOWER_NONE);
  illegal = refused_ones;
  examine();
}

static void an_instruction_that_is_refused_is_lacking_not_fatal(void)
{
  char why[256] = "";
  enum wtl_lowpower kind;
  struct sigaction after;
  if (!tsc_is_there()) return;
  examine_again(1);
  CHECK(wtl_lowpower_choose(SETTING_AUTO, &kind, why, sizeof why) && kind == WTL_LOWPOWER_NONE);
  for (int k = WTL_LOWPOWER_TPAUSE; k <= WTL_LOWPOWER_MWAITX; k++)
    CHECK(!wtl_lowpower_choose(SETTING_FIRST_KIND + k, &kind, why, sizeof why) && kind == WTL_LOWPOWER_NONE);
  CHECK_CONTAINS(why, "refuses it");
  CHECK(sigaction(SIGILL, NULL, &after) == 0 && after.sa_handler == SIG_DFL);
}

static void auto_takes_umwait_first(void)
{
  char why[256];
  enum wtl_lowpower kind;
  if (!tsc_is_there()) return;
  examine_again(0);
  CHECK(wtl_lowpower_choose(SETTING_AUTO, &kind, why, sizeof why) && kind == WTL_LOWPOWER_UMWAIT);
}

#else
static void each_kind_runs_its_own_instructions(void) {}
static void umwait_and_tpause_are_given_a_time_and_mwaitx_a_duration(void) {}
static void mwaitx_waits_for_no_more_than_it_can_count_and_not_for_the_past(void) {}
static void an_instruction_that_is_refused_is_lacking_not_fatal(void) {}
static void auto_takes_umwait_first(void) {}
#endif

TESTS(TEST(each_kind_runs_its_own_instructions), TEST(umwait_and_tpause_are_given_a_time_and_mwaitx_a_duration),
      TEST(mwaitx_waits_for_no_more_than_it_can_count_and_not_for_the_past),
      TEST(an_instruction_that_is_refused_is_lacking_not_fatal), TEST(auto_takes_umwait_first))
