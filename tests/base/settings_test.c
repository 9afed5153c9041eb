/* The table of settings: every kind, good values and bad, and what is said about the bad. */
#include "base/settings.h"

#include <stdint.h>
#include <stdlib.h>

#include "power/check.h"

static char errors[8192];

/* The other settings of this program are all at their defaults: the environment has none. */
static int parse_with(const char *name, const char *value, wtl_settings *s)
{
  setenv(name, value, 1);
  int wrong = wtl_settings_parse(s, errors, sizeof errors);
  unsetenv(name);
  return wrong;
}

static size_t row_of(const char *name)
{
  size_t n;
  const wtl_setting *table = wtl_settings_table(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(table[i].name, name) == 0) return i;
  CHECK(!"no such setting");
  return 0;
}

/* The value's text after parsing; "?" where it is refused. */
static const char *parsed(const char *name, const char *value)
{
  static char text[256];
  wtl_settings s;
  if (parse_with(name, value, &s) != 0) return "?";
  return wtl_settings_text(&s, row_of(name), text, sizeof text);
}

static void accept(const char *name, const char *value, const char *text)
{
  CHECK_TEXT(parsed(name, value), text);
}

/* Refused, in one line that has the name, the value and what is allowed. */
static void refuse(const char *name, const char *value, const char *allowed)
{
  wtl_settings s;
  char start[256];
  snprintf(start, sizeof start, "%s=%s is not a value", name, value);
  CHECK(parse_with(name, value, &s) == 1);
  CHECK_CONTAINS(errors, start);
  CHECK_CONTAINS(errors, allowed);
}

static void defaults_are_valid_and_documented(void)
{
  size_t n;
  const wtl_setting *table = wtl_settings_table(&n);
  wtl_settings s;
  CHECK(n >= 15 && wtl_settings_parse(&s, errors, sizeof errors) == 0 && errors[0] == '\0');
  for (size_t i = 0; i < n; i++) {
    CHECK(strncmp(table[i].name, "WATTLE_", 7) == 0 || strncmp(table[i].name, "SHMEM_", 6) == 0);
    CHECK(strlen(table[i].help) > 20);
    accept(table[i].name, table[i].def, table[i].def);
  }
  CHECK(s.symmetric_size.bytes == (size_t)512 << 20 && s.wait.number == WTL_WAIT_ADAPTIVE && s.check.on &&
        s.sleep_max.seconds == 0.02);
}

static void switches_are_on_or_off_and_nothing_else(void)
{
  static const char *const on[] = {"1", "on", "yes", "true", "y", "t", "ON", "Yes"}, *const off[] = {
                                                                                         "0", "off", "no", "false",
                                                                                         "N", "f",   "OFF"};
  static const char *const wrong[] = {"", "2", "enable", "onn", "o", " on", "on ", "-1"};
  for (size_t i = 0; i < sizeof on / sizeof *on; i++) accept("WATTLE_PROFILE", on[i], "on");
  for (size_t i = 0; i < sizeof off / sizeof *off; i++) accept("WATTLE_PROFILE", off[i], "off");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse("WATTLE_PROFILE", wrong[i], "on or off");
}

static void flags_are_on_with_any_value_that_does_not_say_off(void)
{
  static const char *const on[] = {"", "1", "on", "2", "-1", "si", "any thing", "onn", "00"};
  static const char *const off[] = {"0", "off", "OFF", "no", "n", "false", "f"};
  static const char *const names[] = {"SHMEM_INFO", "SHMEM_VERSION", "SHMEM_DEBUG"};
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) accept(names[k], on[i], "on");
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) accept(names[k], off[i], "off");
  }
}

static void sizes_have_suffixes_and_bounds(void)
{
  static const char *const wrong[] = {"",    "-1",    "64 K",           "64X", "0x10000", "nan",  "inf",
                                      "K",   "1e400", "17592186044417", "17T", "1MM",     "20mb", "3MiB",
                                      "2kb", "64b"};
  accept("SHMEM_SYMMETRIC_SIZE", "0", "0");
  accept("SHMEM_SYMMETRIC_SIZE", "65535", "65535");
  accept("SHMEM_SYMMETRIC_SIZE", "3.1M", "3250586"); /* no smaller than asked for */
  accept("SHMEM_SYMMETRIC_SIZE", "65536", "64K");
  accept("SHMEM_SYMMETRIC_SIZE", "64k", "64K");
  accept("SHMEM_SYMMETRIC_SIZE", "65537", "65537");
  accept("SHMEM_SYMMETRIC_SIZE", "1.5M", "1536K");
  accept("SHMEM_SYMMETRIC_SIZE", "2g", "2G");
  accept("SHMEM_SYMMETRIC_SIZE", "16T", "16T");
  accept("SHMEM_SYMMETRIC_SIZE", "1e6", "1000000");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    refuse("SHMEM_SYMMETRIC_SIZE", wrong[i], "0 to 17592186044416 bytes");
}

