/* Lines of Python instructions by the tables of each version, for one function: def f(x), in line 1; a call in line 2; a
 * loop over a list on lines 203 and 204, whose body is on lines 205 and 206; a return in line 208. */
#include "profile/python_code.h"

#include "power/check.h"

/* The line of each instruction, at its offset in bytes. As CPython itself tells: dis.findlinestarts, co_lines(). */
typedef struct range {
  size_t begin, end;
  int line;
} range;

static void check(enum wtl_python_lines kind, const unsigned char *table, size_t bytes, const range *ranges, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t at = ranges[i].begin; at < ranges[i].end; at += 2)
      CHECK(wtl_python_line_read(kind, table, bytes, 1, at) == ranges[i].line);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void lines_of_3_9(void)
{
  static const unsigned char table[] = {0, 1, 6, 127, 0, 74, 8, 2, 2, 1, 2, 255, 2, 1, 2, 255, 6, 3};
  static const range ranges[] = {{0, 6, 2},     {6, 14, 203},  {14, 16, 205}, {16, 18, 206},
                                 {18, 20, 205}, {20, 22, 206}, {22, 28, 205}, {28, 32, 208}};
  check(WTL_PYTHON_LNOTAB, table, sizeof table, ranges, COUNT(ranges));
}

static void lines_of_3_10(void)
{
  static const unsigned char table[] = {6, 1, 0, 127, 8, 74, 2, 2, 2, 1, 2, 255, 2, 1, 6, 255, 4, 3};
  static const range ranges[] = {{0, 6, 2},     {6, 14, 203},  {14, 16, 205}, {16, 18, 206},
                                 {18, 20, 205}, {20, 22, 206}, {22, 28, 205}, {28, 32, 208}};
  check(WTL_PYTHON_LINES, table, sizeof table, ranges, COUNT(ranges));
}

static void lines_of_3_13(void)
{
  static const unsigned char table[] = {128, 0,  217, 8,   9,   139, 3,   128, 65, 243, 82, 6,   1,  14, 9,   136, 1,
                                        225, 13, 14,  216, 1,   2,   243, 3,   1,  14,  4,  216, 5,  6,  240, 3,   1,
                                        13,  8,  138, 1,   241, 5,   1,   14,  9,  240, 10, 0,   12, 13, 128, 72};
  static const range ranges[] = {{0, 2, 1},     {2, 16, 2},    {16, 26, 203}, {26, 30, 205}, {30, 32, 206},
                                 {32, 40, 205}, {40, 42, 206}, {42, 50, 205}, {50, 54, 203}, {54, 58, 208}};
  check(WTL_PYTHON_LOCATIONS, table, sizeof table, ranges, COUNT(ranges));
}

/* A table that ends early gives the last line that it has. Nothing behind it is read, as a sanitizer sees. */
static void short_tables_give_the_last_line(void)
{
  static const unsigned char table[] = {243, 82};
  CHECK(wtl_python_line_read(WTL_PYTHON_LOCATIONS, table, 0, 7, 40) == 7);
  CHECK(wtl_python_line_read(WTL_PYTHON_LOCATIONS, table, 1, 7, 40) == 7);
  CHECK(wtl_python_line_read(WTL_PYTHON_LINES, table, 1, 7, 40) == 7);
  CHECK(wtl_python_line_read(WTL_PYTHON_LNOTAB, table, 1, 7, 40) == 7);
}

TESTS(TEST(lines_of_3_9), TEST(lines_of_3_10), TEST(lines_of_3_13), TEST(short_tables_give_the_last_line))
