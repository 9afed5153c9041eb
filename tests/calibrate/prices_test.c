/* The file of prices as the runtime reads it: this machine's is taken, everything else is ignored with its reason. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prices.h"
#include "calibrate/setting.h"
#include "power/check.h"

static char folder[] = "/tmp/wattle-prices-XXXXXX";
static char path[768];
static wtl_prices p;

static void begin(void)
{
  if (!strchr(folder, 'X')) return;
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/prices.json", folder);
}

static void end(void)
{
  unlink(path);
  rmdir(folder);
  strcpy(folder, "/tmp/wattle-prices-XXXXXX");
}

static void read_with(const char *setting)
{
  wtl_settings s = with_setting("WATTLE_PRICES", setting);
  wtl_prices_read(&s, &p);
}

/* A file of this machine's, with one price. */
static const char *document(const char *price, const char *value, int more_cores)
{
  static char text[2048], *line;
  static wtl_prices none;
  size_t length;
  wtl_prices_machine m;
  wtl_prices_this_machine(&m);
  m.cores += more_cores;
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) none.median_s[i][k] = NAN;
  FILE *f = open_memstream(&line, &length);
  wtl_prices_print(f, &none, &m);
  fclose(f);
  line[length - 1] = '\0'; /* the quotation mark */
  snprintf(text, sizeof text, "{\"schema\": %d, \"kind\": \"prices\",\n %s x.idle=1e-6 %s.idle=%s\"}\n",
           WTL_PRICES_SCHEMA, line, price, value);
  free(line);
  return text;
}

static void put_bytes(const char *text, size_t n)
{
  unlink(path); /* a file system writes a file that was emptied to the disk at once */
  FILE *f = fopen(path, "w");
  CHECK(f && fwrite(text, 1, n, f) == n);
  if (f) fclose(f);
}

static void put(const char *text)
{
  put_bytes(text, strlen(text));
}

static void refused(const char *reason)
{
  read_with(path);
  CHECK(!p.known);
  CHECK_CONTAINS(p.why, path);
  CHECK_CONTAINS(p.why, reason);
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) CHECK(isnan(p.median_s[i][k]));
  CHECK(isnan(wtl_prices_wake(&p, false, false)) && isnan(wtl_prices_wake(&p, true, true)));
}

static void the_line_that_is_printed_is_read(void)
{
  static wtl_prices printed;
  wtl_prices_machine m;
  begin();
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) printed.median_s[i][k] = 1e-9 * (1 + i + 100 * k);
  wtl_prices_this_machine(&m);
  FILE *f = fopen(path, "w");
  CHECK(f != NULL);
  wtl_prices_print(f, &printed, &m);
  fclose(f);
  read_with(path);
  CHECK(p.known);
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) CHECK_NEAR(p.median_s[i][k], printed.median_s[i][k], 1e-16);
  end();
}

static void the_file_that_is_named_gives_the_price_of_a_wakeup(void)
{
  begin();
  put(document("futex_other", "3.5e-05", 0));
  read_with(path);
  CHECK(p.known);
  CHECK_TEXT(p.why, "");
  CHECK_NEAR(wtl_prices_wake(&p, false, false), 3.5e-5, 1e-12);
  CHECK(isnan(wtl_prices_wake(&p, false, true)) && isnan(wtl_prices_wake(&p, true, false)));
  CHECK(isnan(p.median_s[WTL_PRICE_FUTEX_OTHER][WTL_BESIDE_PEER]));
  end();
}

static void every_price_is_read_by_its_whole_name(void)
{
  static const char *const wrong[] = {"", "futex", "futex_othe", "futex_other_", "futex_other.idle", "idle"};
  begin();
  for (int i = 0; i < WTL_PRICES; i++) {
    put(document(wtl_price_names[i], "0.25", 0));
    read_with(path);
    CHECK(p.known);
    for (int k = 0; k < WTL_PRICES; k++) {
      if (k == i)
        CHECK_NEAR(p.median_s[k][WTL_BESIDE_IDLE], 0.25, 0);
      else
        CHECK(isnan(p.median_s[k][WTL_BESIDE_IDLE]));
      CHECK(isnan(p.median_s[k][WTL_BESIDE_PEER]));
    }
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    put(document(wrong[i], "0.25", 0));
    refused("no prices");
  }
  end();
}

static void sleepers_in_epoll_and_crowded_cores_have_prices_of_their_own(void)
{
  for (int i = 0; i < WTL_PRICES; i++)
    for (int k = 0; k < WTL_BESIDES; k++) p.median_s[i][k] = i + k * 0.5;
  CHECK_NEAR(wtl_prices_wake(&p, false, false), WTL_PRICE_FUTEX_OTHER, 0);
  CHECK_NEAR(wtl_prices_wake(&p, false, true), WTL_PRICE_EPOLL_OTHER, 0);
  CHECK_NEAR(wtl_prices_wake(&p, true, false), WTL_PRICE_FUTEX_SAME + 0.5, 0);
  CHECK_NEAR(wtl_prices_wake(&p, true, true), WTL_PRICE_EPOLL_SAME + 0.5, 0);
}

