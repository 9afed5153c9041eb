/* notice_test.c - tests the notice of sleepers in one process: when it is posted, when it is withdrawn, and by whom. */
#include "wait/sleep_notice.h"

#include <string.h>

#include "os/os.h"
#include "power/check.h"

static wtl_sleep_notice notice;

static bool sleepers;
static int looks;

static bool has_sleepers(void *of)
{
  CHECK(of == &notice);
  CHECK(wtl_notice_is_up(&notice)); /* writers find it while another one looks */
  looks++;
  return sleepers;
}

/* A PE posts a notice of its own while another one withdraws an older one. */
static bool posts_meanwhile(void *of)
{
  (void)of;
  wtl_notice_post(&notice, 0);
  return false;
}

static void start(bool joins)
{
  memset(&notice, 0, sizeof notice);
  sleepers = false;
  looks = 0;
  if (joins) wtl_notice_join(&notice);
}

static uint64_t state(void)
{
  return notice.word & WTL_NOTICE_MASK;
}

static void there_is_a_notice_at_first(void)
{
  start(true);
  CHECK(wtl_notice_is_up(&notice));
  CHECK(state() == WTL_NOTICE_POSTED);
}

static void a_notice_without_sleepers_is_withdrawn_and_posted_anew(void)
{
  start(true);
  wtl_notice_withdraw(&notice, 0, has_sleepers, &notice);
  CHECK(!wtl_notice_is_up(&notice));
  wtl_notice_post(&notice, 0);
  CHECK(wtl_notice_is_up(&notice));
  CHECK(state() == WTL_NOTICE_POSTED);
}

static void a_notice_with_sleepers_stays(void)
{
  start(true);
  sleepers = true;
  wtl_notice_withdraw(&notice, 0, has_sleepers, &notice);
  CHECK(looks == 1);
  CHECK(state() == WTL_NOTICE_POSTED);
}

static void a_notice_stays_for_a_while_after_a_sleep(void)
{
  start(true);
  wtl_notice_post(&notice, UINT64_MAX / 2);
  wtl_notice_withdraw(&notice, UINT64_MAX / 2, has_sleepers, &notice);
  CHECK(looks == 0);
  CHECK(state() == WTL_NOTICE_POSTED);
}

static void a_withdrawal_removes_no_later_notice(void)
{
  start(true);
  wtl_notice_withdraw(&notice, 0, posts_meanwhile, NULL);
  CHECK(state() == WTL_NOTICE_POSTED);
}

static void a_notice_is_permanent_if_a_process_cannot_take_part(void)
{
  start(true);
  notice.is_permanent = 1;
  wtl_notice_withdraw(&notice, 0, has_sleepers, &notice);
  CHECK(looks == 0);
  CHECK(state() == WTL_NOTICE_POSTED);
}

TESTS(TEST(there_is_a_notice_at_first), TEST(a_notice_without_sleepers_is_withdrawn_and_posted_anew),
      TEST(a_notice_with_sleepers_stays), TEST(a_notice_stays_for_a_while_after_a_sleep),
      TEST(a_withdrawal_removes_no_later_notice), TEST(a_notice_is_permanent_if_a_process_cannot_take_part))