static void old_names_are_read_where_new_ones_are_not_set(void)
{
  wtl_settings s;
  CHECK(parse_with("SMA_SYMMETRIC_SIZE", "3M", &s) == 0 && s.symmetric_size.bytes == (size_t)3 << 20);
  setenv("SMA_SYMMETRIC_SIZE", "3M", 1);
  CHECK(parse_with("SHMEM_SYMMETRIC_SIZE", "5M", &s) == 0 && s.symmetric_size.bytes == (size_t)5 << 20);
  unsetenv("SMA_SYMMETRIC_SIZE");
  CHECK(parse_with("SMA_INFO", "", &s) == 0 && s.info.on);
  CHECK(parse_with("SMA_SYMMETRIC_SIZE", "much", &s) == 1);
}

static void times_have_suffixes_and_bounds(void)
{
  static const char *const wrong[] = {"", "99us", "2", "1.1s", "-1ms", "20 ms", "20m", "auto", "1min"};
  accept("WATTLE_SLEEP_MAX", "0.5", "500ms");
  accept("WATTLE_SLEEP_MAX", "20ms", "20ms");
  accept("WATTLE_SLEEP_MAX", "100us", "100us");
  accept("WATTLE_SLEEP_MAX", "1000000NS", "1ms");
  accept("WATTLE_SLEEP_MAX", "1s", "1s");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse("WATTLE_SLEEP_MAX", wrong[i], "0.0001 to 1 seconds");
  accept("WATTLE_SPIN_MAX", "auto", "auto");
  accept("WATTLE_SPIN_MAX", "AUTO", "auto");
  accept("WATTLE_SPIN_MAX", "0", "0s");
  refuse("WATTLE_SPIN_MAX", "automatic", "auto, or 0 to 1 seconds");
}

static void choices_are_those_of_the_table(void)
{
  static const char *const wrong[] = {"", "spi", "spinn", "spin|yield", "adaptive ", "0"};
  static const char *const policies[] = {"spin", "yield", "sleep", "adaptive"};
  wtl_settings s;
  for (int i = 0; i < 4; i++) {
    accept("WATTLE_WAIT", policies[i], policies[i]);
    CHECK(parse_with("WATTLE_WAIT", policies[i], &s) == 0 && s.wait.number == i);
  }
  accept("WATTLE_WAIT", "SLEEP", "sleep");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    refuse("WATTLE_WAIT", wrong[i], "spin, yield, sleep or adaptive");
  refuse("WATTLE_BOOT", "pmi", "auto, pmix, mpi or single");
}

static void texts_are_taken_unchanged(void)
{
  accept("WATTLE_PROFILE_DIR", "/a b/\"c\"", "/a b/\"c\"");
  accept("WATTLE_PROFILE_DIR", "", "");
}

static void texts_stay_when_the_environment_changes(void)
{
  wtl_settings s;
  char entry[] = "WATTLE_PROFILE_DIR=/first";
  putenv(entry);
  CHECK(wtl_settings_parse(&s, errors, sizeof errors) == 0);
  memcpy(strchr(entry, '/'), "/other", 6);
  CHECK_TEXT(s.profile_dir.text, "/first");
  unsetenv("WATTLE_PROFILE_DIR");
}

static void settings_have_a_decimal_point(void)
{
  accept("WATTLE_SPIN_MAX", "0.0005", "500us");
  accept("WATTLE_SPIN_MAX", "0.0000005", "500ns");
  accept("WATTLE_SPIN_MAX", "1.5us", "1.5us");
  accept("SHMEM_SYMMETRIC_SIZE", "1.5M", "1536K");
  refuse("WATTLE_SPIN_MAX", "0,0005", "0 to 1 seconds");
  refuse("WATTLE_SLEEP_MAX", "0", "0.0001 to 1 seconds");
}

static void all_wrong_values_are_reported_and_nothing_is_filled(void)
{
  wtl_settings s;
  memset(&s, 0x5a, sizeof s);
  wtl_settings before = s;
  setenv("WATTLE_WAIT", "fast", 1);
  setenv("WATTLE_CHECK", "maybe", 1);
  setenv("WATTLE_SLEP_MAX", "1ms", 1);
  CHECK(parse_with("SHMEM_SYMMETRIC_SIZE", "x", &s) == 4);
  unsetenv("WATTLE_WAIT");
  unsetenv("WATTLE_CHECK");
  unsetenv("WATTLE_SLEP_MAX");
  CHECK_CONTAINS(errors, "WATTLE_WAIT=fast");
  CHECK_CONTAINS(errors, "WATTLE_CHECK=maybe");
  CHECK_CONTAINS(errors, "SHMEM_SYMMETRIC_SIZE=x ");
  CHECK_CONTAINS(errors, "unknown setting WATTLE_SLEP_MAX; did you mean WATTLE_SLEEP_MAX?");
  CHECK(memcmp(&s, &before, sizeof s) == 0);
}

