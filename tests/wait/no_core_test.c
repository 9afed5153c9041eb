/* no_core_test.c - tests the time without a core on files in the kernel's layout: the part in waits, kernels that do
 * not count, and programs that close the file. */
#include "wait/no_core.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "power/check.h"

static const double NS_PER_TICK = 0.5;
static int file = -1; /* in memory */

static void write_stat(const char *text)
{
  CHECK(ftruncate(file, 0) == 0 && pwrite(file, text, strlen(text), 0) == (ssize_t)strlen(text));
}

static void start(wtl_no_core *n, const char *text)
{
  char path[32];
  if (file < 0) file = memfd_create("schedstat", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  write_stat(text);
  wtl_no_core_start(n, path, NS_PER_TICK, false);
}

static void a_kernel_that_does_not_count_is_known_by_its_zeroes(void)
{
  uint64_t ran = 0, waited = 0;
  CHECK(wtl_no_core_parse("119668872 1572476979 60\n", &ran, &waited));
  CHECK(ran == 119668872 && waited == 1572476979);
  CHECK(wtl_no_core_parse("119668872 0 60\n", &ran, &waited) && waited == 0);
  CHECK(!wtl_no_core_parse("0 0 0\n", &ran, &waited)); /* a kernel that does not count */
  CHECK(!wtl_no_core_parse("", &ran, &waited));
  CHECK(!wtl_no_core_parse("a line of text\n", &ran, &waited));
}

/* All of it lies outside waits if no wait was long. */
static void time_without_a_core_lies_outside_short_waits(void)
{
  wtl_no_core n;
  start(&n, "1000 5000000 7\n");
  CHECK(n.source == WTL_NO_CORE_SCHEDSTAT);
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 0, 1e-12);
  write_stat("2000 8000000 9\n");
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 3e-3, 1e-12);
  CHECK_NEAR(wtl_no_core_in_waits(&n), 0, 1e-12);
  wtl_no_core_stop(&n);
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 3e-3, 1e-12); /* the figures stay */
}

/* PEs that share a core yield it in many short waits. The time of their yields is time in waits, but only as far as the
 * thread had no core: a yield returns at once if no other thread is ready. */
static void yields_of_short_waits_count_without_a_reading(void)
{
  wtl_no_core n;
  start(&n, "1000 1000000 7\n");
  for (int i = 0; i < 1000; i++) wtl_no_core_note_yields(&n, 4000); /* ticks: 2 us */
  write_stat("1000 4500000 7\n");
  CHECK_NEAR(wtl_no_core_in_waits(&n), 2e-3, 1e-12);
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 1.5e-3, 1e-12);
  wtl_no_core_note_wait(&n, 1000000); /* a long wait is read: 0.5 ms of the rest lie in it */
  CHECK_NEAR(wtl_no_core_in_waits(&n), 2.5e-3, 1e-12);
  wtl_no_core_note_yields(&n, 4000000); /* 2 ms, in which the core was away for 0.5 ms */
  write_stat("1000 5000000 7\n");
  CHECK_NEAR(wtl_no_core_in_waits(&n), 3e-3, 1e-12);
  wtl_no_core_stop(&n);
  CHECK_NEAR(wtl_no_core_in_waits(&n), 3e-3, 1e-12); /* the figures stay */
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 1e-3, 1e-12);
}

/* 2 ms before the wait, 3 ms in it: the wait is noted when it turns out to be long, 50 us after it began, and at its
 * end. */
static void time_before_a_wait_is_told_from_that_in_it(void)
{
  wtl_no_core n;
  start(&n, "1000 1000000 7\n");
  write_stat("1000 3000000 8\n");
  wtl_no_core_note_wait(&n, 100000); /* ticks: 50 us */
  write_stat("1000 6000000 9\n");
  wtl_no_core_note_wait(&n, 8000000);
  CHECK_NEAR(wtl_no_core_in_waits(&n), 3e-3 + 50e-6, 1e-12); /* at most the 50 us before the first reading are wrong */
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 2e-3 - 50e-6, 1e-12);
  wtl_no_core_stop(&n);
}

