/*
 * operations_test.c - tests counters of a made-up processor: the counts, and the message when a counter is
 * unavailable.
 */
#include "power/check.h"
#include "record/operations.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

static int fault; /* errno of opening the counter number `faulty` */
static int faulty, opened;
static bool is_starved, is_old;
static struct perf_event_attr asked[8];

static int open_made_up(const struct perf_event_attr *event)
{
  asked[opened % 8] = *event;
  if (is_old && event->inherit_thread) return -EINVAL;
  if (fault && opened == faulty) return -fault;
  opened++;
  return dup(STDERR_FILENO);
}

static bool read_made_up(int fd, uint64_t *count)
{
  static const uint64_t counts[] = {1000, 100, 400, 200};
  static int turn;
  (void)fd;
  *count = counts[turn++ % 4];
  return !is_starved;
}

static const wtl_operations_sys made_up = {open_made_up, read_made_up};

static const char *told(int error, int at)
{
  static char text[512];
  wtl_operations o;
  FILE *f = fmemopen(text, sizeof text, "w");
  fault = error;
  faulty = at;
  opened = 0;
  wtl_operations_start(&o, &made_up);
  wtl_operations_write(&o, f);
  fclose(f);
  CHECK(!o.counts && o.fd[0] == -1 && o.fd[3] == -1);
  return text;
}

static void four_kinds_are_counted_in_user_mode_without_what_is_forked(void)
{
  CHECK_TEXT(told(0, 0), "{\"instructions\":1000,\"branches\":100,\"loads\":400,\"stores\":200,\"why\":\"\"}");
  CHECK(opened == 4);
  for (int i = 0; i < 4; i++)
    CHECK(asked[i].exclude_kernel && asked[i].exclude_hv && asked[i].inherit && asked[i].inherit_thread);
}

static void a_counter_that_cannot_be_had_is_named(void)
{
  static const struct {
    int error, at;
    const char *said;
  } cases[] = {{EACCES, 0, "counting instructions is not permitted here; wattle doctor says how to grant it"},
               {ENOENT, 3, "this processor, or its virtual machine, has no counter of stores"},
               {EMFILE, 2, "loads cannot be counted: Too many open files"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = told(cases[i].error, cases[i].at);
    CHECK_CONTAINS(text, cases[i].said);
    CHECK_CONTAINS(text, "\"stores\":null");
  }
}

static void an_old_kernel_counts_without_the_newer_flag(void)
{
  is_old = true;
  CHECK_CONTAINS(told(0, 0), "\"loads\":400");
  CHECK(!asked[3].inherit_thread && asked[3].inherit);
  is_old = false;
}

static void a_counter_that_never_ran_counts_for_nothing(void)
{
  is_starved = true;
  CHECK_CONTAINS(told(0, 0), "the counter of instructions never ran");
  is_starved = false;
}

static void what_never_started_is_not_stopped(void)
{
  wtl_operations o = {0};
  CHECK(dup2(STDERR_FILENO, STDIN_FILENO) == STDIN_FILENO);
  wtl_operations_stop(&o);
  CHECK(fcntl(STDIN_FILENO, F_GETFD) != -1);
}

TESTS(TEST(four_kinds_are_counted_in_user_mode_without_what_is_forked), TEST(a_counter_that_cannot_be_had_is_named),
      TEST(an_old_kernel_counts_without_the_newer_flag), TEST(a_counter_that_never_ran_counts_for_nothing),
      TEST(what_never_started_is_not_stopped))
