/* The low-power wait on this CPU, with every kind forced: had and used, or refused with its reason; never SIGILL. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/settings.h"
#include "calibrate/setting.h"
#include "os/os.h"
#include "power/check.h"
#include "wait/lowpower.h"

static char why[256];

static wtl_settings with(const char *value)
{
  return with_setting("WATTLE_LOWPOWER", value);
}

static bool choose(const char *value, enum wtl_lowpower *kind)
{
  wtl_settings s = with(value);
  why[0] = '\0';
  return wtl_lowpower_choose(s.lowpower.number, kind, why, sizeof why);
}

static void the_settings_words_are_the_kinds(void)
{
  for (int kind = 0; kind < WTL_LOWPOWER_KINDS; kind++) {
    wtl_settings s = with(wtl_lowpower_name((enum wtl_lowpower)kind));
    CHECK(s.lowpower.number == kind + 1);
  }
  CHECK(with("auto").lowpower.number == 0);
}

static void a_forced_kind_is_had_or_refused_with_its_reason(void)
{
  for (int k = WTL_LOWPOWER_TPAUSE; k < WTL_LOWPOWER_KINDS; k++) {
    enum wtl_lowpower kind;
    const char *lack = wtl_lowpower_lacks((enum wtl_lowpower)k), *name = wtl_lowpower_name((enum wtl_lowpower)k);
    CHECK(choose(name, &kind) == (lack == NULL));
    CHECK(kind == (lack ? WTL_LOWPOWER_NONE : (enum wtl_lowpower)k));
    if (!lack) continue;
    printf("     %s\n", why);
    CHECK_CONTAINS(why, "WATTLE_LOWPOWER=");
    CHECK_CONTAINS(why, name);
    CHECK_CONTAINS(why, lack);
    CHECK_CONTAINS(why, "auto");
  }
}

static void auto_and_none_are_never_refused(void)
{
  enum wtl_lowpower kind;
  CHECK(choose("none", &kind) && kind == WTL_LOWPOWER_NONE);
  CHECK(choose("auto", &kind));
  CHECK(kind == WTL_LOWPOWER_NONE || !wtl_lowpower_lacks(kind));
}

static void without_an_instruction_nothing_is_waited_for(void)
{
  int line = 0;
  wtl_lowpower_arm(WTL_LOWPOWER_NONE, &line);
  CHECK(!wtl_lowpower_wait(WTL_LOWPOWER_NONE, UINT64_MAX));
}

/* A wait that ends early is armed anew, so each kind gets to `until`, and past it comes back. */
static void a_wait_ends_when_its_time_has_come(void)
{
  double per_tick = wtl_clock_ns_per_tick();
  for (int k = WTL_LOWPOWER_TPAUSE; k < WTL_LOWPOWER_KINDS; k++) {
    enum wtl_lowpower kind = (enum wtl_lowpower)k;
    _Alignas(64) int line = 0;
    if (wtl_lowpower_lacks(kind)) continue;
    uint64_t until = wtl_ticks() + (uint64_t)(1e6 / per_tick);
    while (wtl_ticks() < until) {
      wtl_lowpower_arm(kind, &line);
      CHECK(wtl_lowpower_wait(kind, until));
    }
    CHECK(wtl_lowpower_wait(kind, 0)); /* a time that has passed */
  }
}

static _Alignas(64) _Atomic int word;
static enum wtl_lowpower waiting_by;

static void *wait_for_the_word(void *arg)
{
  (void)arg;
  while (atomic_load(&word) == 0) {
    wtl_lowpower_arm(waiting_by, &word);
    if (atomic_load(&word) == 0) wtl_lowpower_wait(waiting_by, wtl_ticks() + 1000000);
  }
  return NULL;
}

static void a_store_is_seen_through_every_kind(void)
{
  for (int k = WTL_LOWPOWER_TPAUSE; k < WTL_LOWPOWER_KINDS; k++) {
    pthread_t thread;
    waiting_by = (enum wtl_lowpower)k;
    if (wtl_lowpower_lacks(waiting_by)) continue;
    atomic_store(&word, 0);
    pthread_create(&thread, NULL, wait_for_the_word, NULL);
    atomic_store(&word, 1);
    pthread_join(thread, NULL);
  }
}

TESTS(TEST(the_settings_words_are_the_kinds), TEST(a_forced_kind_is_had_or_refused_with_its_reason),
      TEST(auto_and_none_are_never_refused), TEST(without_an_instruction_nothing_is_waited_for),
      TEST(a_wait_ends_when_its_time_has_come), TEST(a_store_is_seen_through_every_kind))
