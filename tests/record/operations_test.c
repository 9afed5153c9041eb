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

enum { EVERY = -1 };
static int fault; /* errno of opening the counter number `faulty`, or EVERY counter */
static int faulty, opened;
static int number_of[64]; /* of the counter with this descriptor */
static bool is_starved, is_old;
static struct perf_event_attr asked[16];

static int open_made_up(const struct perf_event_attr *event)
{
  asked[opened % 16] = *event;
  if (is_old && event->inherit_thread) return -EINVAL;
  if (fault && (opened == faulty || faulty == EVERY)) return opened++, -fault;
  opened++;
  int fd = dup(STDERR_FILENO);
  number_of[fd % 64] = opened - 1;
  return fd;
}

static bool read_made_up(int fd, uint64_t *count)
{
  static const uint64_t counts[] = {1000, 100, 400, 200, 2500, 50, 5};
  *count = counts[number_of[fd % 64]];
  return !is_starved;
}

static const wtl_operations_sys made_up = {open_made_up, read_made_up};

static const char *told(int error, int at)
{
  static char text[1024];
  wtl_operations o;
  FILE *f = fmemopen(text, sizeof text, "w");
  fault = error;
  faulty = at;
  opened = 0;
  wtl_operations_start(&o, &made_up);
  wtl_operations_write(&o, f);
  fclose(f);
  CHECK(o.fd[0] == -1 && o.fd[WTL_N_OPERATIONS - 1] == -1);
  return text;
}

static void all_kinds_are_counted_in_user_mode_without_forked_processes(void)
{
  CHECK_TEXT(told(0, 0), "{\"instructions\":1000,\"branches\":100,\"loads\":400,\"stores\":200,\"cycles\":2500,"
                         "\"cache_references\":50,\"cache_misses\":5,\"why\":\"\"}");
  CHECK(opened == WTL_N_OPERATIONS);
  for (int i = 0; i < WTL_N_OPERATIONS; i++)
    CHECK(asked[i].exclude_kernel && asked[i].exclude_hv && asked[i].inherit && asked[i].inherit_thread);
}

static void a_counter_that_cannot_be_had_is_named_and_the_others_count(void)
{
  static const struct {
    int error, at;
    const char *counted, *missing, *said;
  } cases[] = {
      {EACCES, 0, "\"stores\":200", "\"instructions\":null",
       "\"why\":\"counting instructions is not permitted here; wattle doctor says how to grant it\""},
      {ENOENT, 6, "\"instructions\":1000", "\"cache_misses\":null",
       "\"why\":\"this processor, or its virtual machine, has no counter of cache misses\""},
      {EMFILE, 2, "\"cycles\":2500", "\"loads\":null", "\"why\":\"loads cannot be counted: Too many open files\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = told(cases[i].error, cases[i].at);
    CHECK_CONTAINS(text, cases[i].counted);
    CHECK_CONTAINS(text, cases[i].missing);
    CHECK_CONTAINS(text, cases[i].said);
  }
}

static void one_reason_for_all_counters_is_given_once(void)
{
  const char *text = told(ENOENT, EVERY);
  CHECK_CONTAINS(text, "\"instructions\":null");
  CHECK_CONTAINS(text, "\"cache_misses\":null");
  CHECK_CONTAINS(text, "\"why\":\"this processor, or its virtual machine, has no counter of instructions, branches, "
                       "loads, stores, cycles, cache references, cache misses\"}");
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
  const char *text = told(0, 0);
  CHECK_CONTAINS(text, "the counter of instructions, branches, loads, ");
  CHECK_CONTAINS(text, "\"cycles\":null");
  is_starved = false;
}

static void a_meter_that_never_started_is_not_stopped(void)
{
  wtl_operations o = {0};
  CHECK(dup2(STDERR_FILENO, STDIN_FILENO) == STDIN_FILENO);
  wtl_operations_stop(&o);
  CHECK(fcntl(STDIN_FILENO, F_GETFD) != -1);
}

TESTS(TEST(all_kinds_are_counted_in_user_mode_without_forked_processes),
      TEST(a_counter_that_cannot_be_had_is_named_and_the_others_count), TEST(one_reason_for_all_counters_is_given_once),
      TEST(an_old_kernel_counts_without_the_newer_flag), TEST(a_counter_that_never_ran_counts_for_nothing),
      TEST(a_meter_that_never_started_is_not_stopped))