/* There and back are two. */
static void a_turn_of_a_yielding_thread_is_one_switch(void)
{
  for (int k = 0; k < WTL_BESIDES; k++) p.median_s[WTL_PRICE_YIELD_TO_YIELDING][k] = 3e-6 + k * 1e-6;
  CHECK_NEAR(wtl_prices_turn(&p), 2e-6, 1e-12);
  p.median_s[WTL_PRICE_YIELD_TO_YIELDING][WTL_BESIDE_PEER] = NAN;
  CHECK_NEAR(wtl_prices_turn(&p), 1.5e-6, 1e-12);
  p.median_s[WTL_PRICE_YIELD_TO_YIELDING][WTL_BESIDE_IDLE] = NAN;
  CHECK(isnan(wtl_prices_turn(&p)));
}

static void none_reads_nothing(void)
{
  read_with("none");
  CHECK(!p.known);
  CHECK_TEXT(p.file, "");
  CHECK_TEXT(p.why, "WATTLE_PRICES=none");
}

static void auto_takes_this_machines_file_from_the_cache(void)
{
  char cache[160], name[768], why[256];
  wtl_prices_machine m, other;
  begin();
  wtl_prices_this_machine(&m);
  setenv("XDG_CACHE_HOME", folder, 1);
  CHECK(wtl_prices_file(&m, name, sizeof name, why, sizeof why));
  snprintf(cache, sizeof cache, "%s/wattle", folder);
  CHECK(strncmp(name, cache, strlen(cache)) == 0);
  read_with("auto");
  CHECK(!p.known);
  CHECK_TEXT(p.file, name);
  CHECK_CONTAINS(p.why, "No such file");

  mkdir(cache, 0700);
  snprintf(path, sizeof path, "%s", name);
  put(document("epoll_other", "4e-5", 0));
  read_with("auto");
  CHECK(p.known);
  CHECK_NEAR(wtl_prices_wake(&p, false, true), 4e-5, 1e-12);

  other = m;
  other.cores++;
  CHECK(wtl_prices_file(&other, name, sizeof name, why, sizeof why) && strcmp(name, path) != 0);
  other = m;
  snprintf(other.host, sizeof other.host, "../../a b");
  CHECK(wtl_prices_file(&other, name, sizeof name, why, sizeof why));
  CHECK(strncmp(name, cache, strlen(cache)) == 0 && strchr(name + strlen(cache) + 1, '/') == NULL);
  unsetenv("XDG_CACHE_HOME");
  unlink(path);
  rmdir(cache);
  end();
}

static void without_a_cache_folder_the_reason_says_so(void)
{
  wtl_prices_machine m;
  char name[64], why[256] = "";
  wtl_prices_this_machine(&m);
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "", 1);
  CHECK(!wtl_prices_file(&m, name, sizeof name, why, sizeof why));
  CHECK_CONTAINS(why, "HOME");
  read_with("auto");
  CHECK(!p.known && p.why[0]);
  setenv("HOME", "/a/home/whose/name/is/so/long/that/the/file/name/cannot/be/kept/in/sixty/four/bytes", 1);
  CHECK(!wtl_prices_file(&m, name, sizeof name, why, sizeof why));
  CHECK_CONTAINS(why, "too long");
  unsetenv("XDG_CACHE_HOME");
}

static void prices_of_another_machine_are_not_used(void)
{
  begin();
  put(document("futex_other", "3e-5", 1));
  refused("another CPU, kernel or number of cores");
  end();
}

static void a_file_that_is_not_there_or_no_regular_file_is_ignored(void)
{
  begin();
  refused("No such file");
  CHECK(mkfifo(path, 0600) == 0);
  refused("not a regular file"); /* and the start of the program was not held up */
  unlink(path);
  CHECK(mkdir(path, 0700) == 0);
  refused("not a regular file");
  rmdir(path);
  end();
  read_with("/dev/zero");
  CHECK(!p.known);
}

static void a_broken_huge_or_foreign_file_is_ignored(void)
{
  static char huge[128 << 10];
  const char *good = document("futex_other", "3e-5", 0);
  begin();
  for (size_t n = 0; n < strlen(good) - strlen("\"}\n"); n++) {
    put_bytes(good, n);
    refused("this version reads");
  }
  memset(huge, ' ', sizeof huge);
  memcpy(huge, good, strlen(good));
  put_bytes(huge, sizeof huge);
  refused("too large");
  put("{\"schema\": 1, \"for_programs\": \"prices 99 0\"}");
  refused("this version reads");
  put("{\"schema\": 1, \"kind\": \"run\"}");
  refused("this version reads");
  end();
}

static void prices_that_cannot_be_are_none(void)
{
  static const char *const wrong[] = {"0", "-1e-5", "1e300", "1e999", "2", "null", "\"3e-5\"", "true", "1e-30"};
  begin();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *text = document("futex_other", wrong[i], 0);
    put(text);
    refused("no prices");
  }
  put(document("a_price_of_the_future", "3e-5", 0));
  refused("no prices");
  end();
}

TESTS(TEST(the_line_that_is_printed_is_read), TEST(the_file_that_is_named_gives_the_price_of_a_wakeup),
      TEST(every_price_is_read_by_its_whole_name), TEST(sleepers_in_epoll_and_crowded_cores_have_prices_of_their_own),
      TEST(a_turn_of_a_yielding_thread_is_one_switch), TEST(none_reads_nothing),
      TEST(auto_takes_this_machines_file_from_the_cache), TEST(without_a_cache_folder_the_reason_says_so),
      TEST(prices_of_another_machine_are_not_used), TEST(a_file_that_is_not_there_or_no_regular_file_is_ignored),
      TEST(a_broken_huge_or_foreign_file_is_ignored), TEST(prices_that_cannot_be_are_none))