/* A wait that is found to be long at its end only, because the core was taken away in it. */
static void a_wait_in_which_the_core_was_taken_away_counts(void)
{
  wtl_no_core n;
  start(&n, "1000 1000000 7\n");
  write_stat("1000 5000000 8\n");
  wtl_no_core_note_wait(&n, 8200000); /* 4.1 ms */
  CHECK_NEAR(wtl_no_core_in_waits(&n), 4e-3, 1e-12);
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 0, 1e-12);
  wtl_no_core_stop(&n);
}

static void sleep_ms(long ms)
{
  struct timespec t = {.tv_nsec = ms * 1000000};
  nanosleep(&t, NULL);
}

/* Without figures of the kernel the thread's CPU time serves. A sleep is then time without a core. */
static void without_figures_of_the_kernel_the_cpu_time_serves(void)
{
  wtl_no_core n;
  const char *const unusable[] = {"0 0 0\n", ""};
  for (size_t i = 0; i < 2; i++) {
    start(&n, unusable[i]);
    CHECK(n.source == WTL_NO_CORE_CPU_TIME);
    sleep_ms(20);
    CHECK(wtl_no_core_outside_waits(&n) >= 19e-3);
    double before = wtl_no_core_outside_waits(&n);
    wtl_no_core_note_wait(&n, 1);
    sleep_ms(20);
    wtl_no_core_note_wait(&n, UINT32_MAX);
    CHECK(wtl_no_core_in_waits(&n) >= 19e-3);
    CHECK(wtl_no_core_outside_waits(&n) >= before - 1e-6);
    wtl_no_core_stop(&n);
  }
  wtl_no_core_start(&n, "/nonexistent", NS_PER_TICK, false);
  CHECK(n.source == WTL_NO_CORE_CPU_TIME);
}

/* A program may close all descriptors and open a file of its own under the same number. */
static void a_file_of_the_program_is_not_closed(void)
{
  wtl_no_core n;
  start(&n, "1000 1000000 7\n");
  write_stat("1000 2000000 7\n");
  wtl_no_core_note_wait(&n, 1);
  close(n.file);
  CHECK_NEAR(wtl_no_core_outside_waits(&n), 1e-3, 1e-6);
  FILE *own = fopen("/dev/null", "r");
  CHECK(fileno(own) == n.file);
  wtl_no_core_stop(&n);
  CHECK(fgetc(own) == EOF && !ferror(own)); /* it is still open */
  fclose(own);
}

static void among_processes_that_yield_only_long_waits_are_read(void)
{
  wtl_no_core alone, among;
  wtl_no_core_start(&alone, NULL, NS_PER_TICK, false);
  wtl_no_core_start(&among, NULL, NS_PER_TICK, true);
  CHECK(among.long_ticks > alone.long_ticks && alone.long_ticks > 0);
  wtl_no_core_stop(&alone);
  wtl_no_core_stop(&among);
}

/* The kernel's own file. */
static void the_kernels_own_file_can_be_read(void)
{
  wtl_no_core n;
  wtl_no_core_start(&n, NULL, NS_PER_TICK, false);
  CHECK(n.source == WTL_NO_CORE_SCHEDSTAT || n.source == WTL_NO_CORE_CPU_TIME);
  CHECK(wtl_no_core_outside_waits(&n) >= 0);
  wtl_no_core_stop(&n);
}

TESTS(TEST(a_kernel_that_does_not_count_is_known_by_its_zeroes), TEST(time_without_a_core_lies_outside_short_waits),
      TEST(time_before_a_wait_is_told_from_that_in_it), TEST(a_wait_in_which_the_core_was_taken_away_counts),
      TEST(yields_of_short_waits_count_without_a_reading), TEST(without_figures_of_the_kernel_the_cpu_time_serves),
      TEST(a_file_of_the_program_is_not_closed), TEST(among_processes_that_yield_only_long_waits_are_read),
      TEST(the_kernels_own_file_can_be_read))
