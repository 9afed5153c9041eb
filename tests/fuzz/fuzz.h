/*
 * fuzz.h - splits the input of a fuzz target into numbers and bytes, and returns zeros after its end.
 *
 * The input of a parser lies in a block of exactly its length, so that AddressSanitizer reports a read beyond its end.
 */
#ifndef WTL_TESTS_FUZZ_H
#define WTL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_input {
  const uint8_t *at, *end;
} fuzz_input;

/* Ends the run, which libFuzzer reports with the input that led here. */
#define FUZZ_MUST(condition)                                                                                           \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                        \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static inline size_t fuzz_left(const fuzz_input *in)
{
  return (size_t)(in->end - in->at);
}

/* The next `bytes` bytes as a number, little-endian. */
static inline uint64_t fuzz_number(fuzz_input *in, size_t bytes)
{
  uint64_t value = 0;
  for (size_t i = 0; i < bytes && in->at < in->end; i++) value |= (uint64_t)*in->at++ << (8 * i);
  return value;
}

static inline size_t fuzz_below(fuzz_input *in, size_t n)
{
  return (size_t)(fuzz_number(in, n > 256 ? 4 : 1) % n);
}

/* The next bytes, at most `most`, in a block of their own, which the caller frees. */
static inline uint8_t *fuzz_bytes(fuzz_input *in, size_t most, size_t *n)
{
  *n = fuzz_left(in) < most ? fuzz_left(in) : most;
  uint8_t *block = malloc(*n ? *n : 1);
  if (!block) abort();
  memcpy(block, in->at, *n);
  in->at += *n;
  return block;
}

/* The next bytes up to `most` or to a newline, as a text of their own, which the caller frees. */
static inline char *fuzz_line(fuzz_input *in, size_t most)
{
  size_t left = fuzz_left(in), n = left < most ? left : most;
  const uint8_t *newline = n ? memchr(in->at, '\n', n) : NULL;
  if (newline) n = (size_t)(newline - in->at);
  char *text = strndup((const char *)in->at, n);
  if (!text) abort();
  in->at += newline ? n + 1 : n;
  return text;
}

/* A regular file without a name that holds these bytes; its path. For readers that open a file by themselves. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
  static char path[64];
  static int fd = -1;
  if (fd < 0) fd = memfd_create("fuzz", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return path;
}

#endif
