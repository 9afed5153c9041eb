/* The clock, JSON and messages. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "os/os.h"
#include "power/check.h"

static void ticks_never_go_back(void)
{
  uint64_t last_tick = wtl_ticks(), last_ns = wtl_clock_ns();
  for (int i = 0; i < 200000; i++) {
    uint64_t tick = wtl_ticks(), ns = wtl_clock_ns();
    CHECK(tick >= last_tick && ns >= last_ns);
    last_tick = tick;
    last_ns = ns;
  }
}

/* Both clocks over one interval, each reading of ticks between two of the other. The bounds hold also if a
 * reading is preempted. */
static void ticks_and_nanoseconds_agree(void)
{
  double rate = wtl_clock_ns_per_tick();
  uint64_t a0 = wtl_clock_ns(), t0 = wtl_ticks(), a1 = wtl_clock_ns();
  usleep(20000);
  uint64_t b0 = wtl_clock_ns(), t1 = wtl_ticks(), b1 = wtl_clock_ns();
  double ns = (double)(t1 - t0) * rate;
  CHECK(rate > 0);
  CHECK(ns > (double)(b0 - a1) * 0.99 && ns < (double)(b1 - a0) * 1.01);
}

static void *ask_rate(void *arg)
{
  (void)arg;
  return wtl_clock_ns_per_tick() > 0 ? (void *)1 : NULL;
}

static void any_thread_may_ask_for_its_rate(void)
{
  pthread_t threads[8];
  void *good;
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, ask_rate, NULL);
  for (int i = 0; i < 8; i++) CHECK(pthread_join(threads[i], &good) == 0 && good);
}

static char *text_of(void (*write_it)(FILE *, const void *), const void *what)
{
  static char text[4096];
  FILE *f = fmemopen(text, sizeof text, "w");
  memset(text, 0, sizeof text);
  write_it(f, what);
  fclose(f);
  return text;
}

static void write_text(FILE *f, const void *what)
{
  wtl_json_text(f, what);
}

static void write_number(FILE *f, const void *what)
{
  wtl_json_number(f, *(const double *)what);
}

static const char *number(double value)
{
  return text_of(write_number, &value);
}

static void text_is_escaped(void)
{
  CHECK_TEXT(text_of(write_text, "plain"), "\"plain\"");
  CHECK_TEXT(text_of(write_text, ""), "\"\"");
  CHECK_TEXT(text_of(write_text, "a\"b\\c"), "\"a\\\"b\\\\c\"");
  CHECK_TEXT(text_of(write_text, "\n\t\x01\x1f"), "\"\\u000a\\u0009\\u0001\\u001f\"");
  CHECK_TEXT(text_of(write_text, "\xc3\xa4"), "\"\xc3\xa4\"");
}

/* Names of files and hosts are bytes, JSON is UTF-8. */
static void bytes_that_are_no_characters_are_replaced(void)
{
  static const char *const good[] = {"\xc2\x80",     "\xdf\xbf",         "\xe0\xa0\x80",
                                     "\xed\x9f\xbf", "\xee\x80\x80",     "\xef\xbf\xbf",
                                     "\xe2\x82\xac", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  static const struct {
    const char *text, *json;
  } bad[] = {
      {"a\xe4z", "\"a\\ufffdz\""},                              /* Latin-1 */
      {"\x80", "\"\\ufffd\""},                                  /* no first byte */
      {"\xc3", "\"\\ufffd\""},                                  /* cut */
      {"\xe2\x82", "\"\\ufffd\\ufffd\""},                       /* cut */
      {"\xf0\x9f\x98\"", "\"\\ufffd\\ufffd\\ufffd\\\"\""},      /* cut by a quote */
      {"\xc0\xaf", "\"\\ufffd\\ufffd\""},                       /* longer than needed */
      {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\""},            /* longer than needed */
      {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* half a surrogate pair */
      {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond the last */
      {"\xff\xfe", "\"\\ufffd\\ufffd\""},
  };
  char want[16];
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    snprintf(want, sizeof want, "\"%s\"", good[i]);
    CHECK_TEXT(text_of(write_text, good[i]), want);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_TEXT(text_of(write_text, bad[i].text), bad[i].json);
}

static void nan_is_null(void)
{
  CHECK_TEXT(number(NAN), "null");
  CHECK_TEXT(number(INFINITY), "null");
  CHECK_TEXT(number(-INFINITY), "null");
  CHECK_TEXT(number(0), "0");
}

static void numbers_keep_nine_digits(void)
{
  CHECK_TEXT(number(123456789012.0), "123456789012");
  CHECK_TEXT(number(-3), "-3");
  CHECK_TEXT(number(0.25), "0.25");
  CHECK_TEXT(number(1e300), "1e+300");
  for (double value = 1.23456789e-12; value < 1e12; value *= 7.3)
    CHECK_NEAR(check_number(number(value)), value, value * 1e-8);
}

static void write_form(FILE *f, const void *what)
{
  wtl_json(f, "{'name':%s,'none':%s,'s':%g,'unknown':%g", "a'\"%", (const char *)what, 0.5, NAN);
  wtl_json(f, ",'good':%i,'bad':%i,'i':%d,'l':%ld,'z':%zu,'j':%ju,'at':'0x%jx','list':[]}", 1, 0, -3, -5L, (size_t)7,
           (uintmax_t)UINT64_MAX, (uintmax_t)UINT64_MAX);
}

static void a_form_has_all_kinds_of_values(void)
{
  CHECK_TEXT(text_of(write_form, NULL), "{\"name\":\"a'\\\"%\",\"none\":null,\"s\":0.5,\"unknown\":null"
                                        ",\"good\":true,\"bad\":false,\"i\":-3,\"l\":-5,\"z\":7"
                                        ",\"j\":18446744073709551615,\"at\":\"0xffffffffffffffff\",\"list\":[]}");
}

/* Standard error goes to a pipe for one message. */
static void a_message_is_one_line_with_the_rank_or_pe(void)
{
  int ends[2], saved = dup(STDERR_FILENO);
  char got[4096];
  CHECK(pipe(ends) == 0);
  dup2(ends[1], STDERR_FILENO);
  wtl_message_print("%s %d", "number", 7);
  wtl_message_rank(3);
  wtl_message_print("%s", "of MPI");
  wtl_message_pe(12);
  wtl_message_rank(3);
  wtl_message_print("%s", "hello");
  wtl_message_print("%5000s", "x");
  dup2(saved, STDERR_FILENO);
  ssize_t n = read(ends[0], got, sizeof got - 1);
  CHECK(n > 0);
  got[n > 0 ? n : 0] = '\0';
  CHECK(strstr(got, "wattle: number 7\nwattle: rank 3: of MPI\nwattle: PE 12: hello\nwattle: PE 12:  ") == got);
  CHECK(n < 2200 && got[n - 1] == '\n');
  close(saved);
  close(ends[0]);
  close(ends[1]);
}

TESTS(TEST(ticks_never_go_back), TEST(ticks_and_nanoseconds_agree), TEST(any_thread_may_ask_for_its_rate),
      TEST(text_is_escaped), TEST(bytes_that_are_no_characters_are_replaced), TEST(nan_is_null),
      TEST(numbers_keep_nine_digits), TEST(a_form_has_all_kinds_of_values),
      TEST(a_message_is_one_line_with_the_rank_or_pe))
