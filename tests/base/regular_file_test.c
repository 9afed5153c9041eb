/* Files of any kind: a regular one is read whole, and nothing else holds the reader up. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "power/check.h"

static char folder[] = "/tmp/wattle-regular-XXXXXX", path[64];

static void begin(void)
{
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  if (!mkdtemp(folder)) exit(2);
  snprintf(path, sizeof path, "%s/file", folder);
}

static void end(void)
{
  remove(path);
  rmdir(folder);
}

static void write_bytes(size_t n)
{
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  for (size_t i = 0; i < n; i++) putc('x', f);
  fclose(f);
}

/* Reads `name`, with at most 1000 bytes allowed; the reason why it is not read, or "". */
static const char *read_it(const char *name, size_t *length)
{
  const char *why = "";
  char *text = wtl_regular_file_read(name, 1000, length, &why);
  if (text) CHECK(strlen(text) == *length);
  free(text);
  return text ? "" : why;
}

static void a_regular_file_is_read_whole_and_ends_with_a_nul(void)
{
  static const size_t lengths[] = {0, 1, 999, 1000};
  begin();
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    size_t n = 7;
    write_bytes(lengths[i]);
    CHECK_TEXT(read_it(path, &n), "");
    CHECK(n == lengths[i]);
  }
  end();
}

/* Those of /proc say that they have no bytes. */
static void a_file_of_the_system_is_read_whole(void)
{
  size_t n = 0;
  CHECK_TEXT(read_it("/proc/self/statm", &n), "");
  CHECK(n > 0);
}

static void a_file_longer_than_allowed_is_refused(void)
{
  size_t n;
  begin();
  write_bytes(1001);
  CHECK_TEXT(read_it(path, &n), "is too large");
  end();
}

static void an_irregular_file_is_refused_at_once(void)
{
  size_t n;
  begin();
  CHECK_TEXT(read_it(path, &n), "No such file or directory");
  CHECK(mkfifo(path, 0600) == 0);
  CHECK_TEXT(read_it(path, &n), "is not a regular file");
  remove(path);
  CHECK(symlink("/dev/zero", path) == 0);
  CHECK_TEXT(read_it(path, &n), "is not a regular file");
  CHECK_TEXT(read_it(folder, &n), "is not a regular file");
  end();
}

TESTS(TEST(a_regular_file_is_read_whole_and_ends_with_a_nul), TEST(a_file_of_the_system_is_read_whole),
      TEST(a_file_longer_than_allowed_is_refused), TEST(an_irregular_file_is_refused_at_once))
