/* boot_text.c - reads and checks the text by which PEs find each other at the start. */
#include "node/boot_text.h"

#include <stdlib.h>
#include <string.h>

/* Reads the number of a PE: digits up to the end or one of the characters in `ends`. */
static bool read_pe(const char **at, const char *ends, int n_pes, int *pe)
{
  char *end;
  if (**at < '0' || **at > '9') return false;
  long number = strtol(*at, &end, 10);
  if (number >= n_pes || (*end && !strchr(ends, *end))) return false;
  *pe = (int)number;
  *at = end;
  return true;
}

static int by_number(const void *a, const void *b)
{
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int wtl_boot_read_peers(const char *list, int n_pes, int out[])
{
  int n = 0;
  for (const char *at = list;; at++) {
    if (n == n_pes || !read_pe(&at, ",", n_pes, &out[n])) return -1;
    n++;
    if (!*at) break;
  }
  qsort(out, (size_t)n, sizeof *out, by_number);
  for (int i = 1; i < n; i++)
    if (out[i] == out[i - 1]) return -1;
  return n;
}

static int digit(char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool wtl_boot_read_leader(const char *text, int n_pes, int *leader, uint64_t *program)
{
  size_t digits = 0;
  uint64_t value = 0;
  if (!read_pe(&text, " ", n_pes, leader) || *text++ != ' ') return false;
  for (; digit(*text) >= 0 && digits < 16; text++, digits++) value = value << 4 | (uint64_t)digit(*text);
  *program = value;
  return digits > 0 && !*text;
}

ptrdiff_t wtl_boot_read_bytes(const char *text, unsigned char *out, size_t size)
{
  size_t n = 0;
  for (; *text; text += 2, n++) {
    if (n == size || digit(text[0]) < 0 || digit(text[1]) < 0) return -1;
    out[n] = (unsigned char)(digit(text[0]) << 4 | digit(text[1]));
  }
  return (ptrdiff_t)n;
}