static void unknown_names_get_the_nearest(void)
{
  wtl_settings s;
  CHECK(parse_with("WATTLE_PROFIL", "on", &s) == 1);
  CHECK_CONTAINS(errors, "did you mean WATTLE_PROFILE?");
  CHECK(parse_with("WATTLE_", "on", &s) == 1);
  CHECK(parse_with("WATTLE_A_NAME_THAT_IS_LONGER_THAN_ANY_BUFFER_FOR_NAMES_COULD_BE_EXPECTED_TO_BE", "on", &s) == 1);
  CHECK(parse_with("WATTLE_HOME", "/somewhere", &s) == 0); /* the lab's */
  CHECK(parse_with("WATTLEBIRD", "sings", &s) == 0);
  CHECK(parse_with("SHMEM_SOMETHING_ELSE", "1", &s) == 0); /* other libraries' */
}

static bool near(const char *name)
{
  setenv(name, "1G", 1);
  bool found = wtl_settings_near_miss(errors, sizeof errors);
  unsetenv(name);
  return found;
}

static void names_close_to_the_standards_are_asked_about(void)
{
  CHECK(near("SHMEM_SYMETRIC_SIZE"));
  CHECK_CONTAINS(errors, "SHMEM_SYMETRIC_SIZE is not a setting of this library; is SHMEM_SYMMETRIC_SIZE meant?");
  CHECK(near("SHMEM_SYMMETRIC_HEAP_SIZE")); /* Open MPI's */
  CHECK(near("SHMEM_DEBG"));
  CHECK(!near("SHMEM_SYMMETRIC_SIZE"));
  CHECK(!near("SHMEM_BOUNCE_SIZE")); /* Sandia's */
  CHECK(!near("SHMEM_SOMETHING_ELSE"));
}

static void errors_are_cut_not_overrun(void)
{
  char small[40];
  wtl_settings s;
  memset(small, '#', sizeof small);
  setenv("WATTLE_WAIT", "a value that is much longer than the room there is to say anything about it", 1);
  CHECK(wtl_settings_parse(&s, small, 20) == 1);
  CHECK(strlen(small) == 19 && small[20] == '#' && small[39] == '#');
  CHECK(wtl_settings_parse(&s, small, 0) == 1);
  unsetenv("WATTLE_WAIT");
}

static uint64_t pick(uint64_t *state, uint64_t below)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % below;
}

/* A setting prints its value in a form that is read as the same value. */
static void printed_values_parse_to_themselves(void)
{
  uint64_t state = 3;
  char text[64], first[256];
  for (int i = 0; i < 2000; i++) {
    size_t bytes = 65536 + pick(&state, (uint64_t)1 << (17 + pick(&state, 27)));
    snprintf(text, sizeof text, "%zu", bytes);
    snprintf(first, sizeof first, "%s", parsed("SHMEM_SYMMETRIC_SIZE", text));
    wtl_settings s;
    CHECK(parse_with("SHMEM_SYMMETRIC_SIZE", first, &s) == 0 && s.symmetric_size.bytes == bytes);
    CHECK_TEXT(parsed("SHMEM_SYMMETRIC_SIZE", first), first);
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)(1 + pick(&state, 900)),
             pick(&state, 2) ? "ms" : "000us");
    snprintf(first, sizeof first, "%s", parsed("WATTLE_SLEEP_MAX", text));
    CHECK_TEXT(parsed("WATTLE_SLEEP_MAX", first), first);
  }
}

/* Random text never crashes the parser, and is refused or printed back as something valid. */
static void rubbish_is_refused_or_valid(void)
{
  static const char letters[] = "0123456789.eE+-kKmMgGtTbBiusn onfxauto\"\\\t|";
  static const char *const names[] = {"SHMEM_SYMMETRIC_SIZE", "WATTLE_SLEEP_MAX", "WATTLE_SPIN_MAX", "WATTLE_WAIT",
                                      "WATTLE_CHECK"};
  uint64_t state = 4;
  for (int i = 0; i < 20000; i++) {
    char text[16] = "", first[256];
    size_t n = pick(&state, 9);
    for (size_t k = 0; k < n; k++) text[k] = letters[pick(&state, sizeof letters - 1)];
    const char *name = names[pick(&state, 5)];
    snprintf(first, sizeof first, "%s", parsed(name, text));
    if (strcmp(first, "?") != 0 && strcmp(name, "WATTLE_SPIN_MAX") != 0) CHECK_TEXT(parsed(name, first), first);
  }
}

TESTS(TEST(defaults_are_valid_and_documented), TEST(switches_are_on_or_off_and_nothing_else),
      TEST(flags_are_on_with_any_value_that_does_not_say_off), TEST(texts_stay_when_the_environment_changes),
      TEST(settings_have_a_decimal_point), TEST(sizes_have_suffixes_and_bounds),
      TEST(old_names_are_read_where_new_ones_are_not_set), TEST(times_have_suffixes_and_bounds),
      TEST(choices_are_those_of_the_table), TEST(texts_are_taken_unchanged),
      TEST(all_wrong_values_are_reported_and_nothing_is_filled), TEST(unknown_names_get_the_nearest),
      TEST(names_close_to_the_standards_are_asked_about), TEST(errors_are_cut_not_overrun),
      TEST(printed_values_parse_to_themselves), TEST(rubbish_is_refused_or_valid))
